#pragma once

#include "../core/host_device.hpp"

namespace tandem::kernels {

/// sum + a b, each rounded: the compiler of a GPU would fuse them, and the bits would not be those of the
/// CPU.
TANDEM_HOST_DEVICE inline double plus_product(double sum, double a, double b) {
#ifdef __CUDA_ARCH__
  return __dadd_rn(sum, __dmul_rn(a, b));
#else
  return sum + a * b;
#endif
}
TANDEM_HOST_DEVICE inline float plus_product(float sum, float a, float b) {
#ifdef __CUDA_ARCH__
  return __fadd_rn(sum, __fmul_rn(a, b));
#else
  return sum + a * b;
#endif
}

}  // namespace tandem::kernels
