#pragma once

#include <vector>

#include "../plan/problem.hpp"

namespace tandem::pipeline {

/// Gives each row of a parallel beam its own axis, in bins, and the scan the mean of them. @throws
/// GeometryError for another beam, or another number of axes
void give_row_axes(Scan& scan, const std::vector<double>& axes);

/// The operator A onto rows as they were measured, also if each row has its own axis. The projector puts all
/// rows on one axis, with bins for the whole width of the volume. Then each row is moved to its own axis.
/// `model` is for a parallel beam.
LinearOperator projector_onto_rows(const Scan& scan, const VolumeGrid& grid, std::optional<Model> model);

/// The scan whose projections a solver has. If each row has its own axis, rows are moved onto the common
/// axis, on a detector at least as wide as the grid. The detector does not depend on which rows are selected.
Scan solved_scan(const Scan& scan, const VolumeGrid& grid);

/// For each row, the bins that lie on the detector of the solved scan when the row is moved onto the common
/// axis. All bins, if all rows have the same axis.
std::vector<Range> bins_kept(const Scan& scan, const VolumeGrid& grid);

/// The number of measured data in each block of the projections, see `bins_kept`. A block is a row, or all
/// rows of a cone beam.
std::vector<Index> data_kept(const Scan& scan, const VolumeGrid& grid);

/// Projections of the solved scan, (view, row, bin) on the host: 1 for a measured datum, else 0.
Array measured(const Scan& scan, const VolumeGrid& grid, const Space& projections);

/// The equations y = A x of measured line integrals. If each row has its own axis, rows are moved onto the
/// common axis. A row that ends within the sample is continued first, so that it does not ring. Bins that
/// come from outside the detector, where nothing was measured, have no weight: they are zero on both sides.
/// The operator then holds one set of projections, and needs two more when it is applied.
/// @pre data have no weights if rows have their own axes
Equations equations_of(const Problem& problem, LineIntegrals data);

}  // namespace tandem::pipeline
