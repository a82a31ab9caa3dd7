// Back-projection: volume(y, x) = sum over views of weight0 q[bin] + weight1 q[bin + 1], a gather.
//
// Loop order: tiles of pixels, each by one thread; blocks of views, so that the tile's window of the sinogram
// stays in the first cache; rows of the tile; four pixels; views; slices, which are the SIMD lanes; of
// few slices, pixels are the lanes. A pixel's sum runs over the views in their order, whatever the batch, so
// the bits do not depend on it.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/parallel_backward.cpp"
#include <hwy/foreach_target.h>  // must come before the next

#include "../../core/rounding.hpp"
#include "hat-inl.hpp"
#include "near_by-inl.hpp"

#include <vector>

#include "../../core/parallel.hpp"
#include "dispatch.hpp"
#include "parallel.hpp"

HWY_BEFORE_NAMESPACE();
namespace tandem::kernels::cpu::HWY_NAMESPACE {

constexpr int view_block = 16;
constexpr int group = 4;  // pixels that are summed at once

/// `vectors` accumulators for each of `group` pixels, over a block of views.
template <int vectors, class D>
HWY_INLINE void sum_pixels(D d, const float* sinogram, Index view_stride, Index lanes, const RowTaps* taps,
                           int views, int x, float* sum) {
  using V = hn::Vec<D>;
  const Index width = hn::Lanes(d);
  V total[group][vectors];
  for (int p = 0; p < group; ++p)
    for (int k = 0; k < vectors; ++k) total[p][k] = hn::Load(d, sum + p * lanes + k * width);
  for (int v = 0; v < views; ++v) {
    const RowTaps& t = taps[v];
    const float* row = sinogram + v * view_stride;
    for (int p = 0; p < group; ++p) {
      const float* q = row + t.bin[x + p] * lanes;
      const V w0 = hn::Set(d, t.weight0[x + p]), w1 = hn::Set(d, t.weight1[x + p]);
      for (int k = 0; k < vectors; ++k) {
        total[p][k] = hn::MulAdd(w0, hn::Load(d, q + k * width), total[p][k]);
        total[p][k] = hn::MulAdd(w1, hn::Load(d, q + lanes + k * width), total[p][k]);
      }
    }
  }
  for (int p = 0; p < group; ++p)
    for (int k = 0; k < vectors; ++k) hn::Store(total[p][k], d, sum + p * lanes + k * width);
}

/// Slices side by side: a row of the tile, all lanes.
template <int width>
HWY_INLINE void sum_row(const float* sinogram, Index view_stride, Index lanes, const RowTaps* taps, int views,
                        float* sum) {
  const hn::CappedTag<float, width> d;
  const Index step = hn::Lanes(d);
  constexpr int most =
      HWY_MAX_BYTES >= 64 ? 4 : 2;  // accumulators that fit the register file beside the rest
  for (int x = 0; x < tile; x += group) {
    Index k = 0;
    for (; k + most * step <= lanes; k += most * step)
      sum_pixels<most>(d, sinogram + k, view_stride, lanes, taps, views, x, sum + x * lanes + k);
    for (; k < lanes; k += step)
      sum_pixels<1>(d, sinogram + k, view_stride, lanes, taps, views, x, sum + x * lanes + k);
  }
}

/// Few slices, one after the other: pixels are the lanes.
HWY_INLINE void sum_row_of_slices(const float* sinogram, Index row_stride, Index slices, const RowTaps* taps,
                                  int views, float* sum) {
  using Pixels = hn::CappedTag<float, tile>;
  const Pixels d;
  for (Index k = 0; k < slices; ++k)
    for (std::size_t x = 0; x < tile; x += hn::Lanes(d)) {
      auto total = hn::Load(d, sum + k * tile + x);
      for (int v = 0; v < views; ++v) {
        const float* row = sinogram + (v * slices + k) * row_stride;
        const NearBy<Pixels> pixels(row, taps[v].bin + x, 1);
        total = hn::MulAdd(hn::Load(d, taps[v].weight0 + x), pixels.at(0), total);
        total = hn::MulAdd(hn::Load(d, taps[v].weight1 + x), pixels.at(1), total);
      }
      hn::Store(total, d, sum + k * tile + x);
    }
}

Index FewSlices() { return HWY_TARGET <= HWY_AVX3 ? 4 : 2; }

void BackwardTile(const ParallelViews& views, const float* sinogram, Index bins, Index lanes, Index x0,
                  Index y0, Index rows, float* sum) {
  const Index view_stride = padded_bins(bins, views.half_width) * lanes;
  const int count = int_of(views.views.size());
  std::vector<TileView> at;
  at.reserve(view_block);
  RowTaps taps[view_block];
  for (int pair = 0; pair < views.half_width; ++pair)
    for (int first = 0; first < count; first += view_block) {
      const int block = std::min(view_block, count - first);
      at.clear();
      for (int v = 0; v < block; ++v) at.emplace_back(views.views[first + v], x0, y0, bins, views.half_width);
      const float* window = sinogram + first * view_stride;
      for (int dy = 0; dy < rows; ++dy) {
        for (int v = 0; v < block; ++v) taps[v].compute(at[v], dy, pair, views.half_width);
        float* row = sum + dy * tile * lanes;
        if (lanes <= FewSlices())
          sum_row_of_slices(window, view_stride / lanes, lanes, taps, block, row);
        else if (lanes == 4)
          sum_row<4>(window, view_stride, lanes, taps, block, row);
        else if (lanes == 8)
          sum_row<8>(window, view_stride, lanes, taps, block, row);
        else
          sum_row<16>(window, view_stride, lanes, taps, block, row);
      }
    }
}

}  // namespace tandem::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tandem::kernels::cpu {

