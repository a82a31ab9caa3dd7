#include "../../kernels/logarithm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace tandem::test {

constexpr float infinite = std::numeric_limits<float>::infinity();

TEST(Logarithms, AreThoseOfDoubleToThreeUnitsInTheLastPlace) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> exponent(-126, 127), near_one(-0.01, 0.01);
  std::vector<float> y{1, std::nextafter(1.0f, 0.0f), std::nextafter(1.0f, 2.0f), 1e-45f, 3e38f};
  for (int i = 0; i < 200'000; ++i) {
    y.push_back(static_cast<float>(std::exp2(exponent(random))));
    y.push_back(static_cast<float>(1 + near_one(random)));
  }
  const std::vector<float> before = y;
  EXPECT_EQ(kernels::take_logarithms(y, std::vector<float>(y.size(), 0.0f)), 0);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double exact = -std::log(static_cast<double>(before[i]));
    ASSERT_NEAR(y[i], exact, 3 * std::ldexp(std::abs(exact), -23)) << before[i];
  }
}

TEST(Logarithms, RaiseWhatIsBelowItsFloorAndCountIt) {
  std::vector<float> y{0.5f, -3, 0, 0.25f, -infinite, 0.125f};
  const std::vector<float> floor{1e-6f, 0.25f, 0.5f, 0.25f, 1e-6f, 0.5f};
  EXPECT_EQ(kernels::take_logarithms(y, floor), 4);
  const std::vector<double> exact{std::log(2), std::log(4),   std::log(2),
                                  std::log(4), std::log(1e6), std::log(2)};
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], exact[i], 2e-6) << i;
}

TEST(Logarithms, LeaveWhatIsNotFinite) {
  std::vector<float> y{NAN, infinite, 1, NAN};
  EXPECT_EQ(kernels::take_logarithms(y, std::vector<float>{0.5f, 0.5f, 0.5f, -infinite}), 0);
  EXPECT_TRUE(std::isnan(y[0]) && std::isinf(y[1]) && std::isnan(y[3]));
  EXPECT_EQ(y[2], 0);
}

TEST(Logarithms, DoNotDependOnPlaceOrLength) {
  std::vector<float> all;
  for (int i = 1; i <= 100; ++i) all.push_back(0.01f * static_cast<float>(i));
  const std::vector<float> floor(all.size(), 0.055f);
  std::vector<float> whole = all;
  EXPECT_EQ(kernels::take_logarithms(whole, floor), 5);
  for (std::size_t first = 0; first < 70; first += 7)
    for (std::size_t count = 0; first + count <= 100; count += 3) {
      std::vector<float> part(all.begin() + static_cast<std::ptrdiff_t>(first),
                              all.begin() + static_cast<std::ptrdiff_t>(first + count));
      kernels::take_logarithms(part, {floor.data(), count});
      ASSERT_EQ(count == 0 ? 0 : std::memcmp(part.data(), &whole[first], 4 * count), 0)
          << first << ' ' << count;
    }
}

}  // namespace tandem::test
