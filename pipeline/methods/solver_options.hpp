#pragma once

#include "../plan/job.hpp"

namespace tandem::pipeline {

/// Completes the options of the plan's solver that depend on the scan: into how many subsets its views are
/// dealt out. @throws GeometryError if there are more or fewer than can be, or if the solver does not tell
/// what the rule that stops it looks at
void choose_solver_options(Job& job);

}  // namespace tandem::pipeline
