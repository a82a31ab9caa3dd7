#include "checks.hpp"

#include <cmath>
#include <vector>

#include "../core/error.hpp"
#include "../operators/vector.hpp"

namespace tandem {

void require_none_negative(const Array& data, Array& scratch, const std::string& what, Stream& stream) {
  axpby(1, data, 0, scratch, stream);
  clamp_below(scratch, 0, stream);
  axpby(-1, data, 1, scratch, stream);  // the negative parts
  const std::vector<double> below = norm(scratch, stream);
  for (std::size_t k = 0; k < below.size(); ++k)
    require<GeometryError>(below[k] == 0, what, " of block ", k,
                           " are negative or not finite (norm of what is below zero: ", below[k],
                           "); numbers from 0 on are needed");
}

void require_weights(std::span<const float> weights, Index blocks, const std::string& solver) {
  require<SpaceError>(weights.size() == 1 || std::ssize(weights) == blocks, solver, ": ", weights.size(),
                      " weights for ", blocks, " blocks; give one, or one per block");
  for (const float weight : weights)
    require<GeometryError>(weight >= 0 && std::isfinite(weight), solver, ": weight ", weight,
                           " of the regulariser; a number from 0 on is needed");
}

void require_relaxation(float relaxation, const std::string& solver) {
  require<GeometryError>(relaxation > 0 && relaxation < 2, solver, ": relaxation ", relaxation,
                         "; a number between 0 and 2 is needed");
}

}  // namespace tandem
