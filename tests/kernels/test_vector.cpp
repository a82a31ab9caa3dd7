#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../kernels/parallel.hpp"
#include "../../kernels/ramp.hpp"
#include "../../kernels/vector.hpp"
#include "../../operators/random.hpp"
#include "../../operators/vector.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

constexpr Shape shape{5, 3, 37};
constexpr Blocks kinds[] = {Blocks::whole, Blocks::slices, Blocks::rows};

std::size_t block_of(Blocks blocks, Index i, Index j) {
  return static_cast<std::size_t>(blocks == Blocks::slices ? i : blocks == Blocks::rows ? j : 0);
}

TEST(Dot, SumsEachBlockInDouble) {
  Random random(1);
  for (Blocks blocks : kinds) {
    const Array x = uniform_array(Space(shape, blocks), random), y = sign_array(Space(shape, blocks), random);
    std::vector<double> expected(static_cast<std::size_t>(x.space().block_count()));
    for (Index i = 0; i < shape[0]; ++i)
      for (Index j = 0; j < shape[1]; ++j)
        for (Index k = 0; k < shape[2]; ++k) {
          const Index at = (i * shape[1] + j) * shape[2] + k;
          expected[block_of(blocks, i, j)] +=
              static_cast<double>(x.data()[at]) * static_cast<double>(y.data()[at]);
        }
    const std::vector<double> sums = dot(x, y, default_stream(Device::cpu()));
    ASSERT_EQ(sums.size(), expected.size());
    for (std::size_t b = 0; b < sums.size(); ++b)
      EXPECT_NEAR(sums[b], expected[b], tolerance::double_rounding);
  }
}

TEST(Dot, GivesTheSameBitsForEveryNumberOfThreads) {
  Random random(2);
  const Array x = uniform_array(Space({101, 3, 37}), random), y = sign_array(Space({101, 3, 37}), random);
  const double all = dot(x, y, default_stream(Device::cpu()))[0];
  const ThreadLimit one(1);
  EXPECT_EQ(all, dot(x, y, default_stream(Device::cpu()))[0]);
}

TEST(Axpby, TakesOneScalarABlockOrOneForAll) {
  Random random(3);
  Stream& stream = default_stream(Device::cpu());
  for (Blocks blocks : kinds) {
    const Space space(shape, blocks);
    const Array x = uniform_array(space, random), before = uniform_array(space, random);
    std::vector<float> a, b;
    for (Index k = 0; k < space.block_count(); ++k)
      a.push_back(static_cast<float>(k) - 1), b.push_back(2 - static_cast<float>(k));
    Array y = before.clone();
    axpby(a, x, b, y, stream);
    for (Index i = 0; i < shape[0]; ++i)
      for (Index j = 0; j < shape[1]; ++j)
        for (Index k = 0; k < shape[2]; ++k) {
          const Index at = (i * shape[1] + j) * shape[2] + k;
          const std::size_t block = block_of(blocks, i, j);
          EXPECT_FLOAT_EQ(y.data()[at], a[block] * x.data()[at] + b[block] * before.data()[at]);
        }
    EXPECT_THROW(axpby(std::vector<float>(2), x, std::vector<float>(1), y, stream), SpaceError);
  }
}

TEST(Axpby, WithZeroNeverReadsTheOutput) {
  Array x(Space({1, 1, 3})), y(Space({1, 1, 3}));
  fill(x, 2, default_stream(Device::cpu()));
  fill(y, std::numeric_limits<float>::quiet_NaN(), default_stream(Device::cpu()));
  axpby(3, x, 0, y, default_stream(Device::cpu()));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(y.data()[i], 6);
}

