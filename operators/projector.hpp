#pragma once

#include <optional>

#include "../core/public.hpp"
#include "interpolation.hpp"
#include "linear_operator.hpp"

namespace TANDEM_PUBLIC tandem {

/// The system matrix A: volume (slice, y, x) in 1/mm -> line integrals (view, row, bin), without unit.
/// Coefficients are in mm, for voxels and cells of any size, and the adjoint is the transpose of the same
/// coefficients. With textures, and on a GPU with the Joseph or the pixel-driven model of a cone beam, the
/// coefficients of the adjoint are rounded (`is_matched`). `automatic` takes a matched pair if the device has
/// one in this precision. `model` is the usual one of the scan (`usual_model`) if none is given. Cost of an
/// application: one update for each voxel and view. Sources: see geometry/views.hpp. @throws GeometryError,
/// also if a source would pass through the grid or lie in it; DeviceError if no kernels run on `device`, or
/// not as `execution` asks
///
/// Parallel beams: slices are independent blocks of both spaces. `row_axis_bins` are not used, since
/// `ramp_filter` or `align_rows` has moved rows onto the common axis.
///
/// All others: slices are one problem. On a team of devices (`Device::team`) each member has the whole volume
/// and its share of the views. They work at the same time, and add up what they back-project in one fixed
/// order.
///
/// Models of cone beams:
///
/// separable_footprint: the mean chord of a voxel over a cell, SF-TR with amplitude A2 (Long, Fessler,
/// Balter, IEEE TMI 29(11) 1839, 2010).
///
/// joseph: a ray to the middle of each cell, which steps from plane to plane along x or y.
///
/// pixel_driven: a voxel contributes to the four cells around the place where its centre falls.
///
/// hierarchical: through groups of views (operators/hierarchical.hpp), in O(N^3 log N) operations.
///
/// `joseph` and `pixel_driven` are the forward and the adjoint operator of the pair J/VD (Georgin et al.
/// 2019). Here each has its own transpose. Voxels have the height of the grid, so that a part of the rows and
/// slices has its block of A. Those of a fan beam are tall (`tall_voxels`).
///
/// Views of any geometry have separable_footprint only. The footprint is the product of a trapezoid along the
/// bins and one along the rows, each with the mean and the variance of the voxel's shadow.
LinearOperator projector(const Scan& scan, const VolumeGrid& grid, std::optional<Model> model = {},
                         Device device = Device::cpu(), const Execution& execution = {});

/// The number of lines along y that share numbers in the kernels of a beam, as in the bricks of a flexible
/// beam. If a part of a volume begins and ends at multiples of it, the part has the coefficients of the
/// whole, up to rounding. Any other part has its own coefficients, which are equally good.
Index lines_together(const Scan& scan);

/// The execution on another device in the place of `wanted` on the first device, for a parallel beam: its own
/// fastest way, in float32. @throws GeometryError if the wanted variant has its own coefficients
Execution like(const Execution& wanted, Device first, Device other);

/// The ways in which a parallel-beam projector can be executed on a device.
std::vector<Execution> executions(Device device, Model model = Model::pixel_driven);

/// Whether projector and back-projector, executed in this way, are transposes of each other, coefficient by
/// coefficient, as solvers need it. If not, texture units round the positions of one of them to 1/256 of a
/// bin. @throws DeviceError for an execution that the device does not have
bool is_matched(const Execution& how, Device device);
/// Whether the pair of a cone beam is matched.
bool is_matched(Model model, Device device);
/// Whether the pair that `projector` makes of these is matched.
bool is_matched(const Scan& scan, const VolumeGrid& grid, std::optional<Model> model, Device device,
                const Execution& execution);

/// The execution that runs if `wanted` is asked for. `automatic` becomes the fastest
/// matched one if `pairing` asks for a matched one and the device has one; else the fastest one. Hats that no
/// texture can draw are computed by alu in float32. Projectors of other scans than parallel beams run in one
/// way only: `wanted`. @throws as `projector` does
Execution resolved(const Execution& wanted, const Scan& scan, const VolumeGrid& grid, Model model,
                   Device device, Pairing pairing = Pairing::matched);

/// Working memory of a cone-beam projector with these shapes, whatever its geometry. @throws DeviceError
WorkingMemory working_memory(Model model, Shape volume, Shape projections, Device device);

/// Working memory of the projector by footprints of a scan whose rays cross slices, or of the filter of views
/// of any geometry. @throws DeviceError if the device has none
WorkingMemory working_memory(const Scan& scan, Shape volume, Shape projections, Device device);

/// Working memory of a parallel-beam projector between (slice, y, x) and (view, row, bin); `how` is resolved.
/// @throws DeviceError
WorkingMemory working_memory(const Execution& how, Shape volume, Shape projections, Device device);

}  // namespace tandem
