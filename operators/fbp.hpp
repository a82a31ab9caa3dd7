#pragma once

#include "../core/public.hpp"
#include "../geometry/views.hpp"
#include "ramp_filter.hpp"

namespace TANDEM_PUBLIC tandem {

/// The operator B: adjoint(A) times bin pitch / pixel area, so that B F y is an image in 1/mm, for every
/// model.
LinearOperator backprojector(const LinearOperator& A, const ParallelBeam& scan, const VolumeGrid& grid);

/// The operator B for a cone beam: adjoint(A) times the area of a cell as it appears at the axis, divided by
/// the volume V of a voxel. Then B F y is an image in 1/mm, for every model: the coefficients of a voxel sum
/// to V sdd r / (d^2 cell) over all cells, with r from the source to the cell, the cosines after the ramp are
/// sdd / r, and FDK wants (sod / d)^2. A is a projector of `symmetric(scan)`.
LinearOperator backprojector(const LinearOperator& A, const ConeBeam& scan, const VolumeGrid& grid);

/// B with a projector that it makes itself, for any part of a volume. For a fan beam it takes the voxels of
/// `flat_voxels`. Shapes: (view, row, bin) on the detector of `symmetric(scan)` -> (slice, y, x).
LinearOperator fdk_backprojector(const ConeBeam& scan, const VolumeGrid& grid,
                                 Model model = Model::separable_footprint, Device device = Device::cpu());
LinearOperator fdk_backprojector(const FanBeam& scan, const VolumeGrid& grid,
                                 Model model = Model::separable_footprint, Device device = Device::cpu());
/// The part of B for some views, which takes filtered data of these views. For a fan beam, pass
/// `flat_voxels(scan, grid)`.
LinearOperator fdk_backprojector(const ConeBeam& scan, Range views, const VolumeGrid& grid,
                                 Model model = Model::separable_footprint, Device device = Device::cpu());

/// B F for a cone beam or a fan beam (FDK): for a circle, also with a detector to one side of the axis, and
/// for an arc.
LinearOperator fdk(const ConeBeam& scan, const VolumeGrid& grid, Filter filter = {},
                   Model model = Model::separable_footprint, Device device = Device::cpu());
LinearOperator fdk(const FanBeam& scan, const VolumeGrid& grid, Filter filter = {},
                   Model model = Model::separable_footprint, Device device = Device::cpu());

/// B F for a parallel beam. It is exact for angles that fill half a turn, in any order and with any spacing,
/// and for a half acquisition: no gap between neighbours may be a hole (`view_weights`). A is a projector of
/// `symmetric(scan)`, which differs from the scan for a half acquisition only.
LinearOperator fbp(const LinearOperator& A, const ParallelBeam& scan, const VolumeGrid& grid,
                   Filter filter = {});

}  // namespace tandem
