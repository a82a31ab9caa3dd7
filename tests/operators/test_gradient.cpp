#include "../../operators/gradient.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "../../core/error.hpp"
#include "../../operators/norms.hpp"
#include "../support/dense.hpp"
#include "../support/operators.hpp"
#include "../support/property.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

TEST(Gradient, HasTheDifferencesOfNeighbours) {
  const Space volume({2, 3, 4});
  const Array x = test::random_array(volume, 1), y = gradient(volume, {2, 1, 0.5f}) * x;
  const auto at = [&](Index k, Index j, Index i) { return x.data()[(k * 3 + j) * 4 + i]; };
  for (Index k = 0; k < 2; ++k)
    for (Index j = 0; j < 3; ++j)
      for (Index i = 0; i < 4; ++i) {
        const float* field = y.data() + (k * 3 + j) * 4 + i;
        EXPECT_EQ(field[0], k + 1 < 2 ? 2 * (at(k + 1, j, i) - at(k, j, i)) : 0);
        EXPECT_EQ(field[24], j + 1 < 3 ? at(k, j + 1, i) - at(k, j, i) : 0);
        EXPECT_EQ(field[48], i + 1 < 4 ? 0.5f * (at(k, j, i + 1) - at(k, j, i)) : 0);
      }
}

/// The length of a gradient is that of its parts along a direction and, times the ratio, across it.
TEST(Gradient, WeighsDifferencesAcrossADirection) {
  EXPECT_TRUE(test::holds("lengths are those of the parts along and across", [] {
    const double angle = *rc::gen::inRange(-400, 400) / 100.0, ratio = *rc::gen::inRange(1, 9);
    const Space volume({2, 4, 5});
    const Array x = test::random_array(volume, 1);
    const auto [scales, shear] = across(angle, ratio, {3, 2, 0.5f});
    const Eigen::VectorXd plain = test::column(gradient(volume, {3, 2, 0.5f}) * x),
                          some = test::column(gradient(volume, scales, shear) * x);
    for (Index i = 0; i < volume.size(); ++i) {
      const double z = plain(i), y = plain(40 + i), dx = plain(80 + i);
      const double along = std::cos(angle) * dx + std::sin(angle) * y,
                   aside = -std::sin(angle) * dx + std::cos(angle) * y;
      const double length = std::hypot(some(i), some(40 + i), some(80 + i));
      RC_ASSERT(std::abs(length - std::hypot(z, along, ratio * aside)) <= 1e-4);
    }
  }));
  const Space image({1, 40, 40});
  const auto [scales, shear] = across(0.6, 4);
  const double norm = operator_norm(gradient(image, scales, shear), 300);
  EXPECT_LT(norm * norm, gradient_norm_squared(image, scales, shear));
}

TEST(Gradient, StaysInItsSliceWhereSlicesAreBlocks) {
  const Space apart({3, 4, 5}, Blocks::slices), one({1, 4, 5});
  EXPECT_EQ(gradient(apart).range().parts(), 2);
  EXPECT_EQ(gradient(one).range().parts(), 2);
  const Array x = test::random_array(apart, 1), y = gradient(apart) * x;
  const Array first = test::array_of(test::column(x).head(20), one), alone = gradient(one) * first;
  for (Index part = 0; part < 2; ++part)
    for (Index e = 0; e < 20; ++e) EXPECT_EQ(y.data()[part * 60 + e], alone.data()[part * 20 + e]);
}

TEST(Gradient, HasItsTranspose) {
  EXPECT_TRUE(test::holds("the adjoint is the transpose of the matrix, with alpha and beta", [] {
    const Shape n{*rc::gen::inRange<Index>(1, 4), *rc::gen::inRange<Index>(1, 5),
                  *rc::gen::inRange<Index>(1, 6)};
    const Space volume(n, *rc::gen::element(Blocks::whole, Blocks::slices));
    const LinearOperator D = gradient(volume, {0.7f, 1, 1.3f}, *rc::gen::element(0.0f, -0.6f));
    const Eigen::MatrixXd matrix = test::dense(D);
    RC_ASSERT(matrix.transpose() == test::dense(adjoint(D)));
    Array x = test::random_array(volume, 1), y = test::random_array(D.range(), 2);
    const Eigen::VectorXd expected = 3 * matrix.transpose() * test::column(y) - 0.5 * test::column(x);
    D.apply_adjoint(3, y, -0.5f, x, default_stream(Device::cpu()));
    RC_ASSERT((test::column(x) - expected).cwiseAbs().maxCoeff() <= 40 * tolerance::u);
  }));
}

TEST(Gradient, HasANormBelowItsBound) {
  for (const Space& volume : {Space({1, 40, 40}), Space({12, 12, 12})}) {
    const double bound = std::sqrt(gradient_norm_squared(volume)),
                 norm = operator_norm(gradient(volume), 300);
    EXPECT_LT(norm, bound);
    EXPECT_GT(norm, 0.98 * bound);
  }
}

TEST(Gradient, TakesVolumesOnly) {
  EXPECT_THROW(gradient(Space({2, 3, 4}, Blocks::rows)), SpaceError);
  EXPECT_THROW(gradient(Space::direct_sum({Space({2, 3, 4}), Space({2, 3, 4})})), SpaceError);
}

TEST(Lengths, AreClampedAndSummedBlockByBlock) {
  const Space volume({2, 3, 5}, Blocks::slices);
  const Space field = Space::direct_sum({volume, volume});
  const Array x = test::random_array(field, 3);
  Stream& stream = default_stream(Device::cpu());
  const Eigen::VectorXd first = test::column(x).head(30), second = test::column(x).tail(30);
  const Eigen::VectorXd lengths = (first.cwiseAbs2() + second.cwiseAbs2()).cwiseSqrt();
  const std::vector<double> sums = sum_lengths(x, stream);
  EXPECT_NEAR(sums[0], lengths.head(15).sum(), 1e-5);
  EXPECT_NEAR(sums[1], lengths.tail(15).sum(), 1e-5);

  Array y = x.clone();
  const std::vector<float> longest{0.2f, 0};
  clamp_lengths(y, longest, stream);
  for (Index e = 0; e < 30; ++e) {
    const double factor = e < 15 ? std::min(1.0, 0.2 / lengths(e)) : 0.0;
    EXPECT_NEAR(y.data()[e], factor * first(e), 1e-6);
    EXPECT_NEAR(y.data()[30 + e], factor * second(e), 1e-6);
  }
  EXPECT_THROW(clamp_lengths(y, std::vector<float>(3, 1.0f), stream), SpaceError);
}

TEST(Lengths, OfNumbersAreAbsoluteValues) {
  const Space projections({3, 2, 4}, Blocks::rows);
  const Array x = test::random_array(projections, 3);
  double sums[2] = {0, 0};
  for (Index i = 0; i < x.size(); ++i) sums[i / 4 % 2] += std::abs(static_cast<double>(x.data()[i]));
  const std::vector<double> found = sum_lengths(x, default_stream(Device::cpu()));
  EXPECT_DOUBLE_EQ(found[0], sums[0]);
  EXPECT_DOUBLE_EQ(found[1], sums[1]);
}

}  // namespace
}  // namespace tandem
