#pragma once

#include <optional>
#include <vector>

#include "../../core/array.hpp"
#include "../plan/plan.hpp"
#include "../watch/live.hpp"

namespace tandem::pipeline {

/// B F y in the making: views are added to it one batch after another. It lies where the worker of the plan
/// computes.
class ViewSum {
 public:
  explicit ViewSum(const Plan& plan);

  /// From now on views have the weights that they have in this scan, which has an angle for each of them. If
  /// F now filters to another detector, or weighs its bins otherwise, nothing is added yet.
  void use(Scan scan);
  /// Brings some views to their weights: (view, row, bin) on the CPU. Views may be added again.
  void add(Range views, Array y);
  /// Views whose weights are not those that they were added with.
  std::vector<Range> unsettled() const;

  const Scan& scan() const { return scan_; }
  std::vector<LivePicture> planes() const;  ///< the three middle ones
  /// Some slices on the CPU. If they are all slices, and there, nothing is copied, and the sum is given away.
  Array slices(Range some);

 private:
  std::span<const float> weights_of(Range views) const;
  io::Picture plane(Shape first, Shape extents) const;

  const Plan& plan_;
  Scan scan_;
  std::vector<float> weights_, added_;  ///< rad: (view) or (view, bin), see filter_weights
  std::size_t of_view_ = 1;
  std::optional<Array> volume_;
};

}  // namespace tandem::pipeline
