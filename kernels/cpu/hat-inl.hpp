// The hat footprint in vector form, once for every SIMD target (no include guard but Highway's own).
#if defined(TANDEM_KERNELS_CPU_HAT_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_KERNELS_CPU_HAT_INL_HPP_
#undef TANDEM_KERNELS_CPU_HAT_INL_HPP_
#else
#define TANDEM_KERNELS_CPU_HAT_INL_HPP_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "../../geometry/views.hpp"
#include "batches.hpp"

HWY_BEFORE_NAMESPACE();
namespace tandem::kernels::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Rows of a sinogram in a kernel's own layout have 2 * half_width empty bins at both ends: a position is
/// clamped into them, so that no tap needs a test.
inline Index padded_bins(Index bins, int half_width) { return bins + 4 * half_width; }

/// The place where a tile meets a view, split so that float holds what varies within the tile: the position
/// of pixel (dx, dy) is `bin` + offset + step_x dx + step_y dy, and float rounding is a part of the tile, not
/// of the detector.
struct TileView {
  int bin;  ///< in padded bins
  float offset, step_x, step_y, lowest, highest, height, slope;

  TileView(const ParallelView& view, Index x0, Index y0, Index bins, int half_width)
      : step_x(static_cast<float>(view.step_x)),
        step_y(static_cast<float>(view.step_y)),
        height(view.height),
        slope(view.slope) {
    const double position = view.origin + view.step_x * x0 + view.step_y * y0;
    // far outside, the tile sees nothing but padding wherever it is put
    const double far = 4.0 * tile * (std::abs(view.step_x) + std::abs(view.step_y)) + 4.0 * half_width + 4;
    const double kept = std::clamp(position, -far, bins + far);
    const double whole = std::floor(kept);
    offset = static_cast<float>(kept - whole);
    lowest = static_cast<float>(-0.5 - half_width - whole);
    highest = static_cast<float>(bins - 0.5 + half_width - whole);
    bin = static_cast<int>(whole) + half_width +
          1;  // first tap: it lies half_width - 1 below; padding is 2 half_width
  }
};

/// Two neighbouring taps of each pixel of a tile row: the coefficient with bin h + t is
/// max(0, height - slope |fraction - t|). A hat that reaches `half_width` bins to each side is `half_width`
/// such pairs.
struct RowTaps {
  HWY_ALIGN int32_t bin[tile];
  HWY_ALIGN float weight0[tile], weight1[tile];

  void compute(const TileView& view, int dy, int pair, int half_width) {
    const hn::CappedTag<float, tile> d;
    const hn::RebindToSigned<decltype(d)> di;
    const int lanes = static_cast<int>(hn::Lanes(d));
    const auto row = hn::MulAdd(hn::Set(d, view.step_y), hn::Set(d, dy), hn::Set(d, view.offset));
    const int tap = 2 * pair + 1 - half_width;  // relative to the bin below the position
    for (int x = 0; x < tile; x += lanes) {
      const auto dx = hn::Iota(d, x);
      const auto free = hn::MulAdd(hn::Set(d, view.step_x), dx, row);
      const auto position = hn::Max(hn::Set(d, view.lowest), hn::Min(hn::Set(d, view.highest), free));
      const auto below = hn::Floor(position);
      hn::Store(hn::Add(hn::ConvertTo(di, below), hn::Set(di, view.bin + 2 * pair)), di, bin + x);
      const auto fraction = hn::Sub(position, below);
      const auto hat = [&](int t) {
        const auto distance = hn::Abs(hn::Sub(fraction, hn::Set(d, t)));
        return hn::Max(hn::NegMulAdd(hn::Set(d, view.slope), distance, hn::Set(d, view.height)), hn::Zero(d));
      };
      hn::Store(hat(tap), d, weight0 + x);
      hn::Store(hat(tap + 1), d, weight1 + x);
    }
  }
};

}  // namespace tandem::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
