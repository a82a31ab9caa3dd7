#include <algorithm>
#include <cmath>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../../core/units.hpp"
#include "complete.hpp"

namespace tandem::pipeline {

namespace {

/// A line through points that have uncertainties: its value at 0 and its slope.
struct FittedLine {
  double value = 0, slope = 0, value_uncertainty = 0, slope_uncertainty = 0;
};

struct Point {
  double x, y, uncertainty;
};

/// Fits a line by least squares. If the points lie farther from it than their uncertainties say, the
/// uncertainties of the line grow.
FittedLine fitted(const std::vector<Point>& points) {
  double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
  for (const Point& p : points) {
    const double weight = 1 / (p.uncertainty * p.uncertainty);
    w += weight, wx += weight * p.x, wy += weight * p.y;
    wxx += weight * p.x * p.x, wxy += weight * p.x * p.y;
  }
  const double determinant = w * wxx - wx * wx;
  FittedLine line{(wxx * wy - wx * wxy) / determinant, (w * wxy - wx * wy) / determinant};
  double chi = 0;
  for (const Point& p : points) chi += std::pow((p.y - line.value - line.slope * p.x) / p.uncertainty, 2);
  const double grown = std::sqrt(std::max(1.0, chi / (points.size() - 2)));
  line.value_uncertainty = grown * std::sqrt(wxx / determinant);
  line.slope_uncertainty = grown * std::sqrt(w / determinant);
  return line;
}

}  // namespace

Roll find_roll(io::ScanReader& reader, Recipe recipe, const calibration::AxisSearch& search, Index count,
               const Listener& listener) {
  const Scan& scan = reader.info().scan;
  const Selection s = selection_of(recipe, reader.info());
  const std::string name = spelled("roll");
  require<GeometryError>(rows_are_slices(scan), name, " goes with a parallel beam");
  require<GeometryError>(s.rows.size() >= 3, name, ": ", s.rows.size(), " rows; at least 3 are needed");
  count = std::clamp<Index>(count, 3, s.rows.size());
  const double middle = 0.5 * (detector_of(scan).rows - 1), unmoved = 0.5 * (s.bins.first + s.bins.last - 1);
  constexpr int rounds = 5;
  constexpr double enough =
      0.0125;  // degrees, one standard deviation: a detector of few rows needs more of them
  Roll roll{};
  for (int k = 0; k < rounds || (roll.uncertainty > enough && count < s.rows.size()); ++k) {
    if (k >= rounds) count = std::min(2 * count, s.rows.size());
    std::vector<Point> axes;
    for (const Index row : calibration::rows_for_axis(scan, s.rows, count)) {
      const calibration::AxisEstimate found = find_axis_in(reader, recipe, search, {row}, listener);
      axes.push_back({row - middle, found.axis_bin, found.uncertainty});
      roll.method = found.method;
    }
    const FittedLine line = fitted(axes);
    const double angle = std::atan(line.slope);
    roll.degrees = in_degrees(angle), roll.uncertainty = in_degrees(line.slope_uncertainty);
    roll.axis_bin = line.value + (line.value - unmoved) * line.slope * line.slope;
    roll.axis_uncertainty = line.value_uncertainty;
    constexpr double most = 2;
    require<GeometryError>(std::abs(roll.degrees) <= most, name, ": the axes of the rows lean by ",
                           roll.degrees, " degrees, more than ", most,
                           "; choose rows with structure, or " + spelled("between") + " A:B");
    option::detector_roll.set(recipe.steps, roll.degrees);
  }
  return roll;
}

}  // namespace tandem::pipeline
