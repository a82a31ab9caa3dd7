#pragma once

#include "tandem/kernels/separable_footprint.hpp"

namespace tandem::kernels::cpu {

extern const SeparableFootprintKernels separable_footprint_kernels;

}  // namespace tandem::kernels::cpu
