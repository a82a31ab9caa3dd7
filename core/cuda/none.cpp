// The same symbols for a build without CUDA.
#include "tandem/core/cuda/runtime.hpp"

namespace tandem::cuda {

int device_count() { return 0; }
std::string device_name(int) { return {}; }
std::string runtime_version() { return {}; }

}  // namespace tandem::cuda
