#include "slow_moves.hpp"

#include <algorithm>
#include <cmath>

#include "../geometry/fitted_orbit.hpp"

namespace tandem::calibration {

namespace {

constexpr int highest = 8;           // waves a turn: of more the volume follows little
constexpr int most_half_waves = 24;  // over an arc or a helix
constexpr double amplitude = 0.05;   // cells: a reprojection goes with it in proportion

/// How far views are along their arc, from the end of the widest gap, rad.
std::vector<double> along_arc(const FittedOrbit& orbit) {
  std::vector<double> sorted = orbit.angles, along;
  if (!orbit.goes_on)
    for (double& angle : sorted) angle -= whole_turn * std::floor(angle / whole_turn);
  const std::vector<double> angles = sorted;
  std::ranges::sort(sorted);
  double from = sorted.front(), widest = sorted.front() + whole_turn - sorted.back();
  for (std::size_t k = 1; k < sorted.size() && !orbit.goes_on; ++k)
    if (const double gap = sorted[k] - sorted[k - 1]; gap > widest) from = sorted[k], widest = gap;
  for (const double angle : angles) along.push_back(angle < from ? angle - from + whole_turn : angle - from);
  return along;
}

/// A wave over the angles of the views. Half waves over an arc have no slope at its ends.
std::vector<double> wave_over(const std::vector<double>& angles, double frequency, double phase) {
  std::vector<double> values;
  for (const double angle : angles) values.push_back(std::cos(frequency * angle - phase));
  return values;
}

double mean_product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum / static_cast<double>(a.size());
}

}  // namespace

SlowMoves::SlowMoves(const Scan& scan, const std::vector<Move>& kinds) {
  const FittedOrbit orbit = fitted_orbit(scan);
  const std::vector<double> angles = along_arc(orbit);
  const double arc = *std::ranges::max_element(angles);
  const bool round = !orbit.goes_on && all_round(orbit.angles);
  const int few = static_cast<int>(views_of(scan) / 4);  // views a wave at least
  const int last = round ? std::min(highest, few)
                         : std::min({most_half_waves, few, static_cast<int>(highest * arc / half_turn)});
  for (const Move kind : kinds)
    for (int k = 1; k <= last && kind != Move::turn; ++k)
      if (round) {
        add(scan, {kind, k, wave_over(angles, k, 0)});
        add(scan, {kind, k, wave_over(angles, k, 0.5 * half_turn)});
      } else {
        add(scan, {kind, k, wave_over(angles, k * half_turn / arc, 0)});
      }
}

/// Adds what of a wave is neither a common move nor in the waves before, unless little is left.
void SlowMoves::add(const Scan& scan, Wave wave) {
  constexpr double little = 0.1;
  std::vector<ViewMove> moves(wave.values.size(), ViewMove{});
  for (std::size_t v = 0; v < moves.size(); ++v) moves[v][at(wave.kind)] = wave.values[v];
  subtract_common_moves(moves, scan);
  for (std::size_t v = 0; v < moves.size(); ++v) wave.values[v] = moves[v][at(wave.kind)];
  for (const Wave& other : waves_) {
    if (other.kind != wave.kind) continue;
    const double share = mean_product(wave.values, other.values);
    for (std::size_t v = 0; v < moves.size(); ++v) wave.values[v] -= share * other.values[v];
  }
  const double square = mean_product(wave.values, wave.values);
  if (square < little) return;
  for (double& value : wave.values) value /= std::sqrt(square);
  waves_.push_back(std::move(wave));
}

double SlowMoves::part(const Wave& wave, const std::vector<ViewMove>& moves) const {
  double sum = 0;
  for (std::size_t v = 0; v < moves.size(); ++v) sum += wave.values[v] * moves[v][at(wave.kind)];
  return sum / static_cast<double>(moves.size());
}

std::vector<ViewMove> SlowMoves::trial(int number) const {
  std::vector<ViewMove> moves(waves_.empty() ? 0 : waves_.front().values.size(), ViewMove{});
  for (const Wave& wave : waves_) {
    if (wave.frequency % trials != number) continue;
    for (std::size_t v = 0; v < moves.size(); ++v) moves[v][at(wave.kind)] += amplitude * wave.values[v];
  }
  return moves;
}

void SlowMoves::learn(int number, const std::vector<ViewMove>& told) {
  constexpr double least = 0.1;  // a share that is smaller is not known
  for (Wave& wave : waves_) {
    if (wave.frequency % trials != number) continue;
    double sum = 0, count = 0;  // sine and cosine are told alike
    for (const Wave& other : waves_)
      if (other.kind == wave.kind && other.frequency == wave.frequency) sum += part(other, told), ++count;
    wave.told = std::max(least, sum / count / amplitude);
  }
}

void SlowMoves::make_whole(std::vector<ViewMove>& steps) const {
  for (const Wave& wave : waves_) {
    const double more = (1 / wave.told - 1) * part(wave, steps);
    for (std::size_t v = 0; v < steps.size(); ++v) steps[v][at(wave.kind)] += more * wave.values[v];
  }
}

void SlowMoves::take_out(std::vector<ViewMove>& pulls, std::vector<ViewMove>& squares) const {
  for (const Wave& wave : waves_) {
    const double pull = part(wave, pulls);
    for (std::size_t v = 0; v < pulls.size(); ++v) {
      pulls[v][at(wave.kind)] -= pull * wave.values[v];
      squares[v][at(wave.kind)] += std::pow(pull / wave.told * wave.values[v], 2);
    }
  }
}

}  // namespace tandem::calibration
