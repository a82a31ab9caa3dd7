#pragma once

#include <malloc.h>

#include <cmath>

#include "../../core/array.hpp"

namespace tandem::test {

/// While it lives, memory of the host that is asked for is full of NaN, so that whoever reads what nobody has
/// set gives that away. Other allocators than glibc's take no notice: `works`.
class PoisonedMemory {
 public:
  PoisonedMemory() { mallopt(M_PERTURB, 0x100); }  // the complement of the last byte: all ones
  ~PoisonedMemory() { mallopt(M_PERTURB, 0); }
  PoisonedMemory(const PoisonedMemory&) = delete;
  PoisonedMemory& operator=(const PoisonedMemory&) = delete;
  static bool works() {
    const PoisonedMemory poisoned;
    const Array fresh(Space({1, 1, 4099}), default_stream(Device::cpu()));
    return std::isnan(fresh.data()[0]) && std::isnan(fresh.data()[fresh.size() - 1]);
  }
};

}  // namespace tandem::test
