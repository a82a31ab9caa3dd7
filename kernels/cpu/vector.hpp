#pragma once

#include "../vector.hpp"

namespace tandem::kernels::cpu {

extern const VectorKernels vector_kernels;

}  // namespace tandem::kernels::cpu