TEST(VectorOperations, WorkOnEachElement) {
  Stream& stream = default_stream(Device::cpu());
  Array x(Space({1, 2, 2})), y(Space({1, 2, 2}));
  const float values[] = {-2, 0, 0.25, 4};
  std::copy_n(values, 4, x.data());
  fill(y, 3, stream);
  multiply(x, y, stream);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(y.data()[i], 3 * values[i]);
  Array behind(Space({1, 2, 2}));
  fill(behind, 5, stream);
  attenuate(x, behind, stream);
  for (int i = 0; i < 4; ++i) EXPECT_FLOAT_EQ(behind.data()[i], 5 * std::exp(-values[i]));
  clamp_below(y, 0, stream);
  EXPECT_EQ(y.data()[0], 0);
  EXPECT_EQ(y.data()[3], 12);
  Array ends(Space({1, 2, 2})), moved = y.clone();
  const float lowest[] = {-INFINITY, 1, 0.5f, 20}, highest[] = {-2, INFINITY, 1, 15},
              between[] = {-2, 1, 0.75f, 15};
  std::copy_n(lowest, 4, ends.data());
  clamp_each(ends, false, moved, stream);
  std::copy_n(highest, 4, ends.data());
  clamp_each(ends, true, moved, stream);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(moved.data()[i], between[i]);
  divide(x, 0.1f, 7, y, stream);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(y.data()[i], i < 2 ? 7 : 3);
  shrink(x, 12, y, stream);
  for (int i = 0; i < 4; ++i) EXPECT_FLOAT_EQ(y.data()[i], i < 2 ? 0 : 3 * values[i] / (values[i] + 12));
}

TEST(VectorOperations, ShrinkEachBlockByItsNumber) {
  Stream& stream = default_stream(Device::cpu());
  for (const Blocks blocks : {Blocks::slices, Blocks::rows}) {
    Array x(Space({2, 2, 3}, blocks)), y(x.space());
    fill(x, 1e9f, stream), fill(y, 1, stream);
    shrink(x, std::vector<float>{0, 3e9f}, y, stream);
    for (Index i = 0; i < 12; ++i)
      EXPECT_FLOAT_EQ(y.data()[i], block_of(blocks, i / 6, i / 3 % 2) == 0 ? 1 : 0.25f);
    EXPECT_THROW(shrink(x, std::vector<float>(3), y, stream), SpaceError);
  }
}

TEST(VectorOperations, ReachThroughDirectSumsOfDirectSums) {
  Stream& stream = default_stream(Device::cpu());
  const Space inner = Space::direct_sum({Space({1, 1, 3}), Space({1, 2, 2})});
  const Space outer = Space::direct_sum({inner, Space({1, 1, 5})});
  Array x(outer), y(outer);
  fill(x, 2, stream);
  axpby(1, x, 0, y, stream);
  multiply(x, y, stream);
  EXPECT_EQ(dot(x, y, stream), std::vector<double>{12 * 8});
}

TEST(VectorOperations, RefuseVectorsOfDifferentSpaces) {
  Array x(Space({1, 1, 3})), y(Space({1, 3, 1}));
  Stream& stream = default_stream(Device::cpu());
  EXPECT_THROW(dot(x, y, stream), SpaceError);
  EXPECT_THROW(axpby(1, x, 0, y, stream), SpaceError);
  EXPECT_THROW(multiply(x, y, stream), SpaceError);
}

TEST(Kernels, OfADeviceThatHasNoneAreRefused) {
  EXPECT_THROW(kernels::parallel(Device::cuda(1000)), DeviceError);
  EXPECT_THROW(kernels::ramp(Device::cuda(1000)), DeviceError);
  EXPECT_THROW(kernels::vector(Device::cuda(1000)), DeviceError);
}

TEST(TransformLength, IsEvenAndHasSmallPrimesOnly) {
  for (Index count = 1; count < 3000; ++count) {
    const Index n = kernels::transform_length(count);
    ASSERT_GE(n, count);
    ASSERT_EQ(n % 2, 0);
    Index rest = n;
    for (Index prime : {2, 3, 5})
      while (rest % prime == 0) rest /= prime;
    ASSERT_EQ(rest, 1) << n;
  }
  EXPECT_EQ(kernels::transform_length(512), 512);
  EXPECT_EQ(kernels::transform_length(2 * 211), 432);
}

}  // namespace
}  // namespace tandem
