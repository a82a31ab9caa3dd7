#pragma once

#include "../core/host_device.hpp"

namespace tandem::kernels {

/// Positions on a line, one for each index, of whatever type the loop counts in.
struct Line {
  double first, step;
  template <class I>
  TANDEM_HOST_DEVICE double at(I i) const {
    return first + step * i;
  }
};

}  // namespace tandem::kernels
