#pragma once

#include "../cone.hpp"

namespace tandem::kernels::cpu {

extern const ConeKernels cone_joseph_kernels, cone_pixel_driven_kernels;

}  // namespace tandem::kernels::cpu
