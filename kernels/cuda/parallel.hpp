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
void hybrid_backward(const ParallelViews& views, float alpha, Image<const float> projections, float beta,
                     Image<float> volume, Stream& stream);

/// Tensor cores of Hopper, by its own instructions.
void tensor_backward(const ParallelViews& views, Precision precision, float alpha,
                     Image<const float> projections, float beta, Image<float> volume, Stream& stream);
/// Tensor cores of every card.
void mma_backward(const ParallelViews& views, Precision precision, float alpha,
                  Image<const float> projections, float beta, Image<float> volume, Stream& stream);
/// Whether these two can do these views: tiles of pixels must fit the products.
bool tensor_fits(const ParallelViews& views);
bool mma_fits(const ParallelViews& views);

}  // namespace tandem::kernels::cuda
