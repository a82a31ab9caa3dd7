#pragma once

#include <filesystem>

#include "../core/comm.hpp"
#include "../io/volumes/volume_file.hpp"
#include "live.hpp"
#include "outcome.hpp"
#include "plan/plan.hpp"
#include "progress.hpp"
#include "station_board.hpp"

namespace tandem::pipeline {

class Checkpoints;

struct Options {
  OnProgress progress = {};            ///< may be empty
  std::filesystem::path truth = {};    ///< the volume to compare with; empty: none
  bool pictures = false;               ///< whether to keep the middle slices
  bool any_external = false;           ///< see io::VolumeReader, for the truth and the initial volume
  bool find_range = false;             ///< whether to find the range of integers and tell the writer
  OnPictures show = {};                ///< sees the volume while it is made; may be empty
  StationBoard* board = nullptr;       ///< sees what stations do; may be null
  bool curves = false;                 ///< whether to keep curves of a solver; with a truth also of quality
  Checkpoints* checkpoints = nullptr;  ///< of a solver; may be null
};

/// Completes the options of the plan, if its method has to look at some slices for that: up to five, spread
/// over the volume; of a cone beam all. Of several ranks, the first one does. `reconstruct` does so by
/// itself. Returns what it took, of the ranks that did it. @throws as `reconstruct`
Searched look_ahead(io::ScanReader& reader, Plan& plan, const Options& options = {});

/// Makes a volume from a file, in chunks of slices. Reading, computing by the workers of the plan (which
/// begins with preprocessing), and writing go on at the same time. A cone beam is held whole; a method goes
/// through its slices slab by slab if it can, and else takes all of them. Chunks that the writer has already
/// (`done`) are left out, see `chunks_due`. Several ranks take chunks from one queue; their plans have been
/// made alike (`share_chunks`). The caller finishes the writer. @throws Error, and what
/// `progress` throws
Outcome reconstruct(io::ScanReader& reader, const Plan& asked, io::VolumeWriter& writer,
                    const Options& options = {});

}  // namespace tandem::pipeline
