#pragma once

#include "../core/execution.hpp"
#include "../geometry/views.hpp"
#include "linear_operator.hpp"

namespace tandem {

/// The system matrix A of Model::hierarchical: volume (slice, y, x) in 1/mm -> line integrals (view, row,
/// bin). A voxel contributes to the cells around the place where its centre falls, six along the bins and six
/// along the rows, as closely as groups of neighbouring views allow (docs/kernels/hierarchical.md). An
/// application takes O(N^3 log N) operations for N views of N^3 voxels. A fan beam of one slice has one row.
/// Angles may have any order and any gaps. `how.accuracy` is the relative error of what is back-projected,
/// see `hierarchical_accuracy`. @throws GeometryError for a source near the grid, and for few rows;
/// DeviceError for another accuracy than the usual one on a GPU
LinearOperator hierarchical_projector(const ConeBeam& scan, const VolumeGrid& grid,
                                      Device device = Device::cpu(), const Execution& how = {},
                                      AlongRows rows = AlongRows::exactly);

/// Whether some devices, all alike, back-project faster by this model than by footprints, each a slab of
/// slices, as measured (docs/kernels/hierarchical.md), and the model holds for the geometry.
bool hierarchical_is_faster(const ConeBeam& scan, const VolumeGrid& grid, Device device, Index devices = 1);

/// The accuracy that is asked for; 0 means the usual one. The default of an Execution is an accuracy of
/// Model::fourier, which no taps reach, and so it counts as 0.
double hierarchical_accuracy(const Execution& wanted);

/// The number of rows beside those that slices meet from which taps reach them: half of the taps of each pass
/// along the rows.
Index hierarchical_rows_beside(const ConeBeam& scan, const VolumeGrid& grid, const Execution& how = {});

/// The memory of an application beside its two vectors. @throws as `hierarchical_projector` does
WorkingMemory hierarchical_memory(const ConeBeam& scan, const VolumeGrid& grid, Device device,
                                  const Execution& how = {}, AlongRows rows = AlongRows::exactly);
/// The most that a part of `rows` rows takes, if `all` rows take this memory.
WorkingMemory hierarchical_memory_of_part(WorkingMemory memory, Index rows, Index all);

/// Slices that kernels take together: a slab that begins a multiple of them on has the numbers of the whole.
Index hierarchical_slices_together();

}  // namespace tandem
