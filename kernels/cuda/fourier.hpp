#pragma once

#include "../fourier.hpp"

namespace tandem::kernels::cuda {

/// @throws DeviceError if a line of the plan does not fit into the shared memory of the device
double fourier_memory(const FourierSizes& sizes, Index views, Index slices, Device device);

}  // namespace tandem::kernels::cuda
