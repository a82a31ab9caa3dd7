#pragma once

#include "host_device.hpp"

namespace tandem {

/// a / b rounded up, for a >= 0 and b > 0.
template <class T>
TANDEM_HOST_DEVICE constexpr T ceil_div(T a, T b) {
  return (a + b - 1) / b;
}

}  // namespace tandem
