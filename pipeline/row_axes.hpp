#pragma once

#include <vector>

#include "problem.hpp"

namespace tandem::pipeline {

/// Gives each row of a parallel beam its axis, in bins, and the scan their mean. @throws GeometryError for
/// another beam, or another number of axes
void give_row_axes(Scan& scan, const std::vector<double>& axes);

/// For each row the bins that still lie on the detector when the row is moved onto the common axis; all bins
/// if all rows have the same axis.
std::vector<Range> bins_kept(const Scan& scan);

/// How many such data each block of the projections has. A block is a row, or all of a cone beam.
std::vector<Index> data_kept(const Scan& scan);

/// (view, row, bin) on the host: 1 where something was measured, else 0, for rows on the common axis.
Array measured(const Scan& scan, const Space& projections);

/// The equations y = A x of measured line integrals. Rows with axes of their own are moved onto the common
/// axis. Bins that come in from outside the detector, where nothing was measured, have no weight: they are
/// zero on both sides. The operator then holds one set of projections, and takes two more when it is applied.
/// @pre data of such rows have no weights
Equations equations_of(const Problem& problem, LineIntegrals data);

}  // namespace tandem::pipeline
