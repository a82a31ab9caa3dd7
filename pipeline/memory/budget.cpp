#include "budget.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "../../core/process_memory.hpp"
#include "../../core/units.hpp"

namespace tandem::pipeline {

/// Adds the memory of libraries for files, and on a GPU that of kernels and transforms, which are loaded when
/// they are first used.
double held_with_libraries(bool on_gpus) {
  constexpr double of_files = 32e6, of_gpus = 128e6;
  return held_memory() + of_files + (on_gpus ? of_gpus : 0);
}

double host_budget(const Recipe& recipe) {
  return recipe.host_bytes ? *recipe.host_bytes : static_cast<double>(held_memory()) + spare_host_memory();
}

double device_budget(const std::vector<Device>& devices, const Recipe& recipe) {
  const auto& asked = recipe.device_bytes;
  double least = asked ? static_cast<double>(*asked) : INFINITY;
  bool gpu = false;
  for (const Device device : devices)
    if (device.is_cuda()) least = std::min(least, 0.9 * free_memory(device)), gpu = true;
  return gpu ? least : std::min<double>(least, spare_host_memory());
}

std::string in_gib(double bytes) {
  std::ostringstream text;
  text.precision(3);
  text << bytes / bytes_per_gib << " GiB";
  return text.str();
}

}  // namespace tandem::pipeline
