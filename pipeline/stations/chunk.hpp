#pragma once

#include <memory>
#include <optional>

#include "../../counts/preprocess.hpp"
#include "../../io/volumes/volume_file.hpp"

namespace tandem::pipeline {

/// What goes along the conveyor from station to station: counts, then a volume. A chunk is used again for
/// other slices.
struct Chunk {
  Range slices;         ///< of the volume; in a parallel beam row k of the plan's scan is slice k
  bool is_met = false;  ///< by some ray
  std::shared_ptr<const io::Frames> read;  ///< what has the counts, unless the reader has them in memory
  io::FramesView counts;                   ///< projections, unless they come in blocks of views
  std::optional<Reference> reference;      ///< if there are projections
  std::optional<Array> own;                ///< the volume, unless it lies in memory of the writer
  const float* volume = nullptr;
  const std::byte* stored = nullptr;  ///< in place of `volume`: as the file stores it
  io::Clipped clipped = {};           ///< likewise
};

}  // namespace tandem::pipeline
