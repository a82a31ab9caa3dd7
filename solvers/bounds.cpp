#include "bounds.hpp"

#include "../core/error.hpp"
#include "../operators/vector.hpp"

namespace tandem {

void clamp(VectorView x, const Bounds& bounds, Stream& stream) {
  require<GeometryError>(bounds.lowest < bounds.highest, "bounds: ", bounds.lowest, " to ", bounds.highest,
                         "; the lowest value must be below the highest");
  constexpr float none = std::numeric_limits<float>::infinity();
  if (bounds.lowest > -none) clamp_below(x, bounds.lowest, stream);
  if (bounds.highest == none) return;
  axpby(-1, x, 0, x, stream);
  clamp_below(x, -bounds.highest, stream);
  axpby(-1, x, 0, x, stream);
}

}  // namespace tandem
