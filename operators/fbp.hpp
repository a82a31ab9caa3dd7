#pragma once

#include "tandem/geometry/volume_grid.hpp"
#include "tandem/operators/ramp_filter.hpp"

namespace tandem {

/// B: adjoint(A) over the cell length per pixel area, so that B F y is an image in 1/mm, for every model.
LinearOperator backprojector(const LinearOperator& A, const ParallelBeam& scan, const VolumeGrid& grid);

/// B F in one: exact for angles that fill half a turn, whatever their order and spacing.
LinearOperator fbp(const LinearOperator& A, const ParallelBeam& scan, const VolumeGrid& grid,
                   Filter filter = {});

}  // namespace tandem
