#pragma once

#include <vector>

#include "../../solvers/weight/weight_search.hpp"
#include "../plan/problem.hpp"

namespace tandem::pipeline {

/// The problem in voxels and cells that are 2, 4 and 8 times as wide, as long as enough of them are left. The
/// search for the weight of total variation uses it. Views stay as they are, and so do the views of each rank
/// or device. None for several rows of a parallel beam, which are problems of their own, nor for a cone beam
/// of a few rows or slices.
std::vector<CoarserProblem> coarser_problems(const Flow& flow, MethodOptions options, const Problem& problem);

}  // namespace tandem::pipeline
