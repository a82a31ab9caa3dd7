#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "../../io/scans/growing_scan.hpp"
#include "live.hpp"
#include "onlooker.hpp"
#include "progress.hpp"
#include "station_board.hpp"

namespace tandem::pipeline {

class Checkpoints;
class StateKeeper;

/// A scan that is being written, and how long to wait for its next view. If none comes, the volume is made
/// from the views that are there.
struct Following {
  io::GrowingScan* scan = nullptr;
  double patience = 60;                              ///< seconds
  std::function<void(const std::string&)> say = {};  ///< called when no view comes; may be empty
};

/// Options that say what is watched during a run, and what is kept beside the volume.
struct Options {
  OnProgress progress = {};            ///< may be empty; it counts views if the scan is being written
  std::filesystem::path truth = {};    ///< the volume to compare with; empty: none
  bool pictures = false;               ///< whether to keep the middle slices
  bool any_external = false;           ///< see io::VolumeReader, for the truth and the initial volume
  bool find_range = false;             ///< whether to find the range of integers and tell the writer
  OnPictures show = {};                ///< sees the volume while it is made; may be empty
  StationBoard* board = nullptr;       ///< sees what stations do; may be null
  bool curves = false;                 ///< whether to keep curves of a solver; with a truth also of quality
  Checkpoints* checkpoints = nullptr;  ///< check-points of a solver; may be null
  const Onlooker* onlooker = nullptr;  ///< sees a solver's steps; may be null
  Following following = {};            ///< for a plan with `Recipe::follow`
  StateKeeper* keeper = nullptr;       ///< keeps a solver's state in the place of check-points; may be null
};

}  // namespace tandem::pipeline
