#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "../../operators/periodogram.hpp"
#include "../../operators/random.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

std::vector<double> distances_of(const Array& x) {
  return distance_from_white(x, default_stream(Device::cpu()));
}

/// The distance by the sum that defines a Fourier transform, in double; negative for zeros.
double distance_of(const float* line, Index count) {
  std::vector<double> sums{0};
  for (Index f = 1; f <= count / 2; ++f) {
    std::complex<double> sum = 0;
    for (Index i = 0; i < count; ++i)
      sum += static_cast<double>(line[i]) *
             std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(f * i) / static_cast<double>(count));
    sums.push_back(sums.back() + std::norm(sum));
  }
  if (!(sums.back() > 0)) return -1;
  double squares = 0;
  const auto frequencies = static_cast<double>(count / 2);
  for (std::size_t f = 1; f < sums.size(); ++f)
    squares += std::pow(sums[f] / sums.back() - static_cast<double>(f) / frequencies, 2);
  return std::sqrt(squares / frequencies);
}

TEST(DistanceFromWhite, IsThatOfItsFormulaInEachBlock) {
  Random random(3);
  for (const Index bins : {2, 16, 23}) {
    Array x = uniform_array(Space({7, 3, bins}, Blocks::rows), random);
    std::fill_n(x.data() + bins, bins, 0.0f);  // view 0 of row 1 does not count
    const std::vector<double> found = distances_of(x);
    ASSERT_EQ(found.size(), 3u);
    for (Index row = 0; row < 3; ++row) {
      double mean = 0, lines = 0;
      for (Index view = 0; view < 7; ++view)
        if (const double d = distance_of(x.data() + (view * 3 + row) * bins, bins); d >= 0)
          mean += d, lines += 1;
      EXPECT_NEAR(found[static_cast<std::size_t>(row)], mean / lines, tolerance::small_sum) << bins;
    }
  }
}

TEST(DistanceFromWhite, IsSmallForNoiseLargeForWhatIsSmoothAndZeroWithoutData) {
  Random random(5);
  const Space space({50, 1, 256}, Blocks::whole);
  const Array noise = sign_array(space, random);
  Array smooth(space);
  for (Index i = 0; i < smooth.size(); ++i)
    smooth.data()[i] =
        static_cast<float>(std::cos(2 * std::numbers::pi * static_cast<double>(i % 256) / 256));
  EXPECT_NEAR(distances_of(noise)[0], 0.4 / std::sqrt(128.0), 0.01);
  EXPECT_GT(distances_of(smooth)[0], 0.5);
  EXPECT_EQ(distances_of(Array(space))[0], 0);
}

}  // namespace
}  // namespace tandem
