#pragma once

#include <span>
#include <vector>

namespace tandem::pipeline {

/// What one part of the data (a row, a band of frequencies, some neighbouring views) says of the axis: slope
/// and curvature of its misfit at the axis of all.
struct Pull {
  double slope = 0, curvature = 0;
  Pull& operator+=(const Pull& o) {
    slope += o.slope, curvature += o.curvature;
    return *this;
  }
};

/// How far parts differ on the axis, bins: the sandwich estimate of its standard deviation (Huber 1967),
/// sqrt(sum of squared slopes) / (sum of curvatures). Few parts know it badly: times 1 + 2 / n, about the
/// ratio of Student's 95 % point to the normal one for n >= 2 degrees of freedom, with
/// n = (sum of squares)^2 / (sum of fourth powers), the number of equal parts that would differ as much
/// (Satterthwaite 1946). 0 for a single part, which has nothing to differ from; infinite where the parts
/// together do not know the axis.
double spread(std::span<const Pull> parts);

/// Of several ways to part the same data the one that differs most, and a floor, in bins, for what no parting
/// shows: axis and edges fall between samples.
double widest_spread(std::span<const std::vector<Pull>> partings, double floor);

/// How badly a trial axis fits.
struct Trial {
  double axis, misfit;
};

/// What other places that fit nearly as well add to a spread: the standard deviation of the axis over trials
/// at equal steps, where a misfit that is higher than the best one by as much as it rises in one spread from
/// there is likely by exp(-1/2), as of a normal deviate, and others by that rule.
double spread_with_rivals(double spread, double rise, const Trial& best, std::span<const Trial> trials);

}  // namespace tandem::pipeline
