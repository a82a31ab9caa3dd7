#include "circles.hpp"

#include <cmath>
#include <memory>
#include <utility>

#include "../core/error.hpp"
#include "vector.hpp"

namespace tandem {

namespace {

struct CirclesMap {
  Space in, out;
  std::shared_ptr<const kernels::Circles> how;
  Space domain() const { return in; }
  Space range() const { return out; }
  void apply(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const {
    if (beta == 0)
      fill(y, 0, stream);
    else if (beta != 1)
      axpby(beta, y, 0, y, stream);
    kernels::ramp(stream.device()).add_circles(*how, alpha, image(x), image(y), stream);
  }
  void apply_adjoint(float, ConstVectorView, float, VectorView, Stream&) const {
    throw GeometryError(
        "filter: padding circle depends on the data, and has no transpose; give padding cosine");
  }
};

}  // namespace

Index length_of_circles(Index bins, Index reach) { return kernels::transform_length(2 * (bins + reach)); }

LinearOperator circles(const Space& rows, const Space& filtered, kernels::RowFilter usual,
                       kernels::Circles how) {
  require<GeometryError>(how.attenuation > 0 && std::isfinite(how.attenuation), "filter: padding circle of ",
                         how.attenuation, " 1/mm; an attenuation above 0 is needed");
  how.ramp.view_weights.assign(rows.shape()[0], 1.0f);
  how.ramp.row_shifts = usual.row_shifts;
  how.usual = std::move(usual);
  return CirclesMap{rows, filtered, std::make_shared<const kernels::Circles>(std::move(how))};
}

}  // namespace tandem
