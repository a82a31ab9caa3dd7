#pragma once

#include "tandem/kernels/cone.hpp"

namespace tandem::kernels::cpu {

extern const ConeKernels separable_footprint_kernels;

}  // namespace tandem::kernels::cpu
