#pragma once

// Rows that go on with circles where they do not come down to air (docs/kernels/fdk.md). What a circle is,
// and what it has in a bin, stand only here: backends have loops around these functions.

#include <algorithm>
#include <cmath>
#include <vector>

#include "ramp.hpp"

namespace tandem::kernels {

/// What a round body of one attenuation adds beyond the end that a row tells.
struct Circles {
  double attenuation;         ///< 1/mm
  double bin_mm;              ///< pitch of the bins where they appear at the axis
  Index reach;                ///< bins of the longest tail
  std::vector<double> taper;  ///< what the usual continuation multiplies an end value by, 1, 2, ... bins away
  std::vector<float> shares{};   ///< (row, end): weights of the rays just beyond; empty: 1
  std::vector<float> cosines{};  ///< (row, bin) of the output with `reach` more bins at either end; empty: 1
  RowFilter usual{};             ///< with the usual continuation
  RowFilter ramp{};              ///< that of the circles: it has length, response and moves of rows
  KeptOnDevices kept{};
};

/// Sums over the bins of a row for one of its ends: over all, over those that tell the circle, and the value
/// that usually goes on.
struct EndSums {
  double row = 0, end = 0, squares = 0, slope = 0, usual = 0;
};

/// The square of the line integral of a circle, t mm beyond the last bin, is at_end - fall t - (2 mu t)^2:
/// the circle has the square of the radius R^2 = at_end / (2 mu)^2 + d^2, and its centre lies d = fall / (8
/// mu^2) mm inward.
struct Tail {
  double at_end, fall, usual;  ///< `usual` is multiplied by the taper, and has all weights
  float share;  ///< the weight of its rays; 0: the row comes down to air, or does not count there
  TANDEM_HOST_DEVICE bool open() const { return share != 0; }
};

/// Rows and their circles, as kernels see them. The output has `reach` more bins at either end.
struct CircleRows {
  FilterSides sides;
  EndValues ends;       ///< for the usual continuation
  const float* shares;  ///< as in Circles; null: 1
  const double* taper;
  Index tapered, reach;
  double attenuation, bin_mm;

  /// The bins at an end that tell its circle: a share of the row, as noise is a matter of bins.
  TANDEM_HOST_DEVICE Index bins_of_end() const {
    return std::min(sides.in.bins, std::max<Index>(6, sides.in.bins / 20));
  }
  /// The share of a lane, which takes every `lanes`-th bin. A line is fitted to squares of line integrals
  /// plus (2 mu t)^2, since line integrals themselves bend.
  TANDEM_HOST_DEVICE EndSums sums(const float* line, Index row, int end, Index lane, Index lanes) const {
    EndSums all;
    const Index bins = sides.in.bins, count = bins_of_end();
    for (Index b = lane; b < bins; b += lanes) all.row += line[b];
    for (Index b = lane; b < count; b += lanes) {
      const double p = line[end == low_end ? b : bins - 1 - b], bent = 2 * attenuation * b * bin_mm,
                   square = p * std::abs(p) + bent * bent;
      all.end += p, all.squares += square, all.slope += square * (b - 0.5 * (count - 1));
    }
    for (Index b = lane; b < ends.bins; b += lanes)
      all.usual += static_cast<double>(ends.share(row, end, b)) * line[ends.bin(end, b)];
    return all;
  }
  /// The circle beyond an end of a row. The end is open by the limits of `above_air` (counts/open_ends.hpp),
  /// line by line: both the mean of the last bins, which bears noise, and what their circle has at the last
  /// bin, which is near zero where a body just fits the field.
  TANDEM_HOST_DEVICE Tail tail(const EndSums& of, Index view, Index row, int end) const {
    constexpr double air = 0.05, of_mean = 0.2;
    const double count = bins_of_end(), norm = count * (count * count - 1) / 12,
                 rise = norm > 0 ? of.slope / norm : 0,  // a bin inward
        at_end = of.squares / count - rise * 0.5 * (count - 1),
                 least = std::max(air, of_mean * of.row / sides.in.bins);
    const float share = sides.in.weight_beyond(view, end) * (shares ? shares[2 * row + end] : 1.0f);
    const bool open = of.end / count > least && at_end > least * least;
    return {at_end, std::max(rise / bin_mm, 0.0), sides.in.rays ? of.usual * share : of.usual,
            open ? share : 0.0f};
  }
  /// What a row has more than usual at place k of the longer output, by the tails at its ends.
  TANDEM_HOST_DEVICE float more(const Tail* tails, Index row, Index k) const {
    for (int end = low_end; end <= high_end; ++end) {
      const Index first = sides.in.first + reach,
                  away = end == low_end ? first - 1 - k : k - first - sides.in.bins;
      if (away < 0 || away >= reach || !tails[end].open()) continue;
      const Tail& tail = tails[end];
      const double t = (away + 1) * bin_mm, bent = 2 * attenuation * t,
                   p = std::sqrt(std::max(tail.at_end - tail.fall * t - bent * bent, 0.0)),
                   usually = away < tapered ? tail.usual * taper[away] : 0;
      const float weight = tail.share * sides.out.weight(0, sides.in.first_row + row, k - reach);
      return static_cast<float>(weight * p - usually);
    }
    return 0;
  }
};

/// The rows of projections of these shapes, whose tables lie at `rays`, `ends`, `shares`, `cosines` and
/// `taper`.
struct CircleTables {
  const float *rays, *ends, *shares, *cosines;
  const double* taper;
};
inline CircleRows rows_of(const Circles& how, const Shape& in, const Shape& out, const CircleTables& at) {
  FilterSides sides = sides_of(how.usual, false, in, out, nullptr, at.rays);
  sides.out.first = how.reach, sides.out.cells_a_row += 2 * how.reach, sides.out.cells = at.cosines;
  return {sides,
          how.usual.beyond.end_values(at.ends),
          at.shares,
          at.taper,
          std::ssize(how.taper),
          how.reach,
          how.attenuation,
          how.bin_mm};
}

}  // namespace tandem::kernels
