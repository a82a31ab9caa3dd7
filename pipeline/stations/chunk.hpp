#pragma once

#include <memory>
#include <optional>

#include "../../counts/preprocess.hpp"
#include "../../io/volumes/volume_file.hpp"

namespace tandem::pipeline {

/// A chunk of slices on the conveyor: it carries counts, then a volume. The object is used again for other
/// slices.
struct Chunk {
  Range slices;         ///< slices of the volume; in a parallel beam row k of the plan's scan is slice k
  bool is_met = false;  ///< whether some ray meets the slices
  std::shared_ptr<const io::Frames> read;  ///< owner of the counts, unless they lie in memory of the reader
  io::FramesView counts;                   ///< counts of the projections, unless they come in blocks of views
  std::optional<Reference> reference;      ///< darks and flats, if there are projections
  std::optional<Array> own;                ///< owner of the volume, unless it lies in memory of the writer
  const float* volume = nullptr;
  const std::byte* stored = nullptr;  ///< voxels as the file stores them, in the place of `volume`
  io::Clipped clipped = {};           ///< voxels of `stored` that were clipped
};

}  // namespace tandem::pipeline
