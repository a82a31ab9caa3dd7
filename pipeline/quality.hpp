#pragma once

#include <span>

#include "../core/space.hpp"

namespace tandem::pipeline {

/// How far an image is from the truth.
struct Quality {
  double rmse;       ///< root mean square error over the whole square, unit of the image
  double rmse_disc;  ///< the same over the inscribed disc: pixel centres at most half a width from the middle
  double psnr;       ///< dB, 20 log10(range / rmse) over the whole square; infinite for equal images
  double ssim;       ///< structural similarity, 1 for equal images
};

/// Compares a slab (slice, y, x) with the truth; `range` is the span of true values that PSNR and SSIM refer
/// to. SSIM has the 7 x 7 uniform window, K1 = 0.01, K2 = 0.03 and sample covariances of scikit-image's
/// default, is the mean over all full windows, then over slices. Source: Wang et al. 2004. Sums are in
/// double.
/// @throws SpaceError for sizes that differ; GeometryError for slices below 7 x 7 or a range that is not
/// positive
Quality compare(std::span<const float> image, std::span<const float> truth, Shape shape, double range = 1);

/// The quality of a volume from that of its parts, each of equally many slices.
Quality combined(std::span<const Quality> parts, double range = 1);

}  // namespace tandem::pipeline
