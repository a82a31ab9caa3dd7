#pragma once

#include "tandem/kernels/parallel.hpp"
#include "tandem/kernels/ramp.hpp"
#include "tandem/kernels/separable_footprint.hpp"
#include "tandem/kernels/vector.hpp"

namespace tandem::kernels::cuda {

extern const ParallelKernels parallel_kernels;
extern const RampKernels ramp_kernels;
extern const SeparableFootprintKernels separable_footprint_kernels;
extern const VectorKernels vector_kernels;

}  // namespace tandem::kernels::cuda
