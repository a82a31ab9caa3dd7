#pragma once

#include <filesystem>

#include "../io/volume_file.hpp"
#include "outcome.hpp"
#include "plan.hpp"
#include "progress.hpp"

namespace tandem::pipeline {

struct Options {
  OnProgress progress;          ///< may be empty
  std::filesystem::path truth;  ///< a volume to compare with; empty: none
  bool pictures = false;        ///< whether to keep the middle slices
  bool any_external = false;    ///< see io::VolumeReader, of truth and initial volume
};

/// File to volume, chunk by chunk of slices: reading and preprocessing, computing on the recipe's device, and
/// writing overlap. A cone beam is held whole: a method that can go through its slices does so slab by slab,
/// others take all of them. The caller finishes the writer.
/// @throws Error, and what `progress` throws.
Outcome reconstruct(io::ScanReader& reader, const Plan& plan, io::VolumeWriter& writer,
                    const Options& options = {});

}  // namespace tandem::pipeline
