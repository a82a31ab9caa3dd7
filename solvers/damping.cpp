#include "damping.hpp"

#include <cmath>
#include <utility>

#include "../core/error.hpp"
#include "../core/spelled.hpp"
#include "../operators/algebra.hpp"
#include "../operators/vector.hpp"

namespace tandem {

void damp(LinearOperator& A, Array& b, float weight) {
  require<GeometryError>(weight > 0 && std::isfinite(weight), spelled("tikhonov-weight") + " ", weight,
                         "; a positive number is needed");
  const Space volume = A.domain();
  A = vstack({std::move(A), std::sqrt(weight) * identity(volume)});
  Stream& stream = default_stream(volume.device());
  Array both = zeros(A.range(), stream);
  axpby(1, b, 0, VectorView(both).part(0), stream);
  b = std::move(both);
}

}  // namespace tandem
