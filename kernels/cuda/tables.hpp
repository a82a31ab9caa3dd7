#pragma once

#include "../ramp.hpp"
#include "../vector.hpp"

namespace tandem::kernels::cuda {

extern const RampKernels ramp_kernels;
extern const VectorKernels vector_kernels;

}  // namespace tandem::kernels::cuda
