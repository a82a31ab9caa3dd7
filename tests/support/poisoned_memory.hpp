#pragma once

#include <malloc.h>

#include <algorithm>
#include <cmath>

#include "../../core/array.hpp"

namespace tandem::test {

/// While it lives, memory of the host that is asked for is full of NaN, so that code that reads what nobody
/// has set gives itself away. Other allocators than glibc's take no notice: `works`.
class PoisonedMemory {
 public:
  PoisonedMemory() { mallopt(M_PERTURB, 0x100); }  // the complement of the last byte: all ones
  ~PoisonedMemory() { mallopt(M_PERTURB, 0); }
  PoisonedMemory(const PoisonedMemory&) = delete;
  PoisonedMemory& operator=(const PoisonedMemory&) = delete;
  static bool works() {
    const PoisonedMemory poisoned;
    for (const Index n : {1, 7, 101, 4099, 1 << 20}) {  // large ones may be pinned, if there is a GPU
      const Array fresh(Space({1, 1, n}), default_stream(Device::cpu()));
      if (!std::all_of(fresh.data(), fresh.data() + n, [](float v) { return std::isnan(v); })) return false;
    }
    return true;
  }
};

}  // namespace tandem::test
