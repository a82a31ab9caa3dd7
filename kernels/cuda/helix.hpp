#pragma once

#include "../helix.hpp"

namespace tandem::kernels::cuda {

extern const HelixKernels helix_kernels;

}  // namespace tandem::kernels::cuda
