#pragma once

#include <algorithm>

#include "../../core/ceil_div.hpp"
#include "../../core/space.hpp"

namespace tandem::kernels::cpu {

constexpr Index column_tile = 8;      ///< columns along each edge of a tile
constexpr Index widest_vector = 16;   ///< numbers; columns lie that far apart, or a multiple
constexpr Index profile_margin = 80;  ///< zeros on both sides of a profile: five vectors

constexpr Index whole_vectors(Index count) { return ceil_div(count, widest_vector) * widest_vector; }

/// Columns of voxels that are worked on together; `column(ix, iy)` is where one stands among them.
struct ColumnTile {
  Range x, y;
  Index slices;

  static Index count(Shape volume) {
    return ceil_div(volume[1], column_tile) * ceil_div(volume[2], column_tile);
  }
  ColumnTile(Shape volume, Index which) : slices(volume[0]) {
    const Index across = ceil_div(volume[2], column_tile);
    const auto from = [](Index tile, Index end) {
      return Range{tile * column_tile, std::min(end, (tile + 1) * column_tile)};
    };
    x = from(which % across, volume[2]), y = from(which / across, volume[1]);
  }
  Index column(Index ix, Index iy) const { return (iy - y.first) * column_tile + ix - x.first; }
  Index stride() const { return whole_vectors(slices) + 2 * profile_margin; }
};

/// A view as (bin, row), rows padded to whole vectors.
struct TurnedView {
  Index bins, rows;

  Index stride() const { return whole_vectors(rows); }
  Index size() const { return bins * stride(); }
};

}  // namespace tandem::kernels::cpu
