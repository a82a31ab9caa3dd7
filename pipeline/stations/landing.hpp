#pragma once

#include <functional>
#include <optional>

#include "../methods/work.hpp"
#include "chunk.hpp"

namespace tandem::pipeline {

/// The most bytes of a volume that leaves a GPU as a whole; and the bytes of the slices that leave together,
/// if a volume is larger.
constexpr double bytes_landed_whole = 256 << 20, bytes_landed_at_once = 64 << 20;

/// The bytes on the host of the volume of one chunk, which comes from a GPU in the type of the file.
double volume_at_home(const Plan& plan, Index slices);
/// The bytes on the host of this number of volumes that come from GPUs, either whole or as three pieces.
double volumes_landed(const Plan& plan, Index slices, double volumes);
/// The number of volumes that wait to be written, or are being written, beside the volumes of workers.
double volumes_waiting(const Plan& plan, Index slices);
/// Whether volumes leave their GPU a few slices at a time.
bool comes_in_pieces(const Plan& plan, Index slices);

/// Slices on a GPU as a file stores them.
struct StoredVoxels {
  Array memory;  ///< holds `bytes` bytes
  Index bytes;
  io::Clipped clipped;
};

/// A finite volume, (slice, y, x) on a GPU, as the numbers that the writer of this format would make on the
/// CPU. Empty for float32. Empty too if a voxel is too large for float16: then the writer says which voxel.
std::optional<StoredVoxels> stored_on_gpu(ConstVectorView volume, const io::VolumeFormat& format);

/// Brings volumes from a GPU to where their writer takes them, and hands them on.
class Landing {
 public:
  /// `writer` says where volumes are to lie; it may be null. `may_store`: whether volumes may come as the
  /// writer stores them.
  Landing(Work work, io::VolumeWriter* writer, bool may_store);
  /// Brings slices of a volume that lies on the GPU, in the order of the default stream of this thread.
  void bring(const float* volume, Device gpu, Chunk& chunk);
  /// Hands a chunk on to `use`. If its volume stayed on a GPU, `use` gets a few slices at a time, and the
  /// next slices come meanwhile.
  void operator()(Chunk& chunk, const std::function<void(Chunk&)>& use);
  /// Makes it hand on chunks as a whole from now on.
  void whole() { in_pieces_ = false; }
  const Outcome& outcome() const { return work_.outcome; }

 private:
  bool bring_stored(ConstVectorView volume, Chunk& chunk);
  Index slices_at_once(Index most) const;

  Work work_;
  io::VolumeWriter* writer_;
  bool may_store_, in_pieces_ = true;
};

}  // namespace tandem::pipeline
