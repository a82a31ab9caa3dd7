#pragma once

#include <vector>

#include "../../solvers/weight/weight_search.hpp"
#include "../plan/problem.hpp"

namespace tandem::pipeline {

/// The problem in voxels and cells 2, 4 and 8 times as wide, as far as enough of them are left: for a search
/// of the weight of total variation. Views stay as they are, and so stays the part of them that each rank or
/// device has. None for several rows of a parallel beam, which are problems of their own, nor for a cone beam
/// of a few rows or slices.
std::vector<CoarserProblem> coarser_problems(const Flow& flow, MethodOptions options, const Problem& problem);

}  // namespace tandem::pipeline
