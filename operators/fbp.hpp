#pragma once

#include "../core/public.hpp"
#include "../geometry/views.hpp"
#include "ramp_filter.hpp"

namespace TANDEM_PUBLIC tandem {

/// B: adjoint(A) over the cell length per pixel area, so that B F y is an image in 1/mm, for every model.
LinearOperator backprojector(const LinearOperator& A, const ParallelBeam& scan, const VolumeGrid& grid);

/// B: adjoint(A) times a cell, as it appears at the axis, over a voxel, so that B F y is an image in 1/mm,
/// for every model: over all cells a voxel's coefficients sum to V sdd r / (d^2 cell), r from the source to
/// the cell, the cosines after the ramp are sdd / r, and FDK wants (sod / d)^2. A is of `symmetric(scan)`.
LinearOperator backprojector(const LinearOperator& A, const ConeBeam& scan, const VolumeGrid& grid);

/// The same for any part of a volume, and for a fan beam with voxels as flat as `flat_voxels` has them.
LinearOperator fdk_backprojector(const ConeBeam& scan, const VolumeGrid& grid,
                                 Model model = Model::separable_footprint, Device device = Device::cpu());
LinearOperator fdk_backprojector(const FanBeam& scan, const VolumeGrid& grid,
                                 Model model = Model::separable_footprint, Device device = Device::cpu());

/// FDK in one: for a circle, with a detector to one side of the axis too, and for an arc.
LinearOperator fdk(const ConeBeam& scan, const VolumeGrid& grid, Filter filter = {},
                   Model model = Model::separable_footprint, Device device = Device::cpu());
LinearOperator fdk(const FanBeam& scan, const VolumeGrid& grid, Filter filter = {},
                   Model model = Model::separable_footprint, Device device = Device::cpu());

/// Views weigh alike over all bins, as is right where every line is seen once, or every line twice.
/// @throws GeometryError for a half acquisition whose detector reaches less than half as far from the axis on
/// one side as on the other: most of its lines are seen once, a few twice.
void require_fbp(const ParallelBeam& scan);
/// FDK takes any: each ray counts what `ray_shares` says.
inline void require_fbp(const ConeBeam&) {}

/// B F in one: exact for angles that fill half a turn, whatever their order and spacing.
/// @throws GeometryError as `require_fbp`
LinearOperator fbp(const LinearOperator& A, const ParallelBeam& scan, const VolumeGrid& grid,
                   Filter filter = {});

}  // namespace tandem
