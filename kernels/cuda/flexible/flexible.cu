// The pair for any geometry on GPUs: the row of the table, and how large shadows and windows are.

#include "../../../core/spelled.hpp"
#include "flexible.hpp"

#include "../../flexible.hpp"
#include "../../launches.hpp"
#include "../common/device_table.cuh"
#include "bricks.cuh"

namespace tandem::kernels::cuda {

namespace {

/// Axes as they lie in memory.
Axes axes_of(Shape volume) {
  return {{0, 1, 2}, {int_of(volume[2]), int_of(volume[1]), int_of(volume[0])}, {}};
}

/// A thread has some bricks, each in one view after the other.
__global__ void __launch_bounds__(256)
    find_extent(Axes axes, int bricks, const FlexiblePlace* __restrict__ places, int views, int bins,
                int rows, Extent* extent) {
  Extent most{};
  const Index pairs = Index{bricks} * views;
  for (Index k = Index{blockIdx.x} * blockDim.x + threadIdx.x; k < pairs;
       k += Index{gridDim.x} * blockDim.x) {
    const BrickOfBlock brick(axes, static_cast<int>(k % bricks));
    const BrickShadow all = shadow_of(brick, places[k / bricks]);
    int reach = 1;
    for (int part = 0; part < parts; ++part) {
      if (!is_there(brick, part)) continue;
      const BrickShadow own = shadow_of_part(brick, all, part);
      const float nearest = nearest_of_part(brick, own, part);
      reach = max(reach, max(reach_of(own.along_bins, nearest), reach_of(own.along_rows, nearest)));
    }
    CornerCell low = corner_cell(brick, all, 0, -1), high = corner_cell(brick, all, 0, 1);
    for (int corner = 1; corner < 8; ++corner) {
      const CornerCell a = corner_cell(brick, all, corner, -1), b = corner_cell(brick, all, corner, 1);
      low = {min(low.bin, a.bin), min(low.row, a.row)}, high = {max(high.bin, b.bin), max(high.row, b.row)};
    }
    const Window window = window_between(all, low, high, reach, bins, rows);
    if (window.bins == 0) continue;
    most = {max(most.reach, reach), max(most.width, window.bins), max(most.height, window.rows)};
  }
  most = {__reduce_max_sync(~0u, most.reach), __reduce_max_sync(~0u, most.width),
          __reduce_max_sync(~0u, most.height)};
  if (threadIdx.x % 32 != 0) return;
  atomicMax(&extent->reach, most.reach), atomicMax(&extent->width, most.width),
      atomicMax(&extent->height, most.height);
}

}  // namespace

Extent extent_of(const FlexibleViews& views, Shape volume, Shape projections, const Stream& stream) {
  require<DeviceError>(
      !views.curved, "device ", stream.device(),
      ": curved detectors have no projector there; give " + spelled("device") + " cpu, or a filter");
  const Axes axes = axes_of(volume);
  const KeptOnDevices::Key key{volume[0] << 32 | volume[1], volume[2] << 32 | projections[1], projections[2]};
  const auto kept = views.kept.use<Extent>(stream, key, [&](const KeptOnDevices::Streams& streams) {
    const cudaStream_t s = queue(streams.coming);
    const Scratch<FlexiblePlace> list(std::span<const FlexiblePlace>(views.views), s);
    const Scratch<Extent> found(1, s);
    check(cudaMemsetAsync(found.data(), 0, sizeof(Extent), s));
    constexpr unsigned blocks = 4096;
    find_extent<<<blocks, 256, 0, s>>>(axes, BrickOfBlock::count(axes), list.data(),
                                       int_of(views.views.size()), int_of(projections[2]),
                                       int_of(projections[1]), found.data());
    after_launch();
    Extent extent{};
    bring(std::span(&extent, 1), found, streams.coming);
    return extent;
  });
  return *kept;
}

namespace {

/// Sums, or a copy of views with their distances; and the list of all views.
WorkingMemory working_memory(Precision, Shape, Shape projections, Device) {
  const double list = 1.0 * projections[0] * sizeof(FlexiblePlace);
  const auto copy = [&](Index bytes) {
    const Index cells = views_at_once(projections, bytes) * projections[1] * padded_bins(projections[2]);
    return cells * bytes + list;
  };
  return {copy(sizeof(FlexibleSum)), copy(sizeof(float))};
}

}  // namespace

namespace flexible_variants {

FlexibleVariant separable_footprint() {
  return {.name = "separable_footprint",
          .grades = {{Precision::float32, true, bounds::windows_on_cuda}},
          .forward = flexible_forward,
          .backward = flexible_backward,
          .working_memory = working_memory,
          .kernels = [](Device) {
            return std::vector<std::string>{"flexible forward, 44",   "flexible forward, 76",
                                            "flexible forward, wide", "flexible backward, 44",
                                            "flexible backward, 76",  "flexible backward, wide"};
          }};
}

}  // namespace flexible_variants

}  // namespace tandem::kernels::cuda
