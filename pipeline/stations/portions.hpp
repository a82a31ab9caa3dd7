#pragma once

#include <functional>

#include "../../counts/preprocess.hpp"
#include "../plan/problem.hpp"
#include "read.hpp"

// How data come into vectors that lie on several ranks (Plan::over_ranks), and how volumes leave them. No
// rank ever has all of one.

namespace tandem::pipeline {

/// The line integrals of some rows of all views, from their counts; what the weights of data follow from is
/// still variances.
using PrepareRows = std::function<LineIntegrals(Range rows)>;

/// All ranks: the line integrals of this rank's views, on the host, with the noise norm of all of them. Steps
/// mix views, so ranks prepare blocks of rows of all views, in turn, and then give each the views that are
/// its own.
LineIntegrals own_views(const Plan& plan, const Space& projections, const PrepareRows& prepare);

/// The slices that a rank writes, perhaps none.
Range slab_of_rank(const Plan& plan);

/// All ranks: these slices with all lines that ranks solve, (slice, y, x) on the host, from the strips that
/// ranks have. Of no slices one that nobody uses.
Array slab_of(const Plan& plan, const Array& strip);

/// All ranks: the other way round. Both vectors lie on the host.
void strip_of(const Plan& plan, const Array& slab, Array& strip);

}  // namespace tandem::pipeline
