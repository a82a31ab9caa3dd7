// A helix on CUDA. A block has a brick of 16 x 8 x 8 voxels, a thread a run of 8 along z. For some fans at a
// time, one thread each finds in double where the middle of the brick lies. Sums have the order of the fans.

#include "../../launches.hpp"
#include "../common/device_table.cuh"
#include "../common/elements.cuh"
#include "../helix.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int threads = 128;
constexpr int along_x = 16, along_y = 8, along_z = 8;  // voxels of a brick
constexpr int fans_together = 32;

/// A thread has a bin of a fan, in some rows.
__global__ void __launch_bounds__(threads)
    take_fans(ParallelFans shape, bool upright, const FanView* __restrict__ views, Index count,
              const FanStep* __restrict__ steps, Image<const float> in, Image<float> fans) {
  const Index bin = Index{blockIdx.x} * threads + threadIdx.x;
  if (bin >= fans.n2) return;
  for (Index f = blockIdx.z; f < fans.n0; f += gridDim.z) {
    const RaysOfBin rays(shape, views, count, steps[f].angle, bin);
    for (Index row = blockIdx.y; row < fans.n1; row += gridDim.y) {
      float sum = 0;
      if (steps[f].step > 0)
        rays.for_taps(shape, upright, in.n1, in.n2, views, row,
                      [&](Index v, Index r, Index b, float weight) { sum += weight * element(in, v, r, b); });
      element(fans, f, row, bin) = sum * static_cast<float>(rays.ray.slant(shape, row));
    }
  }
}

void sort_fans(const FanViews& from, const FanSteps& to, Image<const float> in, Image<float> fans,
               Stream& stream) {
  note_launch("sort fans");
  constexpr Index rows_of_a_thread = 16;
  const auto views = views_on_device(from, stream);
  const auto steps = views_on_device(to, stream);
  dim3 blocks = blocks_of_elements(fans, threads);
  blocks.y = ceil_div<unsigned>(blocks.y, rows_of_a_thread);
  take_fans<<<blocks, threads, 0, queue(stream)>>>(from, from.upright, views->data(), std::ssize(from.views),
                                                   steps->data(), in, fans);
  after_launch();
}

__device__ void add_fan(const FanShape& s, const FanHere& fan, float x, float y, const float* cells,
                        Index bins, Index next_row, float (&sums)[along_z]) {
  constexpr float first = -0.5f * (along_z - 1);
  FanColumn column{};
  float bin = 0;
  TANDEM_UNROLL
  for (int k = 0; k < along_z; ++k) {
    const float z = first + k;
    if (k == 0 || !fan.level) {
      bin = fan.bin_at(x, y, z);
      column = fan_column(s, bin + fan.first_bin, fan.depth_at(x, y, z));
    }
    const FanShare share = fan_share(s, column, fan.height_at(x, y, z), fan.before_first, fan.before_last);
    if (share.weight == 0) continue;
    const FanTap tap = fan_tap(s, share.row, bin, fan.first_bin);
    const float *here = cells + tap.row * bins + tap.bin, *above = here + next_row;
    const float low = tap.low * here[0] + tap.high * here[1], high = tap.low * above[0] + tap.high * above[1];
    sums[k] += fan.step * share.weight * (low + tap.next_row * (high - low));
  }
}

__global__ void __launch_bounds__(threads)
    add_fans(const FanPlace* __restrict__ places, int count, FanShape s, Image<const float> fans,
             Image<float> volume, Update update) {
  __shared__ FanHere here[fans_together];
  __shared__ bool counts[fans_together];
  const int own = threadIdx.y * along_x + threadIdx.x;
  const Index x0 = Index{blockIdx.x} * along_x, y0 = Index{blockIdx.y} * along_y,
              z0 = Index{blockIdx.z} * along_z;
  constexpr float half_x = 0.5f * (along_x - 1), half_y = 0.5f * (along_y - 1), half_z = 0.5f * (along_z - 1);
  const float x = threadIdx.x - half_x, y = threadIdx.y - half_y;
  float sums[along_z] = {};
  for (int first = 0; first < count; first += fans_together) {
    __syncthreads();
    if (own < fans_together && first + own < count) {
      here[own] = FanHere(places[first + own], static_cast<double>(x0) + half_x,
                          static_cast<double>(y0) + half_y, static_cast<double>(z0) + half_z);
      counts[own] = !here[own].misses(s, half_x, half_y, half_z);
    }
    __syncthreads();
    for (int k = 0; k < fans_together && first + k < count; ++k)
      if (counts[k])
        add_fan(s, here[k], x, y, &element(fans, first + k, 0, 0), fans.s1, fans.n1 > 1 ? fans.s1 : 0, sums);
  }
  const Index ix = x0 + threadIdx.x, iy = y0 + threadIdx.y;
  if (ix >= volume.n2 || iy >= volume.n1) return;
  TANDEM_UNROLL
  for (int k = 0; k < along_z; ++k)
    if (z0 + k < volume.n0) update(element(volume, z0 + k, iy, ix), sums[k]);
}

void back_project(const FanPlaces& n, float alpha, Image<const float> fans, float beta, Image<float> volume,
                  Stream& stream) {
  note_launch("helix backward");
  const auto places = views_on_device(n, stream);
  const dim3 blocks = grid_of(ceil_div<Index>(volume.n2, along_x), ceil_div<Index>(volume.n1, along_y),
                              ceil_div<Index>(volume.n0, along_z));
  add_fans<<<blocks, dim3(along_x, along_y), 0, queue(stream)>>>(
      places->data(), int_of(n.views.size()), shape_of(n), fans, volume, Update{alpha, beta});
  after_launch();
}

}  // namespace

const HelixKernels helix_kernels{sort_fans, nullptr, back_project, nullptr};

}  // namespace tandem::kernels::cuda
