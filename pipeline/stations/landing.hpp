#pragma once

#include <functional>
#include <optional>

#include "../methods/work.hpp"
#include "chunk.hpp"

namespace tandem::pipeline {

/// Bytes of a volume that leaves a GPU as a whole, at most, and of slices of a larger one that leave
/// together.
constexpr double bytes_landed_whole = 256 << 20, bytes_landed_at_once = 64 << 20;

/// What volumes of chunks take on the host, bytes: one, which comes from a GPU in the type of the file, and
/// so many that come from GPUs, whole or in pieces, of which there are three. How many wait to be written, or
/// are written, beside those of workers; and whether volumes leave their GPU a few slices at a time.
double volume_at_home(const Plan& plan, Index slices);
double volumes_landed(const Plan& plan, Index slices, double volumes);
double volumes_waiting(const Plan& plan, Index slices);
bool comes_in_pieces(const Plan& plan, Index slices);

/// Slices on a GPU as a file stores them.
struct StoredVoxels {
  Array memory;  ///< of bytes
  Index bytes;
  io::Clipped clipped;
};

/// The numbers that the writer of this format would make on the CPU, of a finite volume (slice, y, x) on a
/// GPU. Empty for float32, and if a voxel is too large for float16: the writer says which.
std::optional<StoredVoxels> stored_on_gpu(ConstVectorView volume, const io::VolumeFormat& format);

/// Brings volumes from a GPU to where their writer takes them, and hands them on.
class Landing {
 public:
  /// The writer may be null: then nobody says where volumes are to lie. `may_store`: whether they may come as
  /// the writer stores them.
  Landing(Work work, io::VolumeWriter* writer, bool may_store);
  /// Brings slices of a volume that lies on the GPU, in the order of the default stream of this thread.
  void bring(const float* volume, Device gpu, Chunk& chunk);
  /// Hands a chunk on to `use`; if its volume stayed on a GPU, a few slices at a time: while some are used,
  /// the next ones come.
  void operator()(Chunk& chunk, const std::function<void(Chunk&)>& use);
  /// From now on chunks are handed on as a whole.
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
