#include "damping.hpp"

#include <cmath>
#include <utility>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/vector.hpp"

namespace tandem::pipeline {

Equations damped(Equations equations, const MethodOptions& options) {
  if (!options.tikhonov_weight) return equations;
  const float weight = *options.tikhonov_weight;
  require<GeometryError>(weight > 0 && std::isfinite(weight), spelled("tikhonov-weight") + " ", weight,
                         "; a positive number is needed");
  const Space volume = equations.A.domain();
  equations.A = vstack({std::move(equations.A), std::sqrt(weight) * identity(volume)});
  Stream& stream = default_stream(volume.device());
  Array y = zeros(equations.A.range(), stream);
  axpby(1, equations.y, 0, VectorView(y).part(0), stream);
  equations.y = std::move(y);
  return equations;
}

}  // namespace tandem::pipeline
