#pragma once

#include <array>

#include "../../solvers/regulariser.hpp"
#include "../plan/problem.hpp"

namespace tandem::pipeline {

/// Total variation of voxels of any shape, as the options say: differences count per length of the pitch
/// along x.
Regulariser variation_of(const Space& volume, const std::array<double, 3>& pitch,
                         const MethodOptions& options);

}  // namespace tandem::pipeline
