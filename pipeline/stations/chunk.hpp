#pragma once

#include <optional>

#include "../../io/volumes/volume_file.hpp"
#include "read.hpp"

namespace tandem::pipeline {

/// A chunk of slices on the conveyor: it carries counts, then a volume. The object is used again for other
/// slices.
struct Chunk {
  Range slices;  ///< slices of the volume; in a parallel beam row k of the plan's scan is slice k
  std::optional<Counts> counts =
      {};                         ///< what the route asked of the reader; empty if no ray meets the slices
  std::optional<Array> own = {};  ///< owner of the volume, unless it lies in memory of the writer
  const float* volume = nullptr;
  const std::byte* stored = nullptr;  ///< voxels as the file stores them, in the place of `volume`
  io::Clipped clipped = {};           ///< voxels of `stored` that were clipped
};

}  // namespace tandem::pipeline
