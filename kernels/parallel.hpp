#pragma once

#include <algorithm>
#include <cmath>

#include "../geometry/views.hpp"
#include "variant.hpp"

namespace tandem::kernels {

/// A parallel-beam projector and its transpose, without the factor `ParallelViews::scale`. Slice k is row k.
using ParallelVariant = Variant<ParallelViews>;

/// The variants of a device. @throws DeviceError if the build lacks the backend, or if the device is not
/// here.
Table<ParallelViews> parallel(Device device);

/// The hat of the view, which is the coefficient of all variants that do not name another one.
inline double hat_coefficient(const ParallelViews& views, Index view, Index x, Index y, Index bin) {
  const ParallelView& v = views.views[view];
  const double h = v.origin + v.step_x * x + v.step_y * y;
  return views.scale * std::max(0.0, v.height - v.slope * std::abs(h - bin));
}

}  // namespace tandem::kernels
