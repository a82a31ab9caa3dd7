#pragma once

#include <cstdint>

#include "tandem/core/array.hpp"

namespace tandem {

/// Equal on every machine. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
/// 2014.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  float uniform() { return static_cast<float>(bits() >> 40) * 0x1p-24f; }  ///< [0, 1)
  float sign() { return bits() >> 63 ? 1.0f : -1.0f; }

 private:
  std::uint64_t state_;
};

inline Array uniform_array(Space space, Random& random) {
  Array a(std::move(space));
  for (Index i = 0; i < a.size(); ++i) a.data()[i] = random.uniform();
  return a;
}

inline Array sign_array(Space space, Random& random) {
  Array a(std::move(space));
  for (Index i = 0; i < a.size(); ++i) a.data()[i] = random.sign();
  return a;
}

}  // namespace tandem
