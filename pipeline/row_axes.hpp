#pragma once

#include <vector>

#include "problem.hpp"

namespace tandem::pipeline {

/// Of each row the bins that lie on the detector still when the row is moved onto the common axis; all where
/// rows have one axis.
std::vector<Range> bins_kept(const Scan& scan);

/// How many data each block of the projections has of them: a row, or all of a cone beam.
std::vector<Index> data_kept(const Scan& scan);

/// What a solver takes.
struct Equations {
  LinearOperator A;
  Array y;
};

/// y = A x of line integrals as measured. Where rows have axes of their own they are moved onto the common
/// one, and bins that come in from beside the detector, where nothing was measured, have no weight: they are
/// zero on both sides. The operator then holds one set of projections, and takes two more when it is applied.
Equations equations_of(const Problem& problem, Array y);

}  // namespace tandem::pipeline
