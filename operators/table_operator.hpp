#pragma once

// Used only within operators/.

#include <memory>

#include "../geometry/views.hpp"
#include "../kernels/variant.hpp"
#include "batches.hpp"

namespace tandem {

/// A variant of a table, with views and spaces, as an operator.
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

  // If slices are problems of their own, the slices of a batch are slices of one volume, unless each row has
  // its own numbers.
  Index together() const {
    if (volume.blocks() == Blocks::whole) return 1;
    if constexpr (requires { views->row_shifts; })
      if (!views->row_shifts.empty()) return 1;
    return slices_together(volume);
  }
  void apply(float alpha, ConstVectorView x, float beta, VectorView y, const Batch& batch,
             Stream& stream) const {
    with_slices_together(x, y, batch, [&](Image<const float> in, Image<float> out) {
      variant->forward(*views, how, alpha * scale, in, beta, out, stream);
    });
  }
  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, const Batch& batch,
                     Stream& stream) const {
    with_slices_together(y, x, batch, [&](Image<const float> in, Image<float> out) {
      variant->backward(*views, how, alpha * scale, in, beta, out, stream);
    });
  }
};

}  // namespace tandem
