#pragma once

#include <array>
#include <span>
#include <vector>

namespace tandem::calibration {

/// What one part of the data (a row, a band of frequencies, some neighbouring views) says about the axis: the
/// slope and the curvature of its misfit at the axis of all data.
struct Pull {
  double slope = 0, curvature = 0;
  Pull& operator+=(const Pull& o) {
    slope += o.slope, curvature += o.curvature;
    return *this;
  }
};

/// How much the parts differ about the axis, in bins. It is the sandwich estimate of the standard deviation
/// (Huber 1967), sqrt(sum of squared slopes) / (sum of curvatures). For few parts it is multiplied by 1 + 2 /
/// n. This is about the ratio of Student's 95 % point to the normal one for n >= 2 degrees of freedom. n =
/// (sum of squares)^2 / (sum of fourth powers) is the number of equal parts that would differ as much
/// (Satterthwaite 1946). The spread is 0 for a single part. It is infinite if all parts together do not tell
/// the axis.
double spread(std::span<const Pull> parts);

/// The largest spread of several ways to part the same data, but at least `floor`, in bins. The floor is for
/// an error that no parting shows: the axis and edges fall between samples.
double widest_spread(std::span<const std::vector<Pull>> partings, double floor);

struct Trial {
  double axis, misfit;
};

/// A spread that includes other places which fit nearly as well. It is the standard deviation of the axis
/// over trials at equal steps. A trial whose misfit is above the best one by `rise` has the weight exp(-1/2),
/// as for a normal deviate, and other trials follow the same rule. `rise` is the rise of the misfit at one
/// `spread` from the best axis.
double spread_with_rivals(double spread, double rise, const Trial& best, std::span<const Trial> trials);

/// How much axis, roll or midplane spreads by what views, rows and distances from the axis pull it. Sixteen
/// groups of neighbouring views are compared: the noise of groups is independent, although neighbours share
/// the frames between which opposite rays are interpolated, and what is left between rays changes from group
/// to group. Rows and distances tell the spread where their pulls differ by more than chance, since views do
/// not show such an error, and where few views have an opposite one.
double axis_spread(const std::array<std::vector<double>, 3>& pulls);

}  // namespace tandem::calibration
