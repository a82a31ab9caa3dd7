#pragma once

#include "../../launches.hpp"
#include "../../parallel.hpp"

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
void hybrid_backward(const ParallelViews& views, float alpha, Image<const float> projections, float beta,
                     Image<float> volume, Stream& stream);

/// Whether a texture draws these hats, and holds these projections (view, row, bin).
bool textures_fit(const ParallelViews& views, Execution how, Shape projections, Device device);

/// Of tensor products: of slices, of two planes for float32, of hats of height and radius one or others.
inline std::string product_name(const std::string& kernel, int lanes, int planes, bool unit) {
  return kernel + (planes == 2 ? " float32, " : " float16, ") + std::to_string(lanes) +
         (unit ? "" : ", other hats");
}

/// Tensor cores of every card. Float16: its projection is alu_forward's.
void mma_backward(const ParallelViews& views, Precision precision, float alpha,
                  Image<const float> projections, float beta, Image<float> volume, Stream& stream);

/// Tensor cores of Hopper, by its own instructions: back-projection in float16, and projections whose
/// coefficients are, to the bit, those of the back-projections. They keep `tensor_forward_sums` bytes of
/// sums at the most beside a batch of slices (or those of one group of views, in volumes 131,000 pixels
/// wide).
constexpr Index tensor_forward_sums = Index{1} << 30;
void tensor_forward(const ParallelViews& views, Precision precision, float alpha, Image<const float> volume,
                    float beta, Image<float> projections, Stream& stream);
void tensor_backward(const ParallelViews& views, float alpha, Image<const float> projections, float beta,
                     Image<float> volume, Stream& stream);

/// Whether all bins that a tile of pixels meets fit one product.
bool mma_fits(const ParallelViews& views);
bool tensor_forward_fits(const ParallelViews& views);
bool tensor_backward_fits(const ParallelViews& views);

}  // namespace tandem::kernels::cuda
