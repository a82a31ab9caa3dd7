#pragma once

#include <functional>

#include "../../counts/preprocess.hpp"
#include "../plan/problem.hpp"
#include "read.hpp"

// How data come into vectors that are split over ranks (the route `ranks`). No rank ever has a whole vector.

namespace tandem::pipeline {

/// Makes the line integrals of some rows of all views from their counts. In the place of weights it gives
/// variances, from which weights follow later.
using PrepareRows = std::function<LineIntegrals(Range rows)>;

/// Collective. The line integrals of this rank's views, on the host, with the noise norm of all views. Since
/// steps mix views, each rank in turn prepares `prepared_rows` rows of all views, and then gives each rank
/// its own views. `weighs`: whether data have weights.
LineIntegrals own_views(const Comm& ranks, const Scan& scan, Index prepared_rows, bool weighs,
                        const Space& projections, const PrepareRows& prepare);

}  // namespace tandem::pipeline
