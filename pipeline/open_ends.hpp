#pragma once

#include <string>

#include "../core/array.hpp"
#include "../geometry/scan.hpp"

namespace tandem::pipeline {

/// Line integrals of a row, means over views: at the ends of the detector, medians over some bins, so that a
/// few dead ones do not matter; and over all bins.
struct Level {
  double low = 0, high = 0, mean = 0;
};

/// Of one row of (view, row, bin), from up to 64 views. @pre at least 12 bins
Level level_of(Image<const float> y, Index row);

/// Whether a row that has this mean does not come down to air at an end, both over the air's own level.
bool above_air(double end, double mean);

/// Rows whose line integrals do not come down to air's at the ends of the detector: their sample reaches
/// beyond the field of view, or their flats are brighter than the air. Adds up over chunks of rows.
class OpenEnds {
 public:
  /// Line integrals (view, row, bin) of some rows, on the CPU. Up to 64 views of each are looked at. Both
  /// ends have to be open. Where the axis lies aside the nearer one counts alone, or, if what it lacks is
  /// made up for by opposite views (half acquisition), the farther one.
  void look_at(const Array& y, const Scan& scan, bool nearer_made_up_for);

  /// One line that names the remedy; empty if all rows come down.
  std::string warning() const;

 private:
  Index rows_ = 0, open_ = 0;
  double ends_ = 0, means_ = 0;  ///< line integrals, sums over open rows
};

}  // namespace tandem::pipeline
