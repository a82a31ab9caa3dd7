#include "views_of_turn.hpp"

#include <algorithm>
#include <cmath>

#include "../geometry/view_angles.hpp"

namespace tandem::calibration {

namespace {

constexpr double same_angle = 1e-6;  // rad; views this close are at the same angle, since files round angles
constexpr double farthest_neighbours = 2.5;  // steps

double within_turn(double angle) { return angle - whole_turn * std::floor(angle / whole_turn); }

}  // namespace

ViewsOfTurn::ViewsOfTurn(std::span<const double> angles) {
  for (const double angle : angles) sorted_.push_back({within_turn(angle), std::ssize(sorted_)});
  std::ranges::stable_sort(sorted_, {}, &View::angle);
  std::vector<double> gaps;
  for (std::size_t k = 0; k < sorted_.size(); ++k)
    if (gap(k) > same_angle) gaps.push_back(gap(k));
  std::ranges::nth_element(gaps, gaps.begin() + gaps.size() / 2);
  step_ = std::max(gaps[gaps.size() / 2], 0.25 * whole_turn / angles.size());
}

bool ViewsOfTurn::is_whole() const {
  for (std::size_t k = 0; k < sorted_.size(); ++k)
    if (gap(k) > farthest_neighbours * step_) return false;
  return true;
}

std::optional<Between> ViewsOfTurn::at(double angle) const {
  constexpr double beyond = 1.5;
  const double within = within_turn(angle);
  const auto above = std::ranges::upper_bound(sorted_, within, {}, &View::angle);
  const std::size_t n = sorted_.size(), after = (above - sorted_.begin()) % n, before = (after + n - 1) % n;
  const double width = gap(before), past = within_turn(within - sorted_[before].angle);
  if (width <= farthest_neighbours * step_)
    return Between{sorted_[before].view, sorted_[after].view, past / std::max(width, 1e-12)};
  if (past <= beyond * step_) {
    const std::size_t first = (before + n - 1) % n;
    return continued(first, before, gap(first) + past, gap(first));
  }
  if (width - past <= beyond * step_)
    return continued(next(after), after, gap(after) + width - past, gap(after));
  return std::nullopt;
}

std::vector<std::optional<Between>> ViewsOfTurn::equal_steps() const {
  constexpr double beside = 0.25;  // steps of an end view from its place
  std::size_t last = sorted_.size() - 1;
  for (std::size_t k = 0; k + 1 < sorted_.size(); ++k)
    if (gap(k) > gap(last) + same_angle) last = k;
  std::vector<View> order = sorted_;
  for (std::size_t k = 0; k < next(last); ++k) order[k].angle += whole_turn;
  std::rotate(order.begin(), order.begin() + next(last), order.end());
  order.push_back({order.front().angle + whole_turn, order.front().view});
  std::vector<std::optional<Between>> places(std::max(1L, std::lround(whole_turn / step_)));
  for (std::size_t v = 0; v < places.size(); ++v) {
    const double angle = order.front().angle + whole_turn * v / places.size();
    const auto above =
        std::ranges::upper_bound(order.begin(), order.end() - 1, angle + same_angle, {}, &View::angle);
    const View &before = *(above - 1), &after = *above;
    const double width = after.angle - before.angle, past = std::max(0.0, angle - before.angle);
    if (past <= same_angle)
      places[v] = {before.view, before.view, 0};
    else if (width <= farthest_neighbours * step_)
      places[v] = {before.view, after.view, past / width};
    else if (const Index end = past < width - past ? before.view : after.view;
             std::min(past, width - past) <= beside * step_)
      places[v] = {end, end, 0};
  }
  return places;
}

double ViewsOfTurn::gap(std::size_t k) const {
  return k + 1 < sorted_.size() ? sorted_[k + 1].angle - sorted_[k].angle
                                : sorted_[0].angle + whole_turn - sorted_[k].angle;
}

/// A place beyond two neighbours, if these are about a step apart. Directly at the end it is the end itself.
std::optional<Between> ViewsOfTurn::continued(std::size_t from, std::size_t end, double way,
                                              double width) const {
  constexpr double at_once = 0.05, narrowest = 0.5;
  if (way - width < at_once * step_) return Between{sorted_[end].view, sorted_[end].view, 0};
  if (width < narrowest * step_ || width > farthest_neighbours * step_) return std::nullopt;
  return Between{sorted_[from].view, sorted_[end].view, way / width};
}

}  // namespace tandem::calibration