HWY_EXPORT(BackwardTile);
HWY_EXPORT(FewSlices);

namespace {

/// Projections (view, row, bin) of a batch as (view, padded bin, lane), or as (view, lane, padded bin) where
/// pixels are the lanes.
void interleave(Image<const float> projections, const SliceBatch& batch, bool by_pixels, int half_width,
                float* sinogram) {
  const Index bins = projections.n2, padded = bins + 4 * half_width;
  const Index of_bin = by_pixels ? 1 : batch.lanes, of_slice = by_pixels ? padded : 1;
  parallel_for(projections.n0, [&](Index view) {
    float* row = sinogram + view * padded * batch.lanes;
    std::fill_n(row, padded * batch.lanes, 0.0f);
    row += 2 * half_width * of_bin;
    for (Index bin = 0; bin < bins; ++bin)
      for (Index k = 0; k < batch.slices.size(); ++k)
        row[bin * of_bin + k * of_slice] = projections(view, batch.slices.first + k, bin);
  });
}

}  // namespace

Index few_slices() { return TANDEM_DISPATCH(FewSlices)(); }

void parallel_backward(const ParallelViews& views, const Execution&, float alpha,
                       Image<const float> projections, float beta, Image<float> volume, Stream&) {
  const Index tiles_x = (volume.n2 + tile - 1) / tile, tiles_y = (volume.n1 + tile - 1) / tile;
  const Index bins = projections.n2;
  for (Index first = 0; first < volume.n0;) {
    const SliceBatch batch = next_batch(first, volume.n0);
    const Index lanes = batch.lanes;
    const bool by_pixels = lanes <= few_slices();
    note_launch(backward_name(by_pixels ? 1 : lanes));
    constexpr Index read_beyond = 2 * tile;
    Array sinogram(Space({1, 1, projections.n0 * (bins + 4 * views.half_width) * lanes + read_beyond}));
    interleave(projections, batch, by_pixels, views.half_width, sinogram.data());
    parallel_for(tiles_x * tiles_y, [&](Index t) {
      const Index x0 = t % tiles_x * tile, y0 = t / tiles_x * tile;
      const Index nx = std::min<Index>(tile, volume.n2 - x0), ny = std::min<Index>(tile, volume.n1 - y0);
      Array sum(Space({tile, tile, lanes}));
      TANDEM_DISPATCH(BackwardTile)(views, sinogram.data(), bins, lanes, x0, y0, ny, sum.data());
      for (Index k = 0; k < batch.slices.size(); ++k)
        for (Index dy = 0; dy < ny; ++dy)
          for (Index dx = 0; dx < nx; ++dx) {
            float& out = volume(batch.slices.first + k, y0 + dy, x0 + dx);
            const Index place = by_pixels ? (dy * lanes + k) * tile + dx : (dy * tile + dx) * lanes + k;
            const float value = alpha * sum.data()[place];
            out = beta == 0 ? value : value + beta * out;
          }
    });
    first = batch.slices.last;
  }
}

}  // namespace tandem::kernels::cpu
#endif  // HWY_ONCE
