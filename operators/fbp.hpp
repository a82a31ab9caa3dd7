#pragma once

#include "tandem/geometry/views.hpp"
#include "tandem/operators/ramp_filter.hpp"

namespace tandem {

/// B: adjoint(A) over the cell length per pixel area, so that B F y is an image in 1/mm, for every model.
LinearOperator backprojector(const LinearOperator& A, const ParallelBeam& scan, const VolumeGrid& grid);

/// W: the cosine of each ray's angle with the central one, sdd / sqrt(sdd^2 + u^2 + v^2) (Feldkamp, Davis,
/// Kress 1984), times what the ray counts (geometry: ray_shares).
LinearOperator ray_weights(const ConeBeam& scan, Device device = Device::cpu());

/// B: adjoint(A) under weights of the cells alone, so that B F W y is an image in 1/mm, for every model: over
/// all cells a voxel's coefficients sum to V sdd r / (d^2 cell), r from the source to the cell, and FDK wants
/// (sod / d)^2, so that d cancels.
LinearOperator backprojector(const LinearOperator& A, const ConeBeam& scan, const VolumeGrid& grid);

/// FDK in two: F W onto the detector of `symmetric(scan)`, which goes on in zeros where rays were seen from
/// the other side alone; and B from there, for any part of a volume.
LinearOperator fdk_filter(const ConeBeam& scan, Filter filter = {}, Device device = Device::cpu());
LinearOperator fdk_backprojector(const ConeBeam& scan, const VolumeGrid& grid,
                                 Model model = Model::separable_footprint, Device device = Device::cpu());

/// FDK in one: for a circle, with a detector to one side of the axis too, and for an arc.
LinearOperator fdk(const ConeBeam& scan, const VolumeGrid& grid, Filter filter = {},
                   Model model = Model::separable_footprint, Device device = Device::cpu());

/// B F in one: exact for angles that fill half a turn, whatever their order and spacing.
LinearOperator fbp(const LinearOperator& A, const ParallelBeam& scan, const VolumeGrid& grid,
                   Filter filter = {});

}  // namespace tandem
