#pragma once

#include "../differences.hpp"

namespace tandem::kernels::cpu {

extern const DifferenceKernels difference_kernels;

}  // namespace tandem::kernels::cpu
