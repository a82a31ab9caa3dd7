// Forward projection, the exact transpose: q[bin] += weight0 f, q[bin + 1] += weight1 f, with the same taps.
//
// Loop order: blocks of views, each by one thread, which keeps their sinograms to itself; tiles of pixels in
// a fixed order; views; pixels; slices, which are the SIMD lanes. A bin's sum runs over the pixels in that
// order, whatever the batch and the thread.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/parallel_forward.cpp"
#include <hwy/foreach_target.h>  // must come before the next

#include "hat-inl.hpp"

#include <vector>

#include "../../core/interrupts.hpp"
#include "../../core/parallel.hpp"
#include "../../core/rounding.hpp"
#include "dispatch.hpp"
#include "parallel.hpp"

HWY_BEFORE_NAMESPACE();
namespace tandem::kernels::cpu::HWY_NAMESPACE {

constexpr int interleaved_views =
    8;  // sums of neighbouring pixels wait for each other in memory; views do not

/// Adds one row of a tile to the sinograms of a few views: `vectors` vectors of slices.
template <int vectors, class D>
HWY_INLINE void scatter_row(D d, const float* pixels, Index lanes, const RowTaps* taps, int views,
                            Index count, float* sinogram, Index view_stride) {
  const Index width = hn::Lanes(d);
  for (Index x = 0; x < count; ++x) {
    hn::Vec<D> f[vectors];
    for (int k = 0; k < vectors; ++k) f[k] = hn::Load(d, pixels + x * lanes + k * width);
    for (int v = 0; v < views; ++v) {
      float* q = sinogram + v * view_stride + taps[v].bin[x] * lanes;
      const auto w0 = hn::Set(d, taps[v].weight0[x]), w1 = hn::Set(d, taps[v].weight1[x]);
      for (int k = 0; k < vectors; ++k) {
        hn::Store(hn::MulAdd(w0, f[k], hn::Load(d, q + k * width)), d, q + k * width);
        hn::Store(hn::MulAdd(w1, f[k], hn::Load(d, q + lanes + k * width)), d, q + lanes + k * width);
      }
    }
  }
}

template <int width>
void scatter_lanes(const float* pixels, Index lanes, const RowTaps* taps, int views, Index count,
                   float* sinogram, Index view_stride) {
  const hn::CappedTag<float, width> d;
  const Index step = hn::Lanes(d);
  Index k = 0;
  for (; k + 4 * step <= lanes; k += 4 * step)
    scatter_row<4>(d, pixels + k, lanes, taps, views, count, sinogram + k, view_stride);
  for (; k < lanes; k += step)
    scatter_row<1>(d, pixels + k, lanes, taps, views, count, sinogram + k, view_stride);
}

/// Adds a tile of pixels (dy, dx, lane) to the sinograms (view, padded bin, lane) of views [first, last).
void ForwardTile(const ParallelViews& views, Index first, Index last, const float* pixels, Index bins,
                 Index lanes, Index x0, Index y0, Index nx, Index ny, float* sinogram) {
  const Index view_stride = padded_bins(bins, views.half_width) * lanes;
  const auto scatter = lanes == 1   ? scatter_lanes<1>
                       : lanes == 2 ? scatter_lanes<2>
                       : lanes == 4 ? scatter_lanes<4>
                       : lanes == 8 ? scatter_lanes<8>
                                    : scatter_lanes<16>;
  RowTaps taps[interleaved_views];
  std::vector<TileView> at;
  for (Index v = first; v < last; v += interleaved_views) {
    const int count = at_most(interleaved_views, last - v);
    at.clear();
    for (int i = 0; i < count; ++i) at.emplace_back(views.views[v + i], x0, y0, bins, views.half_width);
    for (int pair = 0; pair < views.half_width; ++pair)
      for (int dy = 0; dy < ny; ++dy) {
        for (int i = 0; i < count; ++i) taps[i].compute(at[i], dy, pair, views.half_width);
        scatter(pixels + dy * tile * lanes, lanes, taps, count, nx, sinogram + (v - first) * view_stride,
                view_stride);
      }
  }
}

}  // namespace tandem::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tandem::kernels::cpu {

