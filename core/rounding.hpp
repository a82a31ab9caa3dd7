#pragma once

#include <cmath>

#include "error.hpp"
#include "host_device.hpp"
#include "space.hpp"

namespace tandem {

/// The next whole number below or above a position. @pre |x| < 2^63, so that an `Index` holds it
TANDEM_HOST_DEVICE inline Index floor_index(double x) { return static_cast<Index>(std::floor(x)); }
TANDEM_HOST_DEVICE inline Index ceil_index(double x) { return static_cast<Index>(std::ceil(x)); }

/// The same, where an `int` holds it. @pre |x| < 2^31
template <class Real>
TANDEM_HOST_DEVICE int floor_int(Real x) {
  return static_cast<int>(std::floor(x));
}
template <class Real>
TANDEM_HOST_DEVICE int ceil_int(Real x) {
  return static_cast<int>(std::ceil(x));
}

/// The smaller one of a small count and of what is left.
TANDEM_HOST_DEVICE constexpr int at_most(int count, Index left) {
  return static_cast<int>(left < count ? left : count);
}

/// A count or a place as kernels hold it. @throws SpaceError unless an `int` holds it
inline int int_of(Index n) {
  const auto small = static_cast<int>(n);
  require<SpaceError>(small == n, "kernels: a count of ", n,
                      "; they take at most 2147483647: use less at once");
  return small;
}

}  // namespace tandem
