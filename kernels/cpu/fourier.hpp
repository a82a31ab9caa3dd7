#pragma once

#include "../fourier.hpp"

namespace tandem::kernels::cpu {

double fourier_memory(const FourierSizes& sizes, Index views, Index slices, Device device);

}  // namespace tandem::kernels::cpu
