// Which kernels draw footprints, and plain ones: for few rows or slices, of which products on tensor cores
// take 32 and more at a time, and for voxels so large, or so near to the source, that a tile does not fit a
// product.

#include "separable_footprint.hpp"

#include "data.cuh"
#include "plain_footprint.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int plain_run = 4;  // rows or slices of a thread, where there is more than one
constexpr int plain_threads = 256, plain_warps = plain_threads / 32;

// ---- back-projection: lanes along x, so that they read neighbouring bins

constexpr int patch_x = 32, patch_y = plain_warps * columns_a_thread;  // of a block

template <int run>
__global__ void __launch_bounds__(plain_threads)
    plain_backward(PlainFrame n, const ConeView* __restrict__ views, const float* __restrict__ slants,
                   Image<const float> in, Update update, Image<float> out) {
  const Index across = ceil_div<Index>(out.n2, patch_x), z0 = static_cast<Index>(blockIdx.y) * run;
  const Index x = blockIdx.x % across * patch_x + threadIdx.x % 32,
              y0 = blockIdx.x / across * patch_y + threadIdx.x / 32 * columns_a_thread;
  if (x >= out.n2 || y0 >= out.n1) return;
  const PlainColumns columns{n.x0 + static_cast<double>(x), n.y0 + static_cast<double>(y0),
                             n.bottom + n.voxel * static_cast<double>(z0)};
  PlainCells cells{in.data, in.s1, slants, static_cast<int>(in.n1), static_cast<int>(in.n2)};
  float sum[columns_a_thread][run] = {};
#pragma unroll 1
  for (Index v = 0; v < in.n0; ++v, cells.data += in.s0) add_view(n, views[v], columns, cells, sum);
#pragma unroll
  for (int c = 0; c < columns_a_thread; ++c)
#pragma unroll
    for (int k = 0; k < run; ++k)
      if (y0 + c < out.n1 && z0 + k < out.n0) update(element(out, z0 + k, y0 + c, x), sum[c][k]);
}

template <int run>
void launch_backward(const ConeViews& views, const ConeView* list, const float* slants,
                     Image<const float> projections, Update update, Image<float> volume, cudaStream_t s) {
  const dim3 blocks(
      static_cast<unsigned>(ceil_div<Index>(volume.n2, patch_x) * ceil_div<Index>(volume.n1, patch_y)),
      static_cast<unsigned>(ceil_div<Index>(volume.n0, run)));
  plain_backward<run>
      <<<blocks, plain_threads, 0, s>>>(PlainFrame(views), list, slants, projections, update, volume);
  after_launch();
}

// ---- projection: a warp has pairs of bins, and neighbouring lines of each, so that it reads few sectors
// whichever way its lines run; a block has one view

constexpr int pairs_a_warp = 8, lines_a_warp = 32 / pairs_a_warp;
constexpr int plain_bins = 2 * pairs_a_warp * plain_warps;  // of a block

/// Over the lanes that have the same pair of bins.
__device__ inline float sum_of_lines(float value) {
#pragma unroll
  for (int o = pairs_a_warp; o < 32; o *= 2) value += __shfl_xor_sync(~0u, value, o);
  return value;
}

template <int run>
__global__ void __launch_bounds__(plain_threads)
    plain_forward(ConeFrame frame, PlainFrame n, const ConeView* __restrict__ views, Image<const float> in,
                  Update update, Image<float> out) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Index v = blockIdx.x, row0 = static_cast<Index>(blockIdx.z) * run,
              bin0 = static_cast<Index>(blockIdx.y) * plain_bins +
                     2 * (warp * pairs_a_warp + lane % pairs_a_warp);
  float sum[2][run] = {};
  if (bin0 < out.n2) {
    const ConeView view = views[v];
    add_lines(n, view, ray_between(n, view, bin0, row0, in), in, lane / pairs_a_warp, lines_a_warp, sum);
  }
#pragma unroll
  for (int b = 0; b < 2; ++b)
