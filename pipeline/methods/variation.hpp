#pragma once

#include <array>

#include "../../solvers/regulariser.hpp"
#include "../plan/problem.hpp"

namespace tandem::pipeline {

/// Total variation as the options say, for voxels of any shape. Differences are taken per length, in units of
/// the pitch along x.
Regulariser variation_of(const Space& volume, const std::array<double, 3>& pitch, const Recipe& options);

}  // namespace tandem::pipeline
