#pragma once

#include <cstddef>
#include <vector>

#include "../../core/space.hpp"

namespace tandem::test {

/// A stack (i, j, k) with one of its axes as the first one; or back.
inline std::vector<float> axis_first(const std::vector<float>& from, Shape n, int axis, bool back = false) {
  std::vector<float> to(from.size());
  std::size_t at = 0;
  const Index outer = n[static_cast<std::size_t>(axis)];
  for (Index a = 0; a < outer; ++a)
    for (Index i = 0; i < n[0]; ++i)
      for (Index j = 0; j < n[1]; ++j)
        for (Index k = 0; k < n[2]; ++k) {
          if ((axis == 0 ? i : axis == 1 ? j : k) != a) continue;
          const auto own = static_cast<std::size_t>((i * n[1] + j) * n[2] + k);
          to[back ? own : at] = from[back ? at : own];
          ++at;
        }
  return to;
}

inline Shape with_axis_first(Shape n, int axis) {
  if (axis == 0) return n;
  return axis == 1 ? Shape{n[1], n[0], n[2]} : Shape{n[2], n[0], n[1]};
}

}  // namespace tandem::test
