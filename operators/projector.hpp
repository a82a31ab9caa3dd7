#pragma once

#include <optional>

#include "../core/execution.hpp"
#include "../core/public.hpp"
#include "../geometry/scan.hpp"
#include "../geometry/views.hpp"
#include "interpolation.hpp"
#include "linear_operator.hpp"

namespace TANDEM_PUBLIC tandem {

/// The system matrix A: volume (slice, y, x) in 1/mm -> line integrals (view, row, bin), without unit.
/// Coefficients are in mm, and the adjoint is the transpose of the same coefficients. With textures, and on a
/// GPU with the Joseph or the pixel-driven model of a cone beam, the coefficients of the adjoint are rounded
/// (`is_matched`). `automatic` takes a matched pair if the device has one in this precision. Slices are
/// independent blocks of both spaces. `row_axis_bins` are not used: rows lie on the common axis after
/// `ramp_filter` or `align_rows`. Cost of an application: one update for each voxel and view. Sources: see
/// geometry/views.hpp. @throws GeometryError; DeviceError if no kernels run on `device`, or not as
/// `execution` asks.
LinearOperator projector(const ParallelBeam& scan, const VolumeGrid& grid, Model model = Model::pixel_driven,
                         Device device = Device::cpu(), const Execution& execution = {});

/// The same for a cone beam, whose slices are one problem. Coefficients are in mm, for voxels and cells of
/// any size. On a team of devices (`Device::team`) each member has the whole volume and its share of the
/// views. They work at the same time, and add up what they back-project, in one fixed order.
///
/// separable_footprint: the mean chord of a voxel over a cell, SF-TR with amplitude A2 (Long, Fessler,
/// Balter, IEEE TMI 29(11) 1839, 2010).
///
/// joseph: rays to the middle of each cell step from plane to plane along x or y.
///
/// pixel_driven: a voxel gives to the four cells around the place where its centre falls.
///
/// hierarchical: through groups of views (operators/hierarchical.hpp), in O(N^3 log N) operations.
///
/// The two before it are the forward and the adjoint operator of the pair J/VD (Georgin et al. 2019). Here
/// each has its own transpose. Voxels are as tall as the grid says, so that a part of the rows and slices has
/// its block of A. @throws GeometryError, also if the source would pass through the grid; DeviceError
LinearOperator projector(const ConeBeam& scan, const VolumeGrid& grid,
                         Model model = Model::separable_footprint, Device device = Device::cpu(),
                         const Execution& execution = {});

/// The same for a fan beam, with the voxels of `tall_voxels`.
LinearOperator projector(const FanBeam& scan, const VolumeGrid& grid,
                         Model model = Model::separable_footprint, Device device = Device::cpu(),
                         const Execution& execution = {});

/// The same for views of any geometry: the footprint is the product of a trapezoid along the bins and one
/// along the rows, each with the mean and the variance of the voxel's shadow. Of the models it has
/// separable_footprint alone. Teams share it as they share a cone beam. @throws GeometryError, also if a
/// view's source lies in the grid; DeviceError
LinearOperator projector(const FlexibleBeam& scan, const VolumeGrid& grid,
                         Model model = Model::separable_footprint, Device device = Device::cpu(),
                         const Execution& execution = {});

/// The same for a scan of any kind, with its usual model (`usual_model`) if none is given.
LinearOperator projector(const Scan& scan, const VolumeGrid& grid, std::optional<Model> model = {},
                         Device device = Device::cpu(), const Execution& execution = {});

/// How many lines along y share numbers in the kernels of a beam: bricks of a flexible beam do. A part of a
/// volume that begins and ends at multiples of it has its coefficients of the whole, up to rounding; any
/// other part has its own, as good ones.
Index lines_together(const Scan& scan);

/// How another device does what is wanted of the first one for a parallel beam: in its own fastest way, in
/// float32. @throws GeometryError if the wanted variant has coefficients of its own
Execution like(const Execution& wanted, Device first, Device other);

/// The ways in which a parallel-beam projector can be executed on a device.
std::vector<Execution> executions(Device device, Model model = Model::pixel_driven);

/// Whether projector and back-projector, executed in this way, are each other's transpose, coefficient by
/// coefficient, as solvers need it. If not, texture units round the positions of one of them to 1/256 of a
/// bin. @throws DeviceError for an execution that the device does not have
bool is_matched(const Execution& how, Device device);
/// The same for a cone beam.
bool is_matched(Model model, Device device);

/// The execution that runs if `wanted` is asked for. `automatic` becomes the fastest one, and a matched one
/// if there is one and `pairing` does not say any. Hats that no texture can draw are computed by alu in
/// float32. @throws as `projector` does
Execution resolved(const Execution& wanted, const ParallelBeam& scan, const VolumeGrid& grid, Model model,
                   Device device, Pairing pairing = Pairing::matched);

/// As wanted: the projectors of cone and flexible beams run in one way only.
Execution resolved(const Execution& wanted, const ConeBeam& scan, const VolumeGrid& grid, Model model,
                   Device device, Pairing pairing = Pairing::matched);
Execution resolved(const Execution& wanted, const FlexibleBeam& scan, const VolumeGrid& grid, Model model,
                   Device device, Pairing pairing = Pairing::matched);
Execution resolved(const Execution& wanted, const Scan& scan, const VolumeGrid& grid, Model model,
                   Device device, Pairing pairing = Pairing::matched);

/// Working memory of a cone-beam projector with these shapes, whatever its geometry. @throws DeviceError
WorkingMemory working_memory(Model model, Shape volume, Shape projections, Device device);

/// The same of the projector of a flexible beam, or of what filtered views pass. @throws DeviceError if the
/// device has none
WorkingMemory working_memory(const FlexibleBeam& scan, Shape volume, Shape projections, Device device);

/// Working memory of a parallel-beam projector between (slice, y, x) and (view, row, bin); `how` is resolved.
/// @throws DeviceError
WorkingMemory working_memory(const Execution& how, Shape volume, Shape projections, Device device);

}  // namespace tandem
