#pragma once

#include "../../kernels/cuda/parallel/parallel.hpp"
#include "../../operators/projector.hpp"

namespace tandem::test {

inline const Execution half{"tensor", Precision::float16}, single{"tensor", Precision::float32};

/// The form that the table takes on this card, and the form that every card has.
enum class Form { chosen, portable };

struct PortableProjector {
  Space volume, projections;
  ParallelViews views;
  Precision precision;
  Space domain() const { return volume; }
  Space range() const { return projections; }
  void apply(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const {
    kernels::cuda::alu_forward(views, precision, alpha * views.scale, image(x), beta, image(y), stream);
  }
  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, Stream& stream) const {
    kernels::cuda::mma_backward(views, precision, alpha * views.scale, image(y), beta, image(x), stream);
  }
};

inline LinearOperator tensor_projector(Form form, const ParallelBeam& scan, const VolumeGrid& grid,
                                       const Execution& how, Model model = Model::pixel_driven) {
  const LinearOperator chosen = projector(scan, grid, model, Device::cuda(0), how);
  if (form == Form::chosen) return chosen;
  return PortableProjector{chosen.domain(), chosen.range(), pack(scan, grid, model), how.precision};
}

}  // namespace tandem::test
