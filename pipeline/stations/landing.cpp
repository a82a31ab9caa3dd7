#include "landing.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "../../core/ceil_div.hpp"
#include "../../core/host_memory.hpp"
#include "../../core/parallel.hpp"
#include "../../core/rounding.hpp"
#include "../../kernels/voxels.hpp"
#include "../methods/vector_bytes.hpp"
#include "../plan/route.hpp"

namespace tandem::pipeline {

namespace {

kernels::VoxelCoding::Number number_of(io::VoxelType type) {
  using Number = kernels::VoxelCoding::Number;
  if (type == io::VoxelType::float16) return Number::float16;
  return type == io::VoxelType::uint16 ? Number::uint16 : Number::uint8;
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
  if (coding.number == kernels::VoxelCoding::Number::float16 && above > 0) return {};
  return StoredVoxels{std::move(memory), bytes, {below, above}};
}

double volume_at_home(const Plan& plan, Index slices) {
  const double volume = vector_bytes(plan, slices).written;
  return plan.flow.home().is_cuda() ? volume * plan.job.options.stored_bytes / 4 : volume;
}

double volumes_waiting(const Plan& plan, Index slices) {
  const double chunks = 1.0 * plan.job.grid.size[2] / slices;
  return std::clamp(chunks - plan.flow.workers.size(), 0.0, 2.0);
}

bool comes_in_pieces(const Plan& plan, Index slices) {
  return plan.flow.home().is_cuda() &&
         !(route_of(plan.flow).slices_apart && vector_bytes(plan, slices).written <= bytes_landed_whole);
}

double volumes_landed(const Plan& plan, Index slices, double volumes) {
  const double volume = volume_at_home(plan, slices);
  const double piece = std::max(bytes_landed_at_once, volume / slices);
  return comes_in_pieces(plan, slices) ? std::min(volume, 3 * piece) : volumes * volume;
}

Landing::Landing(Work work, io::VolumeWriter* writer, bool may_store)
    : work_(std::move(work)), writer_(writer), may_store_(may_store && writer && writer->takes_stored()) {}

/// Brings the volume to the memory of the writer, if the writer gives some.
void Landing::bring(const float* volume, Device gpu, Chunk& chunk) {
  const PinHostMemory pinned(gpu);
  const auto [nx, ny, nz] = work_.plan.job.grid.size;
  const Space space({chunk.slices.size(), ny, nx}, Blocks::slices, gpu);
  const ConstVectorView there(volume, space);
  chunk.stored = nullptr;
  if (may_store_ && bring_stored(there, chunk)) return;
  std::byte* room = writer_ ? writer_->room(chunk.slices) : nullptr;
  if (!room) {
    chunk.own.emplace(space.on(Device::cpu()), default_stream(Device::cpu()));
    room = reinterpret_cast<std::byte*>(chunk.own->data());
  }
  chunk.volume = reinterpret_cast<float*>(room);
  work_.copy_to(room, there, 4 * space.size());
}

/// Brings the volume as the writer stores it. Returns false if that is not possible.
bool Landing::bring_stored(ConstVectorView volume, Chunk& chunk) {
  const std::optional<StoredVoxels> stored = stored_on_gpu(volume, *writer_->takes_stored());
  if (!stored) return false;
  std::byte* there = writer_->room(chunk.slices);
  if (!there) {
    chunk.own.emplace(stored->memory.space().on(Device::cpu()), default_stream(Device::cpu()));
    there = reinterpret_cast<std::byte*>(chunk.own->data());
  }
  work_.copy_to(there, stored->memory, stored->bytes);
  chunk.stored = there, chunk.clipped = stored->clipped;
  return true;
}

Index Landing::slices_at_once(Index most) const {
  const auto slice = 4.0 * (work_.plan.job.grid.size[0] * work_.plan.job.grid.size[1]);
  return in_pieces_ ? std::clamp<Index>(floor_index(bytes_landed_at_once / slice), 1, most) : most;
}

void Landing::operator()(Chunk& chunk, const std::function<void(Chunk&)>& use) {
  if (!chunk.own || !chunk.own->space().device().is_cuda()) return use(chunk);
  const Array own = std::move(*chunk.own);
  chunk.own.reset();
  const ConstVectorView slab = ConstVectorView(own).share(0);  // the only share
  const Device gpu = slab.space.device();
  const Stream stream(gpu);
  const Index all = chunk.slices.size(), step = slices_at_once(all), area = own.size() / all;
  std::vector<Chunk> pieces(conveyor_places(1));
  const auto piece = [&](const Item& item) -> Chunk& { return pieces[item.place]; };
  conveyor(
      ceil_div(all, step), 1,
      [&](const Item& item) {
        const Index first = item.number * step;
        piece(item).slices = {chunk.slices.first + first, chunk.slices.first + std::min(all, first + step)};
      },
      [&](const Item& item) {
        const UseStream landing(stream);
        bring(slab.data + item.number * step * area, gpu, piece(item));
      },
      [&](const Item& item) { use(piece(item)); });
}

}  // namespace tandem::pipeline
