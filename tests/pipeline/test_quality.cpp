#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "../../core/error.hpp"
#include "../../pipeline/watch/quality.hpp"
#include "../support/tolerances.hpp"

namespace tandem::pipeline {
namespace {

using Slice = std::vector<float>;

/// A pair of 11 x 13 images from integers alone: exact in float.
struct Sample {
  Slice truth, image;
  Sample() {
    for (int y = 0; y < 11; ++y)
      for (int x = 0; x < 13; ++x) {
        truth.push_back(static_cast<float>((3 * x + 5 * y) % 7) / 8);
        image.push_back(truth.back() + static_cast<float>((2 * x + 7 * y + x * y) % 5 - 2) / 32);
      }
  }
};

TEST(Quality, OfEqualImagesIsPerfect) {
  const Sample s;
  const Quality q = compare(s.truth, s.truth, {1, 11, 13});
  EXPECT_EQ(q.rmse, 0);
  EXPECT_EQ(q.rmse_disc, 0);
  EXPECT_EQ(q.psnr, INFINITY);
  EXPECT_DOUBLE_EQ(q.ssim, 1);
}

TEST(Quality, OfAConstantErrorIsThatError) {
  const Slice truth(9 * 9, 0.5f), image(9 * 9, 0.75f);
  const Quality q = compare(image, truth, {1, 9, 9});
  EXPECT_DOUBLE_EQ(q.rmse, 0.25);
  EXPECT_DOUBLE_EQ(q.rmse_disc, 0.25);
  EXPECT_DOUBLE_EQ(q.psnr, 20 * std::log10(4.0));
  // no variance: (2ab + c1) / (a^2 + b^2 + c1), c1 = 1e-4
  EXPECT_NEAR(q.ssim, 0.7501 / 0.8126, tolerance::double_rounding);
}

TEST(Quality, RangeRaisesPsnr) {
  const Slice truth(9 * 9, 0.5f), image(9 * 9, 0.75f);
  EXPECT_NEAR(compare(image, truth, {1, 9, 9}, 10).psnr, 20 * std::log10(40.0),
              tolerance::double_rounding * 32);
}

TEST(Quality, OfTheDiscLeavesTheCornersOut) {
  const Slice truth(8 * 8, 0.f);
  Slice image = truth;
  image[0] = image[7] = image[56] = image[63] = 4;  // sqrt(3.5^2 + 3.5^2) > 4
  const Quality q = compare(image, truth, {1, 8, 8});
  EXPECT_DOUBLE_EQ(q.rmse, 1);  // 4 x 16 / 64
  EXPECT_EQ(q.rmse_disc, 0);
}

TEST(Quality, SimilarityIsThatOfScikitImage) {
  const Sample s;
  // skimage.metrics.structural_similarity(truth, image, data_range=R) of scikit-image 0.26.0, images as
  // float64
  EXPECT_NEAR(compare(s.image, s.truth, {1, 11, 13}, 1).ssim, 0.9857172994584212,
              tolerance::quoted_similarity);
  EXPECT_NEAR(compare(s.image, s.truth, {1, 11, 13}, 2).ssim, 0.986016135410171,
              tolerance::quoted_similarity);
}

TEST(Quality, OfAVolumeIsCombinedFromItsSlices) {
  const Sample s;
  Slice image = s.image, truth = s.truth;
  image.insert(image.end(), s.truth.begin(), s.truth.end());
  truth.insert(truth.end(), s.image.begin(), s.image.end());
  image[20] += 0.5f;
  const Quality whole = compare(image, truth, {2, 11, 13});
  const std::span a(image), b(truth);
  const Quality parts[] = {compare(a.first(143), b.first(143), {1, 11, 13}),
                           compare(a.last(143), b.last(143), {1, 11, 13})};
  const Quality joined = combined(parts);
  EXPECT_NEAR(joined.rmse, whole.rmse, tolerance::double_rounding);
  EXPECT_NEAR(joined.rmse_disc, whole.rmse_disc, tolerance::double_rounding);
  EXPECT_NEAR(joined.psnr, whole.psnr, tolerance::double_rounding * whole.psnr);
  EXPECT_NEAR(joined.ssim, whole.ssim, tolerance::double_rounding);
}

TEST(Quality, RefusesWhatItCannotCompare) {
  const Slice a(64), b(63), small(36);
  EXPECT_THROW(compare(a, b, {1, 8, 8}), SpaceError);
  EXPECT_THROW(compare(small, small, {1, 6, 6}), GeometryError);
  EXPECT_THROW(compare(a, a, {1, 8, 8}, 0), GeometryError);
  EXPECT_THROW(combined({}), SpaceError);
}

}  // namespace
}  // namespace tandem::pipeline
