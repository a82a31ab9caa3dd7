#pragma once

#include "../core/public.hpp"
#include "../core/range.hpp"

namespace TANDEM_PUBLIC tandem {

/// A flat detector. A cell is (row, bin); positions count from 0 at cell centres, fractions allowed.
struct Detector {
  Index bins = 0, rows = 1;
  double bin_pitch = 1, row_pitch = 1;  ///< mm; 1 where nobody knows it: lengths are then in bins
  double axis_bin = 0;                  ///< where the rotation axis falls; centred: (bins - 1) / 2
};

/// How far a detector reaches from the axis to the middle of its last bin, bins; negative for a side that it
/// does not have. `direction`: 1 where the farther side is the one of high bins, else -1.
struct Sides {
  double farther, nearer;
  int direction;
};
Sides sides(const Detector& detector);

/// How many rows become one: 2^level, but one row alone stays as it is.
constexpr Index rows_together(Index rows, int level) { return rows == 1 ? 1 : Index{1} << level; }

/// Bins that a detector lacks on its nearer side; 0 where nearly all rays of a whole turn are seen from both
/// sides.
Index missing_bins(const Detector& detector);

/// Whether one side of a detector lacks more than a tenth of what the other one has.
bool is_aside(const Detector& detector);

/// The part of a detector that some rows and bins make up. @throws GeometryError if it is empty or reaches
/// outside
Detector crop(const Detector& detector, Range rows, Range bins);

/// The detector after averaging 2^level x 2^level cells, see `bin_down` of a scan. @throws GeometryError if
/// there are fewer cells than that
Detector bin_down(const Detector& detector, int level, bool pitch_known);

/// A position among cells, counted in cells of f times their size.
constexpr double binned_position(double position, Index f) {
  return (position + 0.5) / static_cast<double>(f) - 0.5;
}

/// @throws GeometryError for an axis that is more than the detector's width outside its bins.
void require_axis(const Detector& detector, double axis_bin);

/// @throws GeometryError naming the field, its value and its unit.
void validate(const Detector& detector);

}  // namespace tandem
