#pragma once

#include <vector>

#include "../../solvers/weight/weight_search.hpp"
#include "../plan/problem.hpp"

namespace tandem::pipeline {

/// The problem in voxels and cells that are 2, 4 and 8 times as wide, as long as enough of them are left. The
/// search for the weight of total variation uses it. Views stay the same, also their shares among ranks or
/// devices. The list is empty for several rows of a parallel beam, because each row is a separate problem,
/// and for a cone beam with only a few rows or slices.
std::vector<CoarserProblem> coarser_problems(const Flow& flow, Recipe options, const Problem& problem);

}  // namespace tandem::pipeline
