#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>

#include "../../operators/linear_operator.hpp"
#include "../../operators/subsets.hpp"
#include "../../solvers/stopping/cross_validation.hpp"
#include "route.hpp"

namespace tandem::pipeline {

/// Some slices of a plan as a problem of their own, on the grid `Job::solved`: y = A x. If rays cross
/// slices, all slices share all rows.
struct Problem {
  Scan scan;
  VolumeGrid grid;
  LinearOperator A;
  Worker worker = {};    ///< who solves it
  Range own_views = {};  ///< those of the scan whose data this process has, see `own_views`
  /// A of some of the views, in ascending order; data of those that this process has. Empty: A has no parts.
  std::function<LinearOperator(std::span<const Index> views)> of_views = {};
};

/// The equations A x = y that a solver takes.
struct Equations {
  LinearOperator A;
  Array y;
  std::optional<Array> weights = {};        ///< of each datum, mean 1; empty: all data weigh the same
  std::array<double, 3> pitch = {1, 1, 1};  ///< of voxels along x, y, z
  /// A in so many subsets of its views (`view_subsets`). Empty: they are one.
  std::function<Subsets(Index count)> subsets = {};
  Sums sums = {};  ///< of a solver that leads or follows another one

  Subsets in_subsets(Index count) const;
};

/// The scan with these rows; with all if no ray meets the slices.
Scan scan_of(const Plan& plan, Range slices);
/// The problem for one of the plan's workers. `on_tile` is called before each tile of an application, from
/// any thread. An exception from it ends the application.
Problem problem_of(const Plan& plan, Range slices, const Worker& worker,
                   const std::function<void()>& on_tile = {});

/// The places, in an ascending list of views, of those that lie in a range.
Range places_within(std::span<const Index> views, Range own);

/// Whether rows have axes of their own, so that they have to be moved onto one axis.
bool has_row_axes(const Scan& scan);

/// Whether what was made for one problem of a plan, A as well as F and B, serves another one.
bool are_alike(const Problem& a, const Problem& b);

/// B, to be applied to filtered data. `done` is called with the share that is done, from any thread.
using BackProjection =
    std::function<Array(const Array& filtered, const std::function<void(double share)>& done)>;

}  // namespace tandem::pipeline
