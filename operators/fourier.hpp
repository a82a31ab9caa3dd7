#pragma once

#include "../core/execution.hpp"
#include "ramp_filter.hpp"

namespace tandem {

/// The system matrix A of Model::fourier: volume (slice, y, x) in 1/mm -> line integrals (view, row, bin).
/// A row of a view becomes the trigonometric polynomial through its bins, padded with zeros. The coefficient
/// of a pixel and a bin is the value for this bin where the pixel falls, times pitch^2 / bin pitch. If pixels
/// are larger than bins, frequencies beyond half a cycle per pixel are left out. An application takes O(N^2
/// log N) operations for each slice. `how.accuracy` is the relative error of what is back-projected. Source:
/// Fessler, Sutton, IEEE TSP 51(2) 560, 2003; Miqueles, Koshev, Helou, IEEE TIP 27(2) 894, 2018.
/// @throws GeometryError; DeviceError if the device has no such kernels
LinearOperator fourier_projector(const ParallelBeam& scan, const VolumeGrid& grid,
                                 Device device = Device::cpu(), const Execution& how = {});

/// B F for Model::fourier in one pass: line integrals (view, row, bin) -> image (slice, y, x) in 1/mm. The
/// filter is that of `ramp_filter`, with its view weights and its moves of rows. But filtered rows are not
/// cut off at the ends of the detector, and never lie in memory. The rays of a half acquisition are weighed
/// in a separate pass. @throws as `fourier_projector` and `ramp_filter` do
LinearOperator fourier_fbp(const ParallelBeam& scan, const VolumeGrid& grid, Filter filter = {},
                           Device device = Device::cpu(), const Execution& how = {});

/// The execution that runs if `wanted` is asked for. @throws DeviceError if the device does not have it
Execution resolved_fourier(const Execution& wanted, const ParallelBeam& scan, Device device);

/// Whether measurements say that the model is faster here than Model::pixel_driven; false if the device has
/// no kernels.
/// @throws GeometryError
bool fourier_is_faster(const ParallelBeam& scan, const VolumeGrid& grid, const Execution& how, Device device);

/// The memory of an application of either operator to `slices` slices at once, beside its two vectors. It
/// includes the tables that are kept for the geometry. @throws DeviceError if the grid is larger than what
/// the device can transform
WorkingMemory fourier_memory(const ParallelBeam& scan, const VolumeGrid& grid, Index slices,
                             const Execution& how, Device device);

}  // namespace tandem
