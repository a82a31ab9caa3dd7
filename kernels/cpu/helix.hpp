#pragma once

#include "../helix.hpp"

namespace tandem::kernels::cpu {

extern const HelixKernels helix_kernels;

}  // namespace tandem::kernels::cpu
