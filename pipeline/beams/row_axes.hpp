#pragma once

#include <vector>

#include "../plan/problem.hpp"

namespace tandem::pipeline {

/// Gives each row of a parallel beam its axis, in bins, and the scan their mean. @throws GeometryError for
/// another beam, or another number of axes
void give_row_axes(Scan& scan, const std::vector<double>& axes);

/// The operator A of all rows from where they are, also of rows with an axis of their own. The projector has
/// all rows on one axis; from there they are moved to their own, so they are as long as all of the volume is
/// wide. `model`: of a parallel beam.
LinearOperator projector_onto_rows(const Scan& scan, const VolumeGrid& grid, std::optional<Model> model);

/// The scan whose projections a solver has: if rows have axes of their own, on the detector on which they are
/// moved onto the common axis, which is at least as wide as the grid. It is the same whatever rows there are.
Scan solved_scan(const Scan& scan, const VolumeGrid& grid);

/// For each row the bins that lie on that detector when the row is moved onto the common axis; all bins if
/// all rows have the same axis.
std::vector<Range> bins_kept(const Scan& scan, const VolumeGrid& grid);

/// How many such data each block of the projections has. A block is a row, or all of a cone beam.
std::vector<Index> data_kept(const Scan& scan, const VolumeGrid& grid);

/// (view, row, bin) of the solved scan, on the host: 1 where something was measured, else 0.
Array measured(const Scan& scan, const VolumeGrid& grid, const Space& projections);

/// The equations y = A x of measured line integrals. Rows with axes of their own are moved onto the common
/// axis; where a row ends within the sample it goes on for that, so that it does not ring. Bins that come in
/// from outside the detector, where nothing was measured, have no weight: they are zero on both sides. The
/// operator then holds one set of projections, and takes two more when it is applied.
/// @pre data of such rows have no weights
Equations equations_of(const Problem& problem, LineIntegrals data);

}  // namespace tandem::pipeline
