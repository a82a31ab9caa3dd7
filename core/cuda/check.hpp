#pragma once

#include <cuda_runtime_api.h>

#include <source_location>

#include "../error.hpp"
#include "../spelled.hpp"

namespace tandem::cuda {

/// Turns a failed call into a DeviceError that has the place of the call and the message of CUDA.
inline void check(cudaError_t status, const std::source_location at = std::source_location::current()) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // so that the next call does not see a launch error again
  require<DeviceError>(
      false, "CUDA: ", cudaGetErrorString(status), " in ", at.function_name(),
      status == cudaErrorMemoryAllocation ? "; use a smaller " + spelled("device-memory") + " or batch" : "");
}

}  // namespace tandem::cuda
