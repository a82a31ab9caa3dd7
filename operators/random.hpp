#pragma once

#include <utility>

#include "tandem/core/array.hpp"
#include "tandem/core/random.hpp"

namespace tandem {

/// Entries in [0, 1], independent and uniform.
inline Array uniform_array(Space space, Random& random) {
  Array a(std::move(space));
  for (Index i = 0; i < a.size(); ++i) a.data()[i] = static_cast<float>(random.uniform());
  return a;
}

/// Entries -1 or 1, independent.
inline Array sign_array(Space space, Random& random) {
  Array a(std::move(space));
  for (Index i = 0; i < a.size(); ++i) a.data()[i] = random.bits() >> 63 ? 1.0f : -1.0f;
  return a;
}

}  // namespace tandem
