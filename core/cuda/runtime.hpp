#pragma once

#include <string>

namespace tandem::cuda {

/// CUDA devices that the driver shows; 0 without a driver, or in a build without CUDA.
int device_count();
std::string device_name(int ordinal);
std::string runtime_version();  ///< "13.0"; empty in a build without CUDA

}  // namespace tandem::cuda
