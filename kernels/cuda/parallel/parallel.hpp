#pragma once

// Parallel beams on a GPU (docs/kernels/parallel.md). Pixel (x, y) falls on position h of a view, in bins.
// Its coefficient with bin b is a hat for both models, Joseph's (1982) and linear interpolation:
//
//   h(x, y) = origin + step_x x + step_y y        a(h, b) = max(0, height - slope |h - b|)
//
// times `scale`, which callers apply; geometry/views.cpp makes these numbers. `nearest` has a box instead.
//
// Back-projection on the cores (alu_block.cuh; Chilingaryan et al. 2018, algorithm 2). A block has 32 x 32
// pixels. A thread has four of them, and of each four slices side by side, whose sums stay in registers:
//
//   for 16 views at a time:
//     windows[v][..] in shared memory <- bins of each view v that the block meets
//     for each view v, for each pixel:
//       below = floor(h);  for t = 1 - reach .. reach:  sum[pixel] += a(h, below + t) windows[v][below + t]
//   volume[pixel] = sum[pixel]
//
// Back-projection by texture units (texture_block.cuh; algorithm 1). A block has a tile of 16 x 16 pixels. A
// thread has the same pixel of its four quarters, and every fourth view:
//
//   for v = group, group + 4, ..., for each quarter q:  sum[q] += height texture(h, v)
//   the sums of the four groups are added in shared memory, in order
//
// Projection (gather.cuh), the transpose of the first. A thread has a bin b, a view, and up to 16 slices:
//
//   for each line of pixels, 16 lines at a time:   (rows of the volume if |step_x| >= |step_y|, else columns)
//     for each pixel of the line whose hat reaches b:  sum += a(h, b) volume[pixel]
//
// Tensor cores make the same sums, as products of small matrices (mma.cu, folder `hopper`).

#include <string>
#include <vector>

#include "../../launches.hpp"
#include "../../parallel.hpp"

namespace tandem::kernels::cuda {

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
