#pragma once

#include "../core/execution.hpp"
#include "../core/public.hpp"
#include "../geometry/views.hpp"
#include "linear_operator.hpp"

namespace TANDEM_PUBLIC tandem {

/// The system matrix A: volume (slice, y, x) in 1/mm -> line integrals (view, row, bin), no unit.
/// Coefficients in mm; the adjoint is the transpose of the same coefficients. Slices are independent blocks
/// of both spaces. Cost of an apply: one update for each voxel and view. Sources: see geometry/views.hpp.
/// By textures, and on a GPU by Joseph's or the pixel-driven model of a cone beam, the adjoint's are rounded:
/// `is_matched`; `automatic` takes a matched pair if the device has one in this precision.
/// `row_axis_bins` do not enter: rows lie on the common axis after `ramp_filter` or `align_rows`.
/// @throws GeometryError; DeviceError if no kernels run on `device`, or not as `execution` asks.
LinearOperator projector(const ParallelBeam& scan, const VolumeGrid& grid, Model model = Model::pixel_driven,
                         Device device = Device::cpu(), Execution execution = {});

/// The same for a cone beam, whose slices are one problem. Coefficients in mm, for voxels and cells of any
/// size: separable_footprint: the mean chord of a voxel over a cell, SF-TR with amplitude A2 (Long, Fessler,
/// Balter, IEEE TMI 29(11) 1839, 2010); joseph: rays to the middle of each cell step from plane to plane
/// along x or y; pixel_driven: what a voxel adds up to goes to the four cells around where its centre falls.
/// The last two are the forward and the adjoint of the pair J/VD (Georgin et al. 2019), each here with its
/// own transpose. Voxels are as tall as the grid says, so that rows and slices cut out of a scan and a grid
/// make the block of A that is theirs.
/// @throws GeometryError, also where the source would pass through the grid; DeviceError
LinearOperator projector(const ConeBeam& scan, const VolumeGrid& grid,
                         Model model = Model::separable_footprint, Device device = Device::cpu(),
                         Execution execution = {});

/// The same for a fan beam, with voxels as tall as `tall_voxels` has them.
LinearOperator projector(const FanBeam& scan, const VolumeGrid& grid,
                         Model model = Model::separable_footprint, Device device = Device::cpu(),
                         Execution execution = {});

/// How a parallel-beam projector can be executed on a device.
std::vector<Execution> executions(Device device);

/// Whether projector and back-projector so executed are each other's transpose, coefficient by coefficient,
/// as solvers need it; if not, texture units round one's positions to 1/256 of a bin. @throws DeviceError for
/// an execution that the device has not
bool is_matched(const Execution& how, Device device);
/// The same of a cone beam's.
bool is_matched(Model model, Device device);

/// What runs if `wanted` is asked for: `automatic` comes to the fastest, of matched pairs alone where there
/// is one and `pairing` does not say any, and hats that no texture draws come to alu float32.
/// @throws like `projector`.
Execution resolved(const Execution& wanted, const ParallelBeam& scan, const VolumeGrid& grid, Model model,
                   Device device, Pairing pairing = Pairing::matched);

/// Working memory of a cone-beam projector with these shapes, whatever its geometry. @throws DeviceError
WorkingMemory working_memory(Model model, Shape volume, Shape projections, Device device);

/// Working memory of a parallel-beam projector between (slice, y, x) and (view, row, bin); `how` is resolved.
/// @throws DeviceError
WorkingMemory working_memory(const Execution& how, Shape volume, Shape projections, Device device);

}  // namespace tandem
