#pragma once

// The filter of views of any geometry. Used only within the library.

#include <memory>

#include "../kernels/ramp.hpp"
#include "vector.hpp"

namespace tandem {

/// The operator F: `Rows` makes rows from views, and the ramp filters them, in place if beta = 0.
template <class Rows>
struct RampOfRows {
  Space in, out;
  Rows rows;
  std::shared_ptr<const kernels::RowFilter> filter;
  Space domain() const { return in; }
  Space range() const { return out; }

  void apply(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const {
    const auto filtered = [&](VectorView made) {
      rows.make(image(x), image(made), stream);
      kernels::ramp(stream.device())
          .filter(*filter, false, alpha, image(ConstVectorView(made)), beta, image(y), stream);
    };
    if (beta == 0) return filtered(y);
    Array made(out, stream);
    filtered(made);
  }
  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, Stream& stream) const {
    rows.require_transpose(stream);
    Array made(out, stream);
    kernels::ramp(stream.device()).filter(*filter, true, 1, image(y), 0, image(VectorView(made)), stream);
    rows.back(alpha, image(ConstVectorView(made)), beta, image(x), stream);
  }
};

}  // namespace tandem
