#pragma once

#include <functional>

#include "../../counts/preprocess.hpp"
#include "../plan/problem.hpp"
#include "read.hpp"

// How data come into vectors that are split over ranks (the route `ranks`). No rank ever has all of one.

namespace tandem::pipeline {

/// The line integrals of some rows of all views, from their counts; what the weights of data follow from is
/// still variances.
using PrepareRows = std::function<LineIntegrals(Range rows)>;

/// All ranks: the line integrals of this rank's views, on the host, with the noise norm of all of them. Steps
/// mix views, so ranks prepare blocks of so many rows of all views, in turn, and then give each the views
/// that are its own. `weighs`: whether data have weights.
LineIntegrals own_views(const Comm& ranks, const Scan& scan, Index rows_at_once, bool weighs,
                        const Space& projections, const PrepareRows& prepare);

}  // namespace tandem::pipeline
