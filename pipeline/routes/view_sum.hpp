#pragma once

#include <optional>
#include <vector>

#include "../../core/array.hpp"
#include "../plan/plan.hpp"
#include "../watch/live.hpp"

namespace tandem::pipeline {

/// The sum B F y in the making: views are added to it one batch after another. It lies where the worker of
/// the plan computes.
class ViewSum {
 public:
  explicit ViewSum(const Plan& plan);

  /// Gives views the weights that they have in this scan, which has an angle for each view. If F now filters
  /// to another detector, or weighs bins in another way, the sum begins anew.
  void use(Scan scan);
  /// Adds some views, (view, row, bin) on the CPU, with their weights. A view that was added before is
  /// corrected to its present weight.
  void add(Range views, Array y);
  /// The views whose weights have changed since they were added.
  std::vector<Range> unsettled() const;

  const Scan& scan() const { return scan_; }
  std::vector<LivePicture> planes() const;  ///< the three middle planes
  Array take();                             ///< gives the sum away

 private:
  std::span<const float> weights_of(Range views) const;
  io::Picture plane(Shape first, Shape extents) const;

  const Plan& plan_;
  Scan scan_;
  std::vector<float> weights_, added_;  ///< (view) or (view, bin), rad, see filter_weights
  std::size_t of_view_ = 1;
  std::optional<Array> volume_;
};

}  // namespace tandem::pipeline
