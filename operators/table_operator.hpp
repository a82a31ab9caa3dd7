#pragma once

// Used only within operators/.

#include <memory>

#include "../kernels/variant.hpp"
#include "linear_operator.hpp"

namespace tandem {

/// A variant of a table and what it is applied to, as an operator.
template <class Views>
struct Projector {
  Space volume, projections;
  std::shared_ptr<const Views> views;
  const kernels::Variant<Views>* variant;
  Execution how;
  float scale;
  Space domain() const { return volume; }
  Space range() const { return projections; }
  void apply(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const {
    variant->forward(*views, how, alpha * scale, image(x), beta, image(y), stream);
  }
  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, Stream& stream) const {
    variant->backward(*views, how, alpha * scale, image(y), beta, image(x), stream);
  }
};

}  // namespace tandem
