#pragma once

#include <algorithm>

#include "../../core/ceil_div.hpp"
#include "../cone.hpp"
#include "slants.hpp"

// Separable footprints for detectors of few rows, above all fan beams.

namespace tandem::kernels::cpu {

constexpr Index most_of_few = 15;  ///< rows; for more, it pays to make rows the lanes
constexpr int few_tile = 16;       ///< columns along each edge of a tile

/// Columns of voxels that are worked on together.
struct FewRowsTile {
  Range x, y;

  static Index count(Shape volume) {
    return ceil_div<Index>(volume[1], few_tile) * ceil_div<Index>(volume[2], few_tile);
  }
  FewRowsTile(Shape volume, Index which) {
    const Index across = ceil_div<Index>(volume[2], few_tile);
    const auto from = [](Index tile, Index end) {
      return Range{tile * few_tile, std::min(end, (tile + 1) * few_tile)};
    };
    x = from(which % across, volume[2]), y = from(which / across, volume[1]);
  }
  static double middle(Range r) { return 0.5 * (r.first + r.last - 1); }
};

/// Rows of cells (view, row, bin) with zeros behind their bins, so that what is beyond needs no test.
struct FewRows {
  const float* cells;
  Index rows, bins;

  static Index padded(Index bins) { return bins + 3 * few_tile; }
  Index place(Index view, Index row) const { return (view * rows + row) * padded(bins); }
  const float* row(Index view, Index which) const { return cells + place(view, which); }
};

/// The functions of a variant.
void few_rows_forward(const ConeViews& n, const Slants& slant, float alpha, Image<const float> volume,
                      float beta, Image<float> projections);
void few_rows_backward(const ConeViews& n, const Slants& slant, float alpha, Image<const float> projections,
                       float beta, Image<float> volume);
WorkingMemory few_rows_memory(Shape volume, Shape projections);

}  // namespace tandem::kernels::cpu