#pragma unroll
    for (int k = 0; k < run; ++k) {
      const float value = sum_of_lines(sum[b][k]);
      if (lane < pairs_a_warp && bin0 + b < out.n2 && row0 + k < out.n1)
        update(element(out, v, row0 + k, bin0 + b),
               static_cast<float>(slant_of(frame, row0 + k, bin0 + b)) * value);
    }
}

template <int run>
void launch_forward(const ConeViews& views, const ConeView* list, Image<const float> volume, Update update,
                    Image<float> projections, cudaStream_t s) {
  const dim3 blocks(static_cast<unsigned>(projections.n0),
                    static_cast<unsigned>(ceil_div<Index>(projections.n2, plain_bins)),
                    static_cast<unsigned>(ceil_div<Index>(projections.n1, run)));
  plain_forward<run>
      <<<blocks, plain_threads, 0, s>>>(views, PlainFrame(views), list, volume, update, projections);
  after_launch();
}

}  // namespace

void plain_footprint_forward(const ConeViews& views, float alpha, Image<const float> volume, float beta,
                             Image<float> projections, Stream& stream) {
  const cudaStream_t s = queue(stream);
  const auto list = views_on_device(views, stream);
  const Update update{alpha * static_cast<float>(views.pitch * PlainFrame(views).voxel), beta};
  note_launch(projections.n1 == 1 ? "plain footprint forward, 1" : "plain footprint forward, 4");
  const auto run = projections.n1 == 1 ? launch_forward<1> : launch_forward<plain_run>;
  run(views, list->data(), volume, update, projections, s);
}

void plain_footprint_backward(const ConeViews& views, float alpha, Image<const float> projections, float beta,
                              Image<float> volume, Stream& stream) {
  const cudaStream_t s = queue(stream);
  const auto list = views_on_device(views, stream);
  const Scratch<float> slants(static_cast<std::size_t>(projections.n1 * projections.n2), s);
  slants_of(views, projections.n1, projections.n2, slants.data(), s);
  note_launch(volume.n0 == 1 ? "plain footprint backward, 1" : "plain footprint backward, 4");
  const auto run = volume.n0 == 1 ? launch_backward<1> : launch_backward<plain_run>;
  run(views, list->data(), slants.data(), projections, {alpha * static_cast<float>(views.pitch), beta},
      volume, s);
}

namespace {

void forward(const ConeViews& views, const Execution& how, float alpha, Image<const float> volume, float beta,
             Image<float> projections, Stream& stream) {
  if (projections.n1 <= plain_up_to ||
      !footprint_forward(views, how.tuning, alpha, volume, beta, projections, stream))
    plain_footprint_forward(views, alpha, volume, beta, projections, stream);
}

void backward(const ConeViews& views, const Execution& how, float alpha, Image<const float> projections,
              float beta, Image<float> volume, Stream& stream) {
  if (volume.n0 <= plain_up_to ||
      !footprint_backward(views, how.tuning, alpha, projections, beta, volume, stream))
    plain_footprint_backward(views, alpha, projections, beta, volume, stream);
}

std::vector<std::string> names(Device) {
  return {"plain footprint forward, 1",      "plain footprint forward, 4",
          "plain footprint backward, 1",     "plain footprint backward, 4",
          "footprint products forward, 64",  "footprint products forward, 128",
          "footprint products forward, 256", "footprint products backward, 1",
          "footprint products backward, 2",  "footprint products backward, 3"};
}

}  // namespace

namespace cone_variants {

ConeVariant separable_footprint() {
  return {.name = "separable_footprint",
          .grades = {{Precision::float32, true, bounds::footprint_on_cuda, bounds::fdk_on_cuda}},
          .forward = forward,
          .backward = backward,
          .working_memory = [](Precision, Shape volume, Shape projections,
                               Device) { return footprint_memory(volume, projections); },
          .kernels = names};
}

}  // namespace cone_variants

}  // namespace tandem::kernels::cuda
