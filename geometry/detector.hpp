#pragma once

#include "../core/public.hpp"
#include "../core/space.hpp"

namespace TANDEM_PUBLIC tandem {

/// A flat detector. A cell is (row, bin). Positions count from 0 at the centres of cells and may be
/// fractions.
struct Detector {
  Index bins = 0, rows = 1;
  double bin_pitch = 1, row_pitch = 1;  ///< mm; 1 if it is not known: lengths are then in bins
  double axis_bin = 0;                  ///< bin where the rotation axis falls; centred: (bins - 1) / 2
};

/// How far a detector reaches from the axis to the middle of its last bin on either side, in bins. The value
/// is negative if the detector does not have that side. `direction` is 1 if high bins are on the farther
/// side, else -1.
struct Sides {
  double farther, nearer;
  int direction;
};
Sides sides(const Detector& detector);

/// How many rows become one: 2^level, or 1 if there is only one row.
constexpr Index rows_together(Index rows, int level) { return rows == 1 ? 1 : Index{1} << level; }

/// How many bins a detector lacks on its nearer side; 0 if nearly all rays of a whole turn are seen from both
/// sides.
Index missing_bins(const Detector& detector);

/// Whether one side of a detector is more than a tenth shorter than the other.
bool is_aside(const Detector& detector);

/// The part of a detector with these rows and bins. @throws GeometryError if it is empty or reaches outside
Detector crop(const Detector& detector, Range rows, Range bins);

/// The detector after averaging 2^level x 2^level cells; see `bin_down` of a scan. @throws GeometryError if
/// it has fewer cells than that
Detector bin_down(const Detector& detector, int level, bool pitch_known);

/// A position among cells, counted in cells of f times their size.
constexpr double binned_position(double position, Index f) { return (position + 0.5) / f - 0.5; }

/// @throws GeometryError for an axis that is more than the detector's width outside its bins.
void require_axis(const Detector& detector, double axis_bin);
/// The largest distance of such an axis from the detector's axis, bins.
double furthest_axis(const Detector& detector);

/// @throws GeometryError naming the field, its value and its unit.
void validate(const Detector& detector);

}  // namespace tandem
