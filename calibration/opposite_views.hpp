#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "../core/space.hpp"
#include "../geometry/view_angles.hpp"

namespace tandem::calibration {

/// A place among views: the share of the way from one view to another; below 0 or above 1 beyond an end.
struct Between {
  Index before = 0, after = 0;
  double share = 0;
};

/// Views in the order of their angles modulo a whole turn.
class ViewsOfTurn {
 public:
  explicit ViewsOfTurn(const std::vector<double>& angles) {
    for (const double angle : angles) sorted_.push_back({modulo(angle), std::ssize(sorted_)});
    std::ranges::sort(sorted_, {}, &View::angle);
    std::vector<double> gaps;
    for (std::size_t k = 0; k < sorted_.size(); ++k) gaps.push_back(gap(k));
    std::ranges::nth_element(gaps, gaps.begin() + gaps.size() / 2);
    step_ = std::max(gaps[gaps.size() / 2], 0.25 * whole_turn / angles.size());
  }

  /// The place of an angle between neighbours that are at most 2.5 steps apart, or up to 1.5 steps beyond an
  /// end. Empty if there is none.
  std::optional<Between> at(double angle) const {
    constexpr double widest = 2.5, beyond = 1.5;
    const double within = modulo(angle);
    const auto above = std::ranges::upper_bound(sorted_, within, {}, &View::angle);
    const std::size_t n = sorted_.size(), after = (above - sorted_.begin()) % n, before = (after + n - 1) % n;
    const double width = gap(before), past = modulo(within - sorted_[before].angle);
    if (width <= widest * step_)
      return Between{sorted_[before].view, sorted_[after].view, past / std::max(width, 1e-12)};
    if (past <= beyond * step_) {
      const std::size_t first = (before + n - 1) % n;
      return continued(first, before, gap(first) + past, gap(first));
    }
    if (width - past <= beyond * step_) {
      const std::size_t second = (after + 1) % n;
      return continued(second, after, gap(after) + width - past, gap(after));
    }
    return std::nullopt;
  }
  bool is_whole() const {
    for (std::size_t k = 0; k < sorted_.size(); ++k)
      if (gap(k) > 2.5 * step_) return false;
    return true;
  }

 private:
  struct View {
    double angle;
    Index view;
  };
  static double modulo(double angle) { return angle - whole_turn * std::floor(angle / whole_turn); }
  double gap(std::size_t k) const {
    const std::size_t next = (k + 1) % sorted_.size();
    return next == 0 ? sorted_[0].angle + whole_turn - sorted_[k].angle
                     : sorted_[next].angle - sorted_[k].angle;
  }
  /// A place beyond two neighbours, if these are about a step apart. Directly at the end it is the end
  /// itself.
  std::optional<Between> continued(std::size_t from, std::size_t end, double way, double width) const {
    constexpr double at_once = 0.05, narrowest = 0.5, widest = 2.5;
    if (way - width < at_once * step_) return Between{sorted_[end].view, sorted_[end].view, 0};
    if (width < narrowest * step_ || width > widest * step_) return std::nullopt;
    return Between{sorted_[from].view, sorted_[end].view, way / width};
  }

  std::vector<View> sorted_;
  double step_ = 0;
};

}  // namespace tandem::calibration
