#pragma once

#include "work.hpp"

namespace tandem::pipeline {

/// The computation that runs the solver of the plan's method: its start, the rules that stop it, progress and
/// counts.
Computation iteration(Work& work);

/// Puts together what solvers did on all slices, and warns of slices within the noise.
void conclude_iterations(const Plan& plan, Outcome& outcome);

}  // namespace tandem::pipeline
