#pragma once

#include <optional>

#include "../../core/array.hpp"
#include "../../io/volumes/volume_file.hpp"

namespace tandem::pipeline {

/// Slices on a GPU as a file stores them.
struct StoredVoxels {
  Array memory;  ///< of bytes
  Index bytes;
  io::Clipped clipped;
};

/// The numbers that the writer of this format would make on the CPU, of a finite volume (slice, y, x) on a
/// GPU. Empty for float32, and if a voxel is too large for float16: the writer says which.
std::optional<StoredVoxels> stored_on_gpu(ConstVectorView volume, const io::VolumeFormat& format);

}  // namespace tandem::pipeline
