#include "gpu_voxels.hpp"

#include <utility>

#include "../../core/ceil_div.hpp"
#include "../../kernels/voxels.hpp"

namespace tandem::pipeline {

namespace {

using Coded = kernels::VoxelCoding::Number;

Coded number_of(io::VoxelType type) {
  if (type == io::VoxelType::float16) return Coded::float16;
  return type == io::VoxelType::uint16 ? Coded::uint16 : Coded::uint8;
}

}  // namespace

std::optional<StoredVoxels> stored_on_gpu(ConstVectorView volume, const io::VolumeFormat& format) {
  if (format.type == io::VoxelType::float32) return {};
  const Device gpu = volume.space.device();
  const kernels::VoxelCoding coding{number_of(format.type), format.min, format.max};
  const Index bytes = volume.space.size() * coding.bytes();
  Stream& stream = default_stream(gpu);
  Array memory(Space({1, 1, ceil_div<Index>(bytes, sizeof(float))}, Blocks::whole, gpu), stream);
  const auto [below, above] = kernels::voxels(gpu)->encode(
      coding, volume.data, volume.space.size(), reinterpret_cast<std::byte*>(memory.data()), stream);
  if (coding.number == Coded::float16 && above > 0) return {};
  return StoredVoxels{std::move(memory), bytes, {below, above}};
}

}  // namespace tandem::pipeline
