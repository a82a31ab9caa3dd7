#pragma once

#include "../cone.hpp"
#include "../parallel.hpp"
#include "../ramp.hpp"
#include "../vector.hpp"

namespace tandem::kernels::cuda {

extern const ConeKernels cone_joseph_kernels, cone_pixel_driven_kernels;
extern const ParallelKernels parallel_kernels;
extern const RampKernels ramp_kernels;
extern const ConeKernels separable_footprint_kernels;
extern const VectorKernels vector_kernels;

}  // namespace tandem::kernels::cuda
