#include "mass_moves.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "../counts/open_ends.hpp"

namespace tandem::calibration {

namespace {

/// The mass of a row of a view above the air at its ends, and its moment by bins.
struct Mass {
  double mass = 0, moment = 0;
  Mass& operator+=(const Mass& other) {
    mass += other.mass, moment += other.moment;
    return *this;
  }
};

Mass mass_of(const float* line, Index bins, double air) {
  Mass all;
  for (Index bin = 0; bin < bins; ++bin) all += {line[bin] - air, (line[bin] - air) * bin};
  return all;
}

/// The masses of the rows of all views, by (view, row); empty if a row does not come down to air.
std::vector<Mass> masses_of(const FrameStack& frames) {
  constexpr double open = 0.2;  // by which one end is above the other one, as a share of the mean
  const Index views = frames.views(), rows = frames.rows, bins = frames.bins;
  const Image<const float> y{frames.values.data(), views, rows, bins, rows * bins, bins};
  std::vector<pipeline::Level> levels;
  double mean = 0;
  for (Index row = 0; row < rows; ++row) {
    const pipeline::Level& level = levels.emplace_back(pipeline::level_of(y, row));
    mean += (level.mean - 0.5 * (level.low + level.high)) / rows;
  }
  std::vector<Mass> all(views * rows);
  for (Index row = 0; row < rows; ++row) {
    const pipeline::Level& level = levels[row];
    const double air = 0.5 * (level.low + level.high);
    if (std::abs(level.high - level.low) > open * std::max(mean, level.mean - air)) return {};
    for (Index view = 0; view < views; ++view) all[view * rows + row] = mass_of(&y(view, row, 0), bins, air);
  }
  return all;
}

/// The first row behind half of the mass.
Index middle_row(const std::vector<Mass>& masses, Index rows) {
  std::vector<double> of_rows(rows, 0.0);
  double all = 0, sum = 0;
  for (std::size_t k = 0; k < masses.size(); ++k) of_rows[k % rows] += masses[k].mass, all += masses[k].mass;
  Index row = 0;
  while (row < rows && sum < 0.5 * all) sum += of_rows[row++];
  return row;
}

/// Where views lie along bins by the masses of some rows.
std::vector<ViewMove> moves_by(const std::vector<Mass>& masses, Index rows, Range some, const Scan& scan) {
  std::vector<ViewMove> moves;
  for (std::size_t view = 0; view < masses.size() / rows; ++view) {
    Mass all;
    for (Index row = some.first; row < some.last; ++row) all += masses[view * rows + row];
    moves.push_back({all.mass > 0 ? all.moment / all.mass : 0, 0, 0});
  }
  subtract_common_moves(moves, scan);
  return moves;
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum / a.size();
}

}  // namespace

std::optional<double> off_by_mass(const FrameStack& frames, const Scan& scan, const ViewMoves& found) {
  constexpr double least = 0.1, alike = 0.8, clearly = 3;  // bins; a correlation; uncertainties
  constexpr Index fewest = 12;                             // bins
  if (frames.bin_angle != 0 || frames.bins < fewest || found.verdict[at(Move::bins)] == Verdict::flat)
    return std::nullopt;
  const std::vector<Mass> masses = masses_of(frames);
  if (masses.empty()) return std::nullopt;
  const Index middle = middle_row(masses, frames.rows);
  std::array<std::vector<double>, 2> off;
  const std::array halves{Range{0, middle}, Range{middle, frames.rows}};
  for (std::size_t half = 0; half < 2; ++half) {
    const std::vector<ViewMove> moves = moves_by(masses, frames.rows, halves[half], scan);
    for (std::size_t v = 0; v < moves.size(); ++v)
      off[half].push_back(moves[v][at(Move::bins)] - found.moves[v][at(Move::bins)]);
  }
  double uncertainty = 0;
  for (const ViewMove& each : found.uncertainty)
    uncertainty += std::pow(each[at(Move::bins)], 2) / found.uncertainty.size();
  const double both = product(off[0], off[1]),
               apart = std::sqrt(product(off[0], off[0]) * product(off[1], off[1]));
  const double rms = std::sqrt(std::max(0.0, both));
  if (!(both > alike * apart && rms > least && rms > clearly * std::sqrt(uncertainty))) return std::nullopt;
  return rms;
}

}  // namespace tandem::calibration
