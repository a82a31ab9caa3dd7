#include "repeated_view.hpp"

#include <cmath>
#include <vector>

#include "axis_misfit.hpp"

namespace tandem::calibration {

namespace {

/// Sums of squares over bins.
struct Differences {
  double repeated = 0, neighbours = 0;
};

/// The differences for one row, from its smoothed lines, over bins whose mirror images are on the detector.
Differences differences(const std::array<std::vector<float>, 4>& line, std::optional<double> axis) {
  const Index bins = line[0].size();
  const auto at = [&](std::size_t view, Index bin) { return double{line[view][bin]}; };
  Differences sum;
  for (Index bin = 0; bin < bins; ++bin) {
    double first = at(0, bin);
    if (axis) {
      const double place = 2 * *axis - bin;
      if (!(place >= 0 && place < bins - 1)) continue;
      const auto low = static_cast<Index>(place);
      const double share = place - low;
      first = (1 - share) * at(0, low) + share * at(0, low + 1);
    }
    sum.repeated += std::pow(at(3, bin) - first, 2);
    sum.neighbours += 0.5 * (std::pow(at(1, bin) - at(0, bin), 2) + std::pow(at(3, bin) - at(2, bin), 2));
  }
  return sum;
}

}  // namespace

bool repeats_first_view(std::span<const float> line_integrals, Shape shape, const std::array<Index, 4>& ends,
                        std::optional<double> axis) {
  const auto [views, rows, bins] = shape;
  const Index factor = averaged(bins);
  if (axis) axis = (*axis + 0.5) / factor - 0.5;
  Differences all;
  for (Index row = 0; row < rows; ++row) {
    std::array<std::vector<float>, 4> lines;
    for (std::size_t k = 0; k < ends.size(); ++k)
      lines[k] = smoothed(line_integrals.data() + (ends[k] * rows + row) * bins, bins, factor);
    const Differences d = differences(lines, axis);
    all.repeated += d.repeated, all.neighbours += d.neighbours;
  }
  return all.repeated < 0.5 * all.neighbours;
}

}  // namespace tandem::calibration
