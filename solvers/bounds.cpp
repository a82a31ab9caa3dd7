#include "bounds.hpp"

#include <algorithm>
#include <cmath>

#include "../core/error.hpp"
#include "../operators/gradient.hpp"
#include "../operators/vector.hpp"

namespace tandem {

void validate(const Bounds& bounds) {
  require<GeometryError>(bounds.lowest < bounds.highest, "bounds: ", bounds.lowest, " to ", bounds.highest,
                         "; the lowest value must be below the highest");
}

void clamp(VectorView x, const Bounds& bounds, Stream& stream) {
  validate(bounds);
  constexpr float none = std::numeric_limits<float>::infinity();
  if (bounds.lowest > -none) clamp_below(x, bounds.lowest, stream);
  if (bounds.highest == none) return;
  axpby(-1, x, 0, x, stream);
  clamp_below(x, -bounds.highest, stream);
  axpby(-1, x, 0, x, stream);
}

std::vector<double> least_products(Array z, const Bounds& bounds, const std::vector<double>& lengths,
                                   Stream& stream) {
  const double lowest = bounds.lowest, highest = bounds.highest;
  const std::vector<double> sums = sum_lengths(z, stream), squares = dot(z, z, stream);
  clamp_below(z, 0, stream);
  const std::vector<double> above = sum_lengths(z, stream), squares_above = dot(z, z, stream);
  std::vector<double> least(lengths.size(), 0.0);
  for (std::size_t k = 0; k < least.size(); ++k) {
    double free = 0;  // the squares of elements that no bound holds
    if (std::isfinite(lowest))
      least[k] += lowest * above[k];
    else
      free += squares_above[k];
    if (std::isfinite(highest))
      least[k] -= highest * (sums[k] - above[k]);
    else
      free += std::max(0.0, squares[k] - squares_above[k]);
    least[k] -= lengths[k] * std::sqrt(free);
  }
  return least;
}

}  // namespace tandem
