#pragma once

#include <memory>

#include "work.hpp"

namespace tandem::pipeline {

/// The computation that runs the solver of the plan's method: its start, the rules that stop it, progress,
/// counts and warnings.
std::unique_ptr<Computation> iteration(Work& work);

}  // namespace tandem::pipeline
