#include "plane.hpp"

#include "../../../core/ceil_div.hpp"
#include "../../../core/parallel.hpp"

namespace tandem::pipeline::stripes {

Plane transposed(const Plane& plane) {
  Plane turned(plane.columns, plane.rows);
  constexpr Index tile = 32;  // squares that stay in the cache
  parallel_for(ceil_div(plane.columns, tile), [&](Index strip) {
    const Index first = strip * tile, last = std::min(first + tile, plane.columns);
    for (Index r = 0; r < plane.rows; r += tile)
      for (Index c = first; c < last; ++c)
        for (Index k = r; k < std::min(r + tile, plane.rows); ++k) turned(c, k) = plane(k, c);
  });
  return turned;
}

Plane cropped(const Plane& plane, Index rows, Index columns) {
  Plane inner(plane.rows - 2 * rows, plane.columns - 2 * columns);
  for (Index r = 0; r < inner.rows; ++r)
    std::copy_n(plane.row(r + rows) + columns, inner.columns, inner.row(r));
  return inner;
}

}  // namespace tandem::pipeline::stripes
