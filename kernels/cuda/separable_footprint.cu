// Which kernels draw footprints, and plain ones for voxels so large, or so near to the source, that a tile of
// them does not fit a product.

#include "tandem/kernels/cuda/separable_footprint.hpp"

#include <algorithm>
#include <cmath>

#include "tandem/kernels/cuda/footprint_tiles.cuh"
#include "tandem/kernels/cuda/tables.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int run = 8;  // voxels or rows of a thread

__global__ void __launch_bounds__(128)
    plain_backward(ConeFrame n, const ConeView* __restrict__ views, float alpha, Image<const float> in,
                   float beta, Image<float> out) {
  const Index x = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x, y = blockIdx.y,
              z0 = static_cast<Index>(blockIdx.z) * run;
  if (x >= out.n2) return;
  double sum[run] = {};
  for (Index v = 0; v < in.n0; ++v) {
    const Trapezoid<double> t = trapezoid_of(n, views[v], x, y);
    const Column column = column_at(n, t.distance);
    const Range bins = cells_between(t.corners[0], t.corners[3], in.n2);
    for (Index bin = bins.first; bin < bins.last; ++bin) {
      const double weight = mean_over(t, bin);
#pragma unroll
      for (int k = 0; k < run; ++k) {
        const double low = column.first + column.step * static_cast<double>(z0 + k), high = low + column.step;
        const Range rows = cells_between(low, high, in.n1);
        for (Index row = rows.first; row < rows.last; ++row)
          sum[k] += weight * share_of(low, high, row) * slant_of(n, row, bin) *
                    static_cast<double>(element(in, v, row, bin));
      }
    }
  }
#pragma unroll
  for (int k = 0; k < run; ++k) {
    if (z0 + k >= out.n0) return;
    float& o = element(out, z0 + k, y, x);
    const float value = alpha * static_cast<float>(sum[k]);
    o = beta == 0 ? value : value + beta * o;
  }
}

/// Columns of a line of voxels that lie between the rays to a bin's edges, and perhaps a few more.
__device__ inline Range columns_between(const ConeFrame& n, const ConeView& view, Index bin, Index y,
                                        Index count) {
  double low = 1e300, high = -1e300, across[2];
  for (int e = 0; e < 2; ++e) {
    const double ray = (static_cast<double>(bin) - 0.5 + e - n.axis_bin) * n.bin_pitch / n.sdd;
    across[e] = view.cos + ray * view.sin;
    for (int side = 0; side < 2; ++side) {
      const double at = n.y0 + n.pitch * (static_cast<double>(y) - 0.5 + side);
      const double x = (ray * n.sod + at * (ray * view.cos - view.sin)) / across[e];
      low = fmin(low, x), high = fmax(high, x);
    }
  }
  if (!(across[0] * across[1] > 1e-12)) return {0, count};  // one of them runs along the line
  const double last = static_cast<double>(count);
  return {static_cast<Index>(fmin(fmax(floor((low - n.x0) / n.pitch - 1), 0.0), last)),
          static_cast<Index>(fmin(fmax(ceil((high - n.x0) / n.pitch + 2), 0.0), last))};
}

__global__ void __launch_bounds__(128)
    plain_forward(ConeFrame n, const ConeView* __restrict__ views, float alpha, Image<const float> in,
                  float beta, Image<float> out) {
  const Index bin = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x,
              row0 = static_cast<Index>(blockIdx.y) * run, v = blockIdx.z;
  if (bin >= out.n2) return;
  double sum[run] = {};
  for (Index y = 0; y < in.n1; ++y) {
    const Range columns = columns_between(n, views[v], bin, y, in.n2);
    for (Index x = columns.first; x < columns.last; ++x) {
      const Trapezoid<double> t = trapezoid_of(n, views[v], x, y);
      const double weight = mean_over(t, bin);
      if (weight == 0) continue;
      const Column column = column_at(n, t.distance);
#pragma unroll
      for (int k = 0; k < run; ++k) {
        const double at = static_cast<double>(row0 + k), voxel = (at - column.first) / column.step;
        const Range voxels =
            cells_between(voxel - 0.5 / column.step - 0.5, voxel + 0.5 / column.step - 0.5, in.n0);
        for (Index z = voxels.first; z < voxels.last; ++z) {
          const double low = column.first + column.step * static_cast<double>(z);
          sum[k] +=
              weight * share_of(low, low + column.step, row0 + k) * static_cast<double>(element(in, z, y, x));
        }
      }
    }
  }
#pragma unroll
  for (int k = 0; k < run; ++k) {
    if (row0 + k >= out.n1) return;
    float& o = element(out, v, row0 + k, bin);
    const float value = alpha * static_cast<float>(slant_of(n, row0 + k, bin) * sum[k]);
    o = beta == 0 ? value : value + beta * o;
  }
}

