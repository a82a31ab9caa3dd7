#pragma once

#include "../cone.hpp"

namespace tandem::kernels::cpu {

extern const ConeKernels separable_footprint_kernels;

}  // namespace tandem::kernels::cpu
