#pragma once

#include <functional>

#include "../operators/linear_operator.hpp"
#include "recipe.hpp"

namespace tandem::pipeline {

/// Some slices of a plan as a problem of their own: y = A x. All slices of a cone beam share its rows.
struct Problem {
  Scan scan;
  VolumeGrid grid;
  LinearOperator A;
};

Scan scan_of(const Plan& plan, Range slices);
/// `on_tile` is called before each tile of an application, from any thread; what it throws ends it.
Problem problem_of(const Plan& plan, Range slices, const std::function<void()>& on_tile = {});

/// @throws DeviceError if what the plan is for does not fit its devices in tiles
void require_tiles(const Plan& plan);

/// Whether rows have to be moved onto one axis.
bool has_row_axes(const Scan& scan);

/// F, what line integrals go through before they are back-projected.
LinearOperator filter_of(const Problem& problem, const Filter& filter);

/// B of filtered data. `done` hears of the share, before each tile, from any thread; on the CPU a fan beam is
/// gone through in strips of lines for it: its one slice takes long, and it has few data to go through again.
Array back_projected(const Plan& plan, const Problem& problem, const Array& filtered,
                     const std::function<void(double)>& done);

}  // namespace tandem::pipeline