dim3 threads_for(Index along, Index y, Index z) {
  return {static_cast<unsigned>(ceil_div<Index>(along, 128)), static_cast<unsigned>(y),
          static_cast<unsigned>(z)};
}

// ---- working memory: the bounds and batches of footprint_forward.cu and footprint_backward.cu

constexpr double volume_batch = 512 * 1024.0 * 1024;  // bytes: of the turned volume
constexpr double batch = 2 * volume_batch;            // of records, of turned projections
constexpr double views_a_batch = 128, lines_a_batch = 512, lines_a_block = 2, views_a_block = 4;

/// A vector's extents in the tiles of either direction.
struct Extents {
  double slices, across, down, views, rows, bins;
  Extents(Shape volume, Shape projections)
      : slices(static_cast<double>(ceil_div<Index>(volume[0], edge) * edge)),
        across(static_cast<double>(ceil_div<Index>(volume[2], edge))),
        down(static_cast<double>(ceil_div<Index>(volume[1], edge))),
        views(static_cast<double>(projections[0])),
        rows(static_cast<double>(projections[1])),
        bins(static_cast<double>(projections[2])) {}
  double lists() const { return views * (sizeof(ConeView) + sizeof(int)) + 1024; }
};

/// Some lines of tiles, records of them in some views, and which of them a block of bins meets.
double forward_memory(const Extents& n) {
  const double line = 4.0 * columns * n.across * n.slices,
               lines = std::min({n.down, lines_a_batch, std::max(volume_batch / line, 1.0)}),
               view = lines * n.across * ShadowStore<Direction::forward>::bytes,
               views = std::min(std::max(n.views, views_a_block), std::max(batch / view, views_a_block)),
               spans = 8 * lines * std::ceil(n.bins / 64);
  return lines * line + views * (view + spans) + 4 * n.rows * n.bins + n.lists();
}

/// Projections of some views, and records of some lines of tiles in these.
double backward_memory(const Extents& n) {
  const double view = 4 * n.bins * std::ceil(n.rows / 8) * 8,
               views = std::min({n.views, views_a_batch, std::max(batch / view, 1.0)}),
               line = n.across * ShadowStore<Direction::backward>::bytes,
               lines = std::max(n.down, lines_a_block);
  return views * view + std::min(lines * views * line, std::max(batch, lines_a_block * views * line)) +
         n.lists();
}

WorkingMemory working_memory(Shape volume, Shape projections) {
  const Extents n(volume, projections);
  return {forward_memory(n), backward_memory(n)};
}

}  // namespace

void plain_footprint_forward(const ConeViews& views, float alpha, Image<const float> volume, float beta,
                             Image<float> projections, Stream& stream) {
  constexpr Index most_blocks = 65'535;  // along a dimension of a grid
  const cudaStream_t s = queue(stream);
  const Scratch<ConeView> list(views.views, s);
  for (Index first = 0; first < projections.n0; first += most_blocks) {
    const Image<float> part = part_of(projections, first, most_blocks, 0, projections.n1);
    plain_forward<<<threads_for(part.n2, ceil_div<Index>(part.n1, run), part.n0), 128, 0, s>>>(
        views, list.data() + first, alpha, volume, beta, part);
    after_launch();
  }
}

void plain_footprint_backward(const ConeViews& views, float alpha, Image<const float> projections, float beta,
                              Image<float> volume, Stream& stream) {
  const cudaStream_t s = queue(stream);
  const Scratch<ConeView> list(views.views, s);
  plain_backward<<<threads_for(volume.n2, volume.n1, ceil_div<Index>(volume.n0, run)), 128, 0, s>>>(
      views, list.data(), alpha, projections, beta, volume);
  after_launch();
}

const ConeKernels separable_footprint_kernels{
    [](const ConeViews& views, float alpha, Image<const float> volume, float beta, Image<float> projections,
       Stream& stream) {
      if (footprint_forward_fits(views, volume.n0, volume.n1, volume.n2, projections.n1, stream.device()))
        footprint_forward(views, alpha, volume, beta, projections, stream);
      else
        plain_footprint_forward(views, alpha, volume, beta, projections, stream);
    },
    [](const ConeViews& views, float alpha, Image<const float> projections, float beta, Image<float> volume,
       Stream& stream) {
      if (footprint_backward_fits(views, volume.n0, volume.n1, volume.n2, projections.n1, stream.device()))
        footprint_backward(views, alpha, projections, beta, volume, stream);
      else
        plain_footprint_backward(views, alpha, projections, beta, volume, stream);
    },
    working_memory};

}  // namespace tandem::kernels::cuda
