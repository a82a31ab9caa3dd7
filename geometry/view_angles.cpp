#include "view_angles.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "../core/error.hpp"
#include "../core/units.hpp"
#include "circle.hpp"

namespace tandem {

namespace {

constexpr double same = 1e-5;  ///< rad: what files round, also of several turns
constexpr double narrowest_hole = in_radians(15);
constexpr double usual_in_a_hole = 3.5;       ///< steps; two lost neighbours leave three
constexpr double beyond_rounding = 1 + 1e-6;  ///< a factor for limits that gaps may be equal to

double folded(double angle, double period) {
  const double rest = std::fmod(angle, period);
  return rest < 0 ? rest + period : rest;
}

/// Angles modulo the period with their views, rising; those before the widest gap come a period later.
std::vector<std::pair<double, std::size_t>> from_the_widest_gap_on(std::span<const double> angles,
                                                                   double period) {
  std::vector<std::pair<double, std::size_t>> all;
  for (const double angle : angles) all.emplace_back(folded(angle, period), all.size());
  if (all.empty()) return all;
  std::sort(all.begin(), all.end());
  std::size_t first = 0;
  double widest = all.front().first + period - all.back().first;
  for (std::size_t k = 1; k < all.size(); ++k)
    if (const double gap = all[k].first - all[k - 1].first; gap > widest) widest = gap, first = k;
  for (std::size_t k = 0; k < first; ++k) all[k].first += period;
  std::rotate(all.begin(), all.begin() + first, all.end());
  return all;
}

}  // namespace

Circle::Circle(std::span<const double> angles, double period)
    : period_(period), direction_of_(angles.size()) {
  double begins = 0;
  for (const auto& [angle, view] : from_the_widest_gap_on(angles, period)) {
    if (directions_.empty() || angle - begins > same) {
      begins = angle;
      directions_.push_back(0), views_.push_back(0);
    }
    direction_of_[view] = directions_.size() - 1;
    directions_.back() += (angle - directions_.back()) / ++views_.back();  // their mean
  }
  if (directions_.empty()) directions_ = {0}, views_ = {0};
  for (std::size_t k = 1; k < directions_.size(); ++k) gaps_.push_back(directions_[k] - directions_[k - 1]);
  gaps_.push_back(directions_.front() + period - directions_.back());
  std::vector<double> some = gaps_;
  const auto middle = some.begin() + (some.size() - 1) / 2;
  std::nth_element(some.begin(), middle, some.end());
  usual_ = *middle;
}

double Circle::widest_gap_but_one() const {
  return gaps_.size() > 1 ? *std::max_element(gaps_.begin(), gaps_.end() - 1) : 0;
}

bool Circle::is_hole(std::size_t k) const {
  return gaps_[k] > beyond_rounding * std::max(narrowest_hole, usual_in_a_hole * usual_);
}

std::size_t Circle::holes() const {
  std::size_t count = 0;
  for (std::size_t k = 0; k < gaps_.size(); ++k) count += is_hole(k);
  return count;
}

double Circle::widest_filled() const { return beyond_rounding * period_ / 6; }

bool Circle::is_open() const {
  const std::size_t last = gaps_.size() - 1;
  return is_hole(last) && unseen(last) > widest_filled();
}

/// The step of a direction that has a hole on one side and this gap on the other.
double Circle::own_step(std::size_t inner) const { return is_hole(inner) ? usual_ : gaps_[inner]; }

/// The part of a hole beyond the steps of its ends.
double Circle::unseen(std::size_t hole) const {
  const std::size_t count = gaps_.size();
  return gaps_[hole] - 0.5 * (own_step((hole + count - 1) % count) + own_step((hole + 1) % count));
}

std::vector<double> Circle::weights(double filled) const {
  const std::size_t count = directions_.size();
  std::vector<double> own(count);
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t before = (k + count - 1) % count;
    own[k] =
        0.5 * ((is_hole(before) ? own_step(k) : gaps_[before]) + (is_hole(k) ? own_step(before) : gaps_[k]));
  }
  std::vector<double> steps = own;
  for (std::size_t k = 0; k < count; ++k)
    if (is_hole(k) && unseen(k) <= filled) fill(k, own, steps);
  std::vector<double> weights;
  for (const std::size_t k : direction_of_) weights.push_back(steps[k] / views_[k]);
  return weights;
}

/// Each side of a hole takes its half of it: views in proportion to their own steps, times a weight that
/// falls to zero at twice the width of the hole.
void Circle::fill(std::size_t hole, const std::vector<double>& own, std::vector<double>& steps) const {
  const std::size_t count = directions_.size(), next = (hole + 1) % count;
  const double width = gaps_[hole];
  for (const bool up : {false, true}) {
    std::vector<std::pair<std::size_t, double>> near;
    double away = 0, sum = 0;
    for (std::size_t k = up ? next : hole; away < 2 * width && near.size() < count;) {
      near.emplace_back(k, own[k] * (1 - away / (2 * width)));
      sum += near.back().second;
      const std::size_t before = (k + count - 1) % count;
      away += gaps_[up ? k : before];
      k = up ? (k + 1) % count : before;
    }
    const double more = 0.5 * (width - own_step(up ? next : (hole + count - 1) % count));
    for (const auto& [k, part] : near) steps[k] += more * part / sum;
  }
}

double Circle::before_first() const { return 0.5 * own_step(0); }

double Circle::after_last() const {
  const std::size_t count = directions_.size();
  return 0.5 * own_step((2 * count - 2) % count);
}

std::vector<double> view_weights(std::span<const double> angles, double period) {
  const Circle circle(angles, period);
  return circle.weights(circle.widest_filled());
}

double widest_gap(std::span<const double> angles, double period) {
  return Circle(angles, period).widest_gap();
}

bool all_round(std::span<const double> angles) {
  const Circle circle(angles, whole_turn);
  return !circle.is_open() && circle.widest_gap() < half_turn;
}

bool look_like_radians(std::span<const double> angles) {
  constexpr double near = 0.01;  // relative: 3.14 for pi
  if (angles.size() < 3) return false;
  const auto [lowest, highest] = std::minmax_element(angles.begin(), angles.end());
  const double span = in_degrees(*highest - *lowest), step = span / (angles.size() - 1);
  const auto is = [&](double arc, double turn) { return std::abs(arc - turn) < near * turn; };
  for (const double turn : {half_turn, whole_turn})
    if (is(span, turn) || is(span + step, turn)) return true;
  return false;
}

std::vector<Index> order_of_angles(std::span<const double> angles, double period) {
  std::vector<double> all;
  for (const double angle : angles) all.push_back(folded(angle, period));
  std::vector<Index> order(angles.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return all[a] < all[b]; });
  return order;
}

std::vector<double> chosen(const std::vector<double>& all, std::span<const Index> views) {
  std::vector<double> some;
  for (const Index view : views) some.push_back(all[view]);
  return some;
}

std::vector<double> crop(const std::vector<double>& angles, Range views) {
  const Index count = angles.size();
  require<GeometryError>(0 <= views.first && views.first < views.last && views.last <= count, "view range ",
                         views.first, ":", views.last, " is empty or outside 0:", count);
  return {angles.begin() + views.first, angles.begin() + views.last};
}

void validate_angles(std::string_view scan, const std::vector<double>& angles) {
  require<GeometryError>(!angles.empty(), scan, ": 0 views; at least 1 is needed");
  for (std::size_t i = 0; i < angles.size(); ++i)
    require<GeometryError>(std::isfinite(angles[i]), scan, ": the angle of view ", i, " is ", angles[i],
                           " rad; a finite number is needed");
}

}  // namespace tandem
