#pragma once

#include "host_device.hpp"

namespace tandem {

/// How many pieces of b make up a.
template <class T>
TANDEM_HOST_DEVICE constexpr T ceil_div(T a, T b) {
  return (a + b - 1) / b;
}

}  // namespace tandem
