// Separable footprints on a GPU (docs/kernels/footprints_cuda.md). Coefficient of a voxel and a cell, in mm:
//
//   a = l_phi l_theta F1 F2     (Long, Fessler, Balter 2010, SF-TR with amplitude A2; ../../footprint.hpp)
//
// l_phi F1 is the mean height over a bin of the trapezoid that a column of voxels throws. It is the same for
// all slices and rows: for a tile of 4 x 4 columns, a matrix W[column][bin]. F2 is the part of a row that a
// voxel covers. l_theta, the slant of the ray, belongs to the cell.
//
// Back-projection (backward.cu). A warp has a tile, and a chunk of 32 to 96 slices. A lane has 1 to 3 slices
// of each column, whose sums stay in registers. For each view that the chunk meets:
//
//   window[bin][row] in shared memory <- l_theta y, for the 8 tiles of a block together
//   profile[column][row] = sum over bins of W[column][bin] window[bin][row]            on tensor cores
//   sum[column][slice]  += integral of profile[column] over the rows that the voxel covers   (F2)
//
// Projection (forward.cu). A warp has 64 bins and 32 rows of a view. For each tile that meets the bins:
//
//   voxels[column][slice] in shared memory <- x, for the 8 warps of a block together
//   P[row][column]  = integral of voxels[column] over the slices that the row covers         (F2)
//   sum[row][bin]  += sum over columns of P[row][column] W[column][bin]                on tensor cores
//   at the end:  y[row][bin] <- alpha l_theta sum[row][bin] + beta y[row][bin]
//
// An integral over slices counts voxels: in the projection W has the rows that a voxel takes as a factor.
//
// This file chooses the kernels, and has the plain ones, which sum on the cores (plain_footprint.hpp). These
// are for few rows or slices, because products take 32 and more at a time. They are also for voxels so large,
// or so near to the source, that a tile meets more bins than a product has.

#include "separable_footprint.hpp"

#include "data.cuh"
#include "plain_footprint.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int plain_run = 4;  // rows or slices of a thread, where there is more than one
constexpr int plain_threads = 256, plain_warps = plain_threads / 32;

/// Views as these kernels read them.
struct PlainList : DeviceTable<PlainFrame> {
  PlainList(const ConeViews& packed, const KeptOnDevices::Streams& streams)
      : DeviceTable(std::vector<PlainFrame>(packed.views.begin(), packed.views.end()), streams) {}
};

auto frames_on_device(const ConeViews& packed, const Stream& stream) {
  return packed.kept.use<PlainList>(
      stream, [&](const KeptOnDevices::Streams& streams) { return PlainList(packed, streams); });
}

// ---- back-projection: lanes along x, so that they read neighbouring bins

/// l_theta of all cells (row, bin) of some views. All views of a circle have the same ones.
struct Slants {
  float* data;
  Index to_next_view;
};

/// How many views have their slants in memory if they are no circle.
Index plain_views(Index views, Index cells) {
  constexpr Index most = 256, floats = Index{1} << 24;  // at most what products take
  return std::clamp<Index>(floats / cells, 1, std::min(views, most));
}

/// A block has a row of a view.
__global__ void find_slants(const ConeView* __restrict__ views, int bins, float* slants) {
  float* row = slants + (Index{blockIdx.y} * gridDim.x + blockIdx.x) * bins;
  for (int bin = threadIdx.x; bin < bins; bin += threads_in_block())
    row[bin] = slant_of<float>(views[blockIdx.y], blockIdx.x, bin);
}

constexpr int patch_x = 32, patch_y = plain_warps * columns_a_thread;  // patch of a block

template <int run>
__global__ void __launch_bounds__(plain_threads)
    plain_backward(const PlainFrame* __restrict__ views, Slants slants, Image<const float> in, Update update,
                   Image<float> out) {
  const Index across = ceil_div<Index>(out.n2, patch_x), z0 = Index{blockIdx.y} * run;
  const Index x = blockIdx.x % across * patch_x + threadIdx.x % 32,
              y0 = blockIdx.x / across * patch_y + threadIdx.x / 32 * columns_a_thread;
  if (x >= out.n2 || y0 >= out.n1) return;
  const PlainColumns columns(x, y0, z0);
  PlainCells cells{in.data, in.s1, slants.data, static_cast<int>(in.n1), static_cast<int>(in.n2)};
  float sum[columns_a_thread][run] = {};
#pragma unroll 1
  for (Index v = 0; v < in.n0; ++v, cells.data += in.s0, cells.slants += slants.to_next_view)
    add_view(views[v], columns, cells, sum);
#pragma unroll
  for (int c = 0; c < columns_a_thread; ++c)
#pragma unroll
    for (int k = 0; k < run; ++k)
      if (y0 + c < out.n1 && z0 + k < out.n0) update(element(out, z0 + k, y0 + c, x), sum[c][k]);
}

