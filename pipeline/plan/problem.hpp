#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>

#include "../../operators/linear_operator.hpp"
#include "../../operators/subsets.hpp"
#include "../../solvers/bounds.hpp"
#include "../../solvers/solver.hpp"
#include "route.hpp"

namespace tandem::pipeline {

/// Some slices of a plan as a problem of their own, on the grid `Job::solved`: y = A x. If rays cross
/// slices, all slices share all rows.
struct Problem {
  Scan scan;
  VolumeGrid grid;
  LinearOperator A;
  Worker worker = {};    ///< the worker that solves it
  Range own_views = {};  ///< views of the scan whose data this process has, see `own_views`
  /// Makes A for some views, given in ascending order. Its range has the data of those views that this
  /// process has. Empty if A has no parts.
  std::function<LinearOperator(std::span<const Index> views)> of_views = {};
};

/// The equations A x = y that a solver takes.
struct Equations {
  LinearOperator A;
  Array y;
  std::optional<Array> weights = {};        ///< weight of each datum, with mean 1; empty: all weigh the same
  std::array<double, 3> pitch = {1, 1, 1};  ///< pitch of the voxels along x, y, z
  /// Splits A into `count` subsets of its views (`view_subsets`). Empty if A has one subset only.
  std::function<Subsets(Index count)> subsets = {};
  Sums sums = {};                     ///< sums of a solver that leads or follows another one
  std::optional<Bounds> bounds = {};  ///< bounds of voxels; empty: those of the options

  Subsets in_subsets(Index count) const;
};

/// The positions, in an ascending list of views, of the views that lie in a range.
Range places_within(std::span<const Index> views, Range own);

/// Whether each row has its own axis, so that the rows have to be moved onto one axis.
bool has_row_axes(const Scan& scan);

/// Whether the operators A, F and B that were made for one problem of a plan serve another one.
bool are_alike(const Problem& a, const Problem& b);

/// Applies B to filtered data. It calls `done` with the share of the work that is done, from any thread.
using BackProjection =
    std::function<Array(const Array& filtered, const std::function<void(double share)>& done)>;

}  // namespace tandem::pipeline
