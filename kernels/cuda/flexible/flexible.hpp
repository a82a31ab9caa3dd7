#pragma once

// The kernels of any geometry, and how their work is divided. Plain C++.

#include <algorithm>

#include "../../../core/array.hpp"
#include "../../../core/device.hpp"
#include "../../../core/execution.hpp"
#include "../../../geometry/flexible_views.hpp"

namespace tandem::kernels::cuda {

/// The most that shadows of a grid need, over all bricks and views that meet: cells on either side of the
/// nearest one, and the cells of a window.
struct Extent {
  int reach, width, height;
};

/// Measured on the device once for these views, this volume and this detector.
Extent extent_of(const FlexibleViews& views, Shape volume, Shape projections, const Stream& stream);

/// Bytes of scratch at most: copies of some views at a time.
constexpr Index most_scratch_of_flexible = Index{1} << 30;

/// Copies begin rows at multiples of four cells.
inline Index padded_bins(Index bins) { return (bins + 3) / 4 * 4; }

/// The views that a pass takes, each a copy with `bytes` a cell.
inline Index views_at_once(Shape projections, Index bytes) {
  const Index view = projections[1] * padded_bins(projections[2]) * bytes;
  constexpr Index most = 4096;
  return std::clamp<Index>(most_scratch_of_flexible / std::max<Index>(view, 1), 1,
                           std::clamp<Index>(projections[0], 1, most));
}

using FlexibleSum = unsigned long long;  ///< a projection adds up in these, one a cell

void flexible_forward(const FlexibleViews& views, const Execution& how, float alpha,
                      Image<const float> volume, float beta, Image<float> projections, Stream& stream);
void flexible_backward(const FlexibleViews& views, const Execution& how, float alpha,
                       Image<const float> projections, float beta, Image<float> volume, Stream& stream);

}  // namespace tandem::kernels::cuda
