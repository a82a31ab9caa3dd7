#pragma once

#include <string>
#include <vector>

#include "../../launches.hpp"
#include "../../parallel.hpp"

namespace tandem::kernels::cuda {

// What variants share.

/// Projection on the cores. Float16: the coefficients of mma_backward, to the bit.
void alu_forward(const ParallelViews& views, Precision precision, float alpha, Image<const float> volume,
                 float beta, Image<float> projections, Stream& stream);
/// Projection on the cores in float32, as `Variant::forward`. Textures have no transpose; for them it is the
/// transpose of the coefficients before textures round these to 1/256.
void forward_on_cores(const ParallelViews& views, const Execution& how, float alpha,
                      Image<const float> volume, float beta, Image<float> projections, Stream& stream);
/// The names of its kernels and `more`.
std::vector<std::string> with_forward_on_cores(std::vector<std::string> more);

/// Bytes that kernels ask of the pool for a list of views.
double views_memory(Shape projections);
/// Memory of a projection on the cores: batches of 16 slices of volume, turned volume and projections.
double forward_memory(Shape volume, Shape projections);
/// Memory of a back-projection of four slices at a time from so many copies of their sinogram. Textures take
/// as much, too, if they do not fit.
double backward_memory(Shape volume, Shape projections, int sinograms);

/// Name of a kernel of tensor products: slices per product, float16 or float32 (two planes), and whether
/// every hat has height and radius 1.
inline std::string product_name(const std::string& kernel, int lanes, int planes, bool unit) {
  return kernel + (planes == 2 ? " float32, " : " float16, ") + std::to_string(lanes) +
         (unit ? "" : ", other hats");
}

/// Tensor cores of every card. Float16: its projection is alu_forward's.
void mma_backward(const ParallelViews& views, Precision precision, float alpha,
                  Image<const float> projections, float beta, Image<float> volume, Stream& stream);

/// Tensor cores of Hopper, by its own instructions: back-projection in float16, and projections whose
/// coefficients are, to the bit, those of the back-projections. Beside a batch of slices they keep at most
/// `tensor_forward_sums` bytes of sums (or the sums of one group of views, for volumes 131,000 pixels wide).
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
