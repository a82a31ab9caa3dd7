#pragma once

#include <functional>

#include "problem.hpp"

namespace tandem::pipeline {

/// The scan with the rows that these slices need; with all rows if no ray meets the slices.
Scan scan_of(const Plan& plan, Range slices);
/// The problem for one of the plan's workers. `on_tile` is called before each tile of an application, from
/// any thread. An exception from it ends the application.
Problem problem_of(const Plan& plan, Range slices, const Worker& worker,
                   const std::function<void()>& on_tile = {});

}  // namespace tandem::pipeline
