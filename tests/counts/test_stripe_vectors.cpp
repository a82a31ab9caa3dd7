// Methods that remove stripes against results of tomopy, element by element.

#include "../support/stripe_vectors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../support/stripes.hpp"

namespace tandem::test {
namespace {

/// A row of (view, row, bin), which is a sinogram.
Plane sinogram_of(const std::vector<float>& stack, const Shape& shape, Index row) {
  const auto [views, rows, bins] = shape;
  Plane plane(views, bins);
  for (Index view = 0; view < views; ++view)
    std::copy_n(&stack[static_cast<std::size_t>((view * rows + row) * bins)], bins, plane.row(view));
  return plane;
}

class StripeVectors : public ::testing::TestWithParam<StripeVector> {
 protected:
  void SetUp() override {
    if (!exists(vectors_folder())) GTEST_SKIP() << vectors_folder() << " is not there";
  }
};

TEST_P(StripeVectors, AreWhatTomopyMakes) {
  const StripeVector& of = GetParam();
  const std::vector<float> input = of.sinograms(), output = vector_of(of.output);
  double most = 0;
  for (Index row = 0; row < of.shape[1]; ++row) {
    const Plane found = without_stripes(sinogram_of(input, of.shape, row), of.method, of.values),
                expected = sinogram_of(output, of.shape, row);
    ASSERT_EQ(found.values.size(), expected.values.size());
    for (std::size_t i = 0; i < found.values.size(); ++i)
      most = std::max(most, std::abs(static_cast<double>(found.values[i]) - expected.values[i]));
  }
  EXPECT_LE(most, of.tolerance);
  RecordProperty(of.output, std::to_string(most));
}

INSTANTIATE_TEST_SUITE_P(Cpu, StripeVectors, ::testing::ValuesIn(stripe_vectors()),
                         [](const auto& of) { return of.param.output; });

}  // namespace
}  // namespace tandem::test
