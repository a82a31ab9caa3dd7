#pragma once

#include <optional>
#include <span>
#include <vector>

#include "../core/space.hpp"

namespace tandem::calibration {

/// A place among views: the share of the way from one view to another; below 0 or above 1 beyond an end.
struct Between {
  Index before = 0, after = 0;
  double share = 0;
};

/// Views in the order of their angles modulo a whole turn.
class ViewsOfTurn {
 public:
  explicit ViewsOfTurn(std::span<const double> angles);

  /// The typical gap between views. Views at the same angle count as one, and it is bounded, so that steps of
  /// a turn are not many more than views.
  double step() const { return step_; }
  /// Whether neighbours are at most 2.5 steps apart, all round.
  bool is_whole() const;
  /// The place of an angle between neighbours that are at most 2.5 steps apart, or up to 1.5 steps beyond an
  /// end. Empty if there is none.
  std::optional<Between> at(double angle) const;
  /// The places of equal steps of a whole turn, from the view behind the widest gap on. Empty where views are
  /// too far apart; within a quarter of a step of an end view it is this view.
  std::vector<std::optional<Between>> equal_steps() const;

 private:
  struct View {
    double angle;
    Index view;
  };
  std::size_t next(std::size_t k) const { return (k + 1) % sorted_.size(); }
  double gap(std::size_t k) const;
  std::optional<Between> continued(std::size_t from, std::size_t end, double way, double width) const;

  std::vector<View> sorted_{};
  double step_ = 0;
};

}  // namespace tandem::calibration
