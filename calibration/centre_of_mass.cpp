#include "ways.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "../counts/open_ends.hpp"

namespace tandem::calibration {

namespace {

std::vector<pipeline::Level> levels_of(const Rays& rays) {
  const Index views = rays.angles.size();
  const Image<const float> y{rays.line_integrals.data(), views,    rays.rows, rays.bins,
                             rays.rows * rays.bins,      rays.bins};
  std::vector<pipeline::Level> levels;
  for (Index row = 0; row < rays.rows; ++row) levels.push_back(pipeline::level_of(y, row));
  return levels;
}

/// The first one of three unknowns, from normal equations whose rows are (matrix, right side).
double first_of(std::array<std::array<double, 4>, 3> normal) {
  for (std::size_t i = 2; i > 0; --i)
    for (std::size_t j = 0; j < i; ++j) {
      const double share = normal[j][i] / normal[i][i];
      for (std::size_t k = 0; k < 4; ++k) normal[j][k] -= share * normal[i][k];
    }
  return normal[0][3] / normal[0][0];
}

}  // namespace

MassAxis axis_by_mass(const Rays& rays) {
  const std::vector<pipeline::Level> levels = levels_of(rays);
  std::array<std::array<double, 4>, 3> normal{};  // equations of moment = mass (axis + a cos + b sin)
  for (std::size_t v = 0; v < rays.angles.size(); ++v) {
    double mass = 0, moment = 0;
    for (Index row = 0; row < rays.rows; ++row) {
      const float* y = rays.line_integrals.data() + (v * rays.rows + row) * rays.bins;
      const pipeline::Level& level = levels[row];
      for (Index bin = 0; bin < rays.bins; ++bin) {
        const double value = y[bin] - std::min(level.low, level.high);
        mass += value, moment += value * bin;
      }
    }
    const std::array terms{mass, mass * std::cos(rays.angles[v]), mass * std::sin(rays.angles[v]), moment};
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 4; ++j) normal[i][j] += terms[i] * terms[j];
  }
  const auto cut_off = [](const pipeline::Level& level) {
    const double lower = std::min(level.low, level.high);
    return pipeline::above_air(std::max(level.low, level.high) - lower, level.mean - lower);
  };
  return {first_of(normal), std::any_of(levels.begin(), levels.end(), cut_off)};
}

}  // namespace tandem::calibration
