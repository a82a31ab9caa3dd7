#include "tandem/core/cuda/runtime.hpp"

#include <cuda_runtime_api.h>

namespace tandem::cuda {

int device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

std::string device_name(int ordinal) {
  cudaDeviceProp properties{};
  return cudaGetDeviceProperties(&properties, ordinal) == cudaSuccess ? properties.name : "unknown";
}

std::string runtime_version() {
  return std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
}

}  // namespace tandem::cuda
