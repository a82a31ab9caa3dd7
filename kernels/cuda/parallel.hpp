#pragma once

#include "tandem/kernels/parallel.hpp"

namespace tandem::kernels::cuda {

// Each is the backward or the forward of ParallelKernels, in the variant of its name.

void alu_forward(const ParallelViews& views, float alpha, Image<const float> volume, float beta,
                 Image<float> projections, Stream& stream);
void alu_backward(const ParallelViews& views, float alpha, Image<const float> projections, float beta,
                  Image<float> volume, Stream& stream);

void standard_backward(const ParallelViews& views, float alpha, Image<const float> projections, float beta,
                       Image<float> volume, Stream& stream);
void texture_backward(const ParallelViews& views, Precision precision, float alpha,
                      Image<const float> projections, float beta, Image<float> volume, Stream& stream);
/// Of `hybrid_period` blocks of the hybrid variant in a row, `hybrid_by_texture` go to the texture units.
constexpr unsigned hybrid_by_texture = 2, hybrid_period = 5;
void hybrid_backward(const ParallelViews& views, float alpha, Image<const float> projections, float beta,
                     Image<float> volume, Stream& stream);

void tensor_backward(const ParallelViews& views, Precision precision, float alpha,
                     Image<const float> projections, float beta, Image<float> volume, Stream& stream);
/// Whether the tensor kernels can do these views: their tiles must fit the products.
bool tensor_fits(const ParallelViews& views);

}  // namespace tandem::kernels::cuda