HWY_EXPORT(ForwardTile);

namespace {

constexpr Index widest_view_block = 64;  // a tile is interleaved once for so many views

/// Lays a tile of the batch out as (dy, dx, lane). What lies beyond the slice stays as it is, and is not
/// read.
void interleave(Image<const float> volume, const SliceBatch& batch, Index x0, Index y0, Index nx, Index ny,
                float* pixels) {
  for (Index dy = 0; dy < ny; ++dy)
    for (Index dx = 0; dx < nx; ++dx)
      for (Index k = 0; k < batch.slices.size(); ++k)
        pixels[(dy * tile + dx) * batch.lanes + k] = volume(batch.slices.first + k, y0 + dy, x0 + dx);
}

void forward_block(const ParallelViews& views, Range block, const SliceBatch& batch, float alpha,
                   Image<const float> volume, float beta, Image<float> projections) {
  const Index bins = projections.n2, padding = 2 * views.half_width, lanes = batch.lanes;
  Array sinogram(Space({block.size(), bins + 2 * padding, lanes}));
  Array pixels(Space({tile, tile, lanes}));
  for (Index y0 = 0; y0 < volume.n1; y0 += tile)
    for (Index x0 = 0; x0 < volume.n2; x0 += tile) {
      let_interrupt();
      const Index nx = std::min<Index>(tile, volume.n2 - x0), ny = std::min<Index>(tile, volume.n1 - y0);
      interleave(volume, batch, x0, y0, nx, ny, pixels.data());
      TANDEM_DISPATCH(ForwardTile)
      (views, block.first, block.last, pixels.data(), bins, lanes, x0, y0, nx, ny, sinogram.data());
    }
  for (Index v = 0; v < block.size(); ++v)
    for (Index k = 0; k < batch.slices.size(); ++k)
      for (Index bin = 0; bin < bins; ++bin) {
        float& out = projections(block.first + v, batch.slices.first + k, bin);
        const float value = alpha * sinogram.data()[(v * (bins + 2 * padding) + padding + bin) * lanes + k];
        out = beta == 0 ? value : value + beta * out;
      }
}

void parallel_forward(const ParallelViews& views, const Execution&, float alpha, Image<const float> volume,
                      float beta, Image<float> projections, Stream&) {
  for (Index first = 0; first < volume.n0;) {
    const SliceBatch batch = next_batch(first, volume.n0);
    note_launch(forward_name(batch.lanes));
    parallel_for_blocks(projections.n0, widest_view_block, [&](Range block) {
      forward_block(views, block, batch, alpha, volume, beta, projections);
    });
    first = batch.slices.last;
  }
}

std::vector<std::string> names(Device) {
  std::vector<std::string> all{backward_name(1)};
  for (const Index lanes : {1, 2, 4, 8, 16}) all.push_back(forward_name(lanes));
  for (const Index lanes : {4, 8, 16})
    if (lanes > few_slices()) all.push_back(backward_name(lanes));
  return all;
}

/// The memory for rows of a batch, in the views that threads are at or in all views, and for tiles, pixels
/// and weights of each thread.
WorkingMemory working_memory(Precision, Shape volume, Shape projections, Device) {
  const double threads = thread_count(), views = projections[0];
  const double lanes = std::min(widest_batch, 2 * volume[0]);
  const double row = 4 * lanes * (projections[2] + 16), tiles = 4 * 512 * lanes * threads;
  return {row * widest_view_block * threads + tiles, row * views + tiles};
}

}  // namespace

namespace parallel_variants {

ParallelVariant standard() {
  return {.name = "standard",
          .grades = {{Precision::float32, true, bounds::rounding}},
          .forward = parallel_forward,
          .backward = parallel_backward,
          .working_memory = working_memory,
          .kernels = names,
          .coefficient = hat_coefficient};
}

}  // namespace parallel_variants

}  // namespace tandem::kernels::cpu
#endif  // HWY_ONCE
