#pragma once

#include "../counts.hpp"
#include "../differences.hpp"
#include "../ramp.hpp"
#include "../vector.hpp"
#include "../voxels.hpp"

namespace tandem::kernels::cuda {

extern const CountsKernels counts_kernels;
extern const DifferenceKernels difference_kernels;
extern const RampKernels ramp_kernels;
extern const VectorKernels vector_kernels;
extern const VoxelKernels voxel_kernels;

}  // namespace tandem::kernels::cuda
