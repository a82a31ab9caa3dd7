#pragma once

#include "tandem/kernels/parallel.hpp"

namespace tandem::kernels::cuda {

// Each is the backward or the forward of ParallelKernels, in the variant of its name.

/// Float16: the coefficients of mma_backward, to the bit.
void alu_forward(const ParallelViews& views, Precision precision, float alpha, Image<const float> volume,
                 float beta, Image<float> projections, Stream& stream);
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

/// Tensor cores of Hopper, by its own instructions: the same coefficients both ways, to the bit. The
/// projection keeps `tensor_forward_sums` bytes at the most beside a batch of slices.
constexpr Index tensor_forward_sums = Index{1} << 30;
void tensor_forward(const ParallelViews& views, Precision precision, float alpha, Image<const float> volume,
                    float beta, Image<float> projections, Stream& stream);
void tensor_backward(const ParallelViews& views, Precision precision, float alpha,
                     Image<const float> projections, float beta, Image<float> volume, Stream& stream);
/// Whether these views fit both: all bins that a tile of pixels meets must fit a product.
bool tensor_forward_fits(const ParallelViews& views);
bool tensor_fits(const ParallelViews& views);

/// Tensor cores of every card.
void mma_backward(const ParallelViews& views, Precision precision, float alpha,
                  Image<const float> projections, float beta, Image<float> volume, Stream& stream);
bool mma_fits(const ParallelViews& views);

}  // namespace tandem::kernels::cuda
