#pragma once

#include <array>
#include <string>

#include "../core/array.hpp"
#include "../geometry/scan.hpp"

namespace tandem::pipeline {

/// Line integrals of a row as means over views: at the two ends of the detector, and over all bins. At the
/// ends they are medians over some bins, so that a few dead bins do not matter.
struct Level {
  double low = 0, high = 0, mean = 0;
};

/// The level of one row of (view, row, bin), from at most 64 views. @pre there are at least 12 bins
Level level_of(Image<const float> y, Index row);

/// Whether the row does not come down to air at an end. `end` and `mean` are measured from the level of air.
bool above_air(double end, double mean);

/// Counts rows whose line integrals do not come down to those of air at the ends of the detector: the sample
/// reaches beyond the field of view, or the flats are brighter than the air. It adds up over chunks of rows.
class OpenEnds {
 public:
  /// Looks at the line integrals (view, row, bin) of some rows, in at most 64 views of each. Both
  /// ends have to be open. If the axis lies aside, only the nearer end counts. If opposite views make up for
  /// what the nearer end lacks (half acquisition), only the farther end counts.
  /// `outer`: whether the first and the last of the rows, the outermost ones of a cone beam, have to be air.
  /// `transmissions`: y has these, and no line integrals.
  void look_at(const Array& y, const Scan& scan, bool nearer_made_up_for,
               std::array<bool, 2> outer = {false, false}, bool transmissions = false);

  void add(const OpenEnds& others);

  /// The consequence of open ends: the ramp filter continues rows beyond them with a taper or with a circle,
  /// or does not, or a solver has nowhere to put what it sees of the outside.
  enum class Method { continues, goes_round, cuts, solves };
  /// One line that names the remedy; empty if all rows come down to air. `cause`: what is known to be the
  /// cause; empty if it is that the sample is cut off, or that flats are too bright.
  std::string warning(Method method, const std::string& cause = {}) const;
  /// The same for the outermost rows, with what follows (`consequence`); empty also if nothing does.
  std::string warning_of_outer_rows(const std::string& consequence) const;
  /// Says that the air at the ends reads below zero, as it does if flats are darker than the views, or, of
  /// line integrals that were given, if they have an offset; empty if at most half of the rows do.
  std::string warning_of_low_ends(bool of_counts) const;

 private:
  Index rows_ = 0, open_ = 0;
  double ends_ = 0, means_ = 0;       ///< line integrals, sums over open rows
  Index below_ = 0;                   ///< rows whose ends read below zero
  double below_ends_ = 0;             ///< the sum over these
  double outer_ = 0, all_means_ = 0;  ///< the largest mean of an outermost row; the sum over all rows
};

}  // namespace tandem::pipeline