template <int run>
void launch_backward(const PlainFrame* views, const Slants& slants, Image<const float> projections,
                     Update update, Image<float> volume, cudaStream_t s) {
  const dim3 blocks = grid_of(ceil_div<Index>(volume.n2, patch_x) * ceil_div<Index>(volume.n1, patch_y),
                              ceil_div<Index>(volume.n0, run));
  plain_backward<run><<<blocks, plain_threads, 0, s>>>(views, slants, projections, update, volume);
  after_launch();
}

// ---- projection: a warp has pairs of bins, and neighbouring lines of each, so that it reads few sectors
// whichever way its lines run; a block has one view

constexpr int pairs_a_warp = 8, lines_a_warp = 32 / pairs_a_warp;
constexpr int plain_bins = 2 * pairs_a_warp * plain_warps;  // bins of a block

/// The sum over the lanes that have the same pair of bins.
__device__ inline float sum_of_lines(float value) {
#pragma unroll
  for (int o = pairs_a_warp; o < 32; o *= 2) value += __shfl_xor_sync(~0u, value, o);
  return value;
}

template <int run>
__global__ void __launch_bounds__(plain_threads)
    plain_forward(const ConeView* __restrict__ views, const PlainFrame* __restrict__ frames,
                  Image<const float> in, Update update, Image<float> out) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Index v = blockIdx.x, row0 = Index{blockIdx.z} * run,
              bin0 = Index{blockIdx.y} * plain_bins + 2 * (warp * pairs_a_warp + lane % pairs_a_warp);
  float sum[2][run] = {};
  if (bin0 < out.n2) {
    const PlainFrame n = frames[v];
    add_lines(n, ray_between(n, bin0, row0, in), in, lane / pairs_a_warp, lines_a_warp, sum);
  }
#pragma unroll
  for (int b = 0; b < 2; ++b)
#pragma unroll
    for (int k = 0; k < run; ++k) {
      const float value = sum_of_lines(sum[b][k]);
      if (lane < pairs_a_warp && bin0 + b < out.n2 && row0 + k < out.n1)
        update(element(out, v, row0 + k, bin0 + b),
               slant_of<float>(views[v], row0 + k, bin0 + b) * static_cast<float>(frames[v].voxel) * value);
    }
}

template <int run>
void launch_forward(const ConeView* views, const PlainFrame* frames, Image<const float> volume, Update update,
                    Image<float> projections, cudaStream_t s) {
  const dim3 blocks = grid_of(projections.n0, ceil_div<Index>(projections.n2, plain_bins),
                              ceil_div<Index>(projections.n1, run));
  plain_forward<run><<<blocks, plain_threads, 0, s>>>(views, frames, volume, update, projections);
  after_launch();
}

}  // namespace

void plain_footprint_forward(const ConeViews& views, float alpha, Image<const float> volume, float beta,
                             Image<float> projections, Stream& stream) {
  const cudaStream_t s = queue(stream);
  const auto list = views_on_device(views, stream);
  const auto frames = frames_on_device(views, stream);
  note_launch(projections.n1 == 1 ? "plain footprint forward, 1" : "plain footprint forward, 4");
  const auto run = projections.n1 == 1 ? launch_forward<1> : launch_forward<plain_run>;
  run(list->data(), frames->data(), volume, {alpha * static_cast<float>(views.pitch), beta}, projections, s);
}

void plain_footprint_backward(const ConeViews& views, float alpha, Image<const float> projections, float beta,
                              Image<float> volume, Stream& stream) {
  const cudaStream_t s = queue(stream);
  const auto list = views_on_device(views, stream);
  const auto frames = frames_on_device(views, stream);
  const Index view = projections.n1 * projections.n2,
              at_once = views.circular ? projections.n0 : plain_views(projections.n0, view);
  const Scratch<float> slants((views.circular ? 1 : at_once) * view, s);
  note_launch(volume.n0 == 1 ? "plain footprint backward, 1" : "plain footprint backward, 4");
  const auto run = volume.n0 == 1 ? launch_backward<1> : launch_backward<plain_run>;
  for (Index first = 0; first < projections.n0; first += at_once) {
    const auto part = part_of(projections, first, at_once, 0, projections.n1);
    find_slants<<<grid_of(part.n1, views.circular ? 1 : part.n0), 256, 0, s>>>(
        list->data() + first, int_of(part.n2), slants.data());
    after_launch();
    run(frames->data() + first, {slants.data(), views.circular ? 0 : view}, part,
        {alpha * static_cast<float>(views.pitch), first == 0 ? beta : 1}, volume, s);
  }
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
