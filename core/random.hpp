#pragma once

#include <cstdint>

#include "public.hpp"

namespace TANDEM_PUBLIC tandem {

/// SplitMix64 (Steele, Lea and Flood 2014), which has the same bits on every machine. `at` starts a separate
/// sequence for a cell, so that its numbers do not depend on the order of the cells.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  Random at(std::uint64_t key) const { return Random(mixed(state_ ^ mixed(key + golden))); }
  std::uint64_t bits() { return mixed(state_ += golden); }
  double uniform() { return ((bits() >> 11) + 0.5) * 0x1p-53; }  ///< in (0, 1), ends excluded

 private:
  static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
  static constexpr std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

}  // namespace tandem
