#pragma once

#include <span>

#include "../../core/space.hpp"

namespace tandem::pipeline {

/// How much an image differs from the truth.
struct Quality {
  double rmse;       ///< root mean square error over the whole square, in the unit of the image
  double rmse_disc;  ///< the same over the inscribed disc: pixel centres at most half a width from the middle
  double psnr;       ///< dB, 20 log10(range / rmse) over the whole square; infinite for equal images
  double ssim;       ///< structural similarity, 1 for equal images
};

/// @throws GeometryError unless slices (slice, y, x) are large enough for SSIM
void require_comparable(Shape shape);

/// Compares a slab (slice, y, x) with the truth. `range` is the span of true values that PSNR and SSIM refer
/// to. SSIM has a uniform window of 7 x 7, K1 = 0.01, K2 = 0.03 and sample covariances, as scikit-image has
/// by default. It is the mean over all full windows, and then over slices. Source: Wang et al. 2004. Sums are
/// in double. @throws SpaceError if the sizes differ; GeometryError for slices below 7 x 7, or if the range
/// is not positive
Quality compare(std::span<const float> image, std::span<const float> truth, Shape shape, double range = 1);

/// The quality of a volume from the quality of its parts, which all have the same number of slices.
Quality combined(std::span<const Quality> parts, double range = 1);

}  // namespace tandem::pipeline
