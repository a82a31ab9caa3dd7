#include "per_block.hpp"

#include <cstddef>

namespace tandem {

std::vector<double> quotients(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> all(a.size(), 0.0);
  for (std::size_t k = 0; k < a.size(); ++k)
    if (b[k] > 0) all[k] = a[k] / b[k];
  return all;
}

std::vector<float> of_active(const ActiveBlocks& active, float moving, float still) {
  std::vector<float> factors(active.size(), still);
  for (std::size_t k = 0; k < active.size(); ++k)
    if (active[k]) factors[k] = moving;
  return factors;
}

std::vector<float> of_active(const ActiveBlocks& active, const std::vector<double>& moving, float still) {
  std::vector<float> factors(active.size(), still);
  for (std::size_t k = 0; k < active.size(); ++k)
    if (active[k]) factors[k] = static_cast<float>(moving[k]);
  return factors;
}

std::vector<float> minus(std::vector<float> factors) {
  for (float& factor : factors) factor = -factor;
  return factors;
}

double next_fall(double fall, double gamma) { return fall > 0 && gamma > 0 ? 1 / (1 / fall + 1 / gamma) : 0; }

}  // namespace tandem
