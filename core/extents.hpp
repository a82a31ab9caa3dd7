#pragma once

#include "space.hpp"

namespace tandem {

/// Whether positive extents have at most 2^60 elements, so that elements and bytes can be counted in an
/// `Index`.
inline bool countable(const Shape& n) {
  constexpr Index most = Index{1} << 60;
  return n[0] <= most / n[1] && n[0] * n[1] <= most / n[2];
}

}  // namespace tandem
