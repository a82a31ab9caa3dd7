#pragma once

#include <vector>

#include "plan.hpp"

namespace tandem::pipeline {

/// The slices of the chunks that are still to be made, if a killed run left some slices (`done`, in order). A
/// chunk is left out only if all its slices are done. Where slices share their rows, as in a cone beam, none
/// is left out.
std::vector<Range> chunks_due(const Plan& plan, const std::vector<Range>& done);

/// How many slices the rows are for that are read with a chunk of some slices: in a cone beam all.
Index slices_fed(const Plan& plan, Index slices);

}  // namespace tandem::pipeline
