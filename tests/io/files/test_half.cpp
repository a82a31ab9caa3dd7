#include "../../../io/files/half.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tandem::test {

namespace {

std::uint16_t half_of(float value) {
  std::uint16_t half = 0;
  io::halves_of(&value, 1, &half);
  return half;
}

/// The value by the definition of the format.
double value_of(int half) {
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  const double size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return half & 0x8000 ? -size : size;
}

}  // namespace

TEST(Half, IsReadAsItIsDefined) {
  for (int half = 0; half < 1 << 16; ++half) {
    const auto bits = static_cast<std::uint16_t>(half);
    float value = 0;
    io::floats_of(&bits, 1, &value);
    if ((half & 0x7fff) > 0x7c00) {
      ASSERT_TRUE(std::isnan(value)) << half;
      continue;
    }
    const double finite = value_of(half), infinite = half & 0x8000 ? -INFINITY : INFINITY;
    ASSERT_EQ(value, (half & 0x7fff) == 0x7c00 ? infinite : finite) << half;
    ASSERT_EQ(half_of(value), bits);
  }
}

TEST(Half, IsTheNearestAndOfTwoTheEvenOne) {
  for (int half = 0; half < 0x7bff; ++half)
    for (const int sign : {0, 0x8000}) {
      const double low = value_of(half), high = value_of(half + 1);
      const auto middle = static_cast<float>((low + high) / 2);  // exact: a float has 13 bits more
      const float turn = sign ? -1 : 1;
      ASSERT_EQ(half_of(turn * middle), sign | (half % 2 == 0 ? half : half + 1));
      ASSERT_EQ(half_of(turn * std::nextafter(middle, 0.0f)), sign | half);
      ASSERT_EQ(half_of(turn * std::nextafter(middle, 1e9f)), sign | (half + 1));
    }
}

TEST(Half, IsInfiniteBeyondItsRangeOnly) {
  EXPECT_EQ(half_of(io::largest_half), 0x7bff);
  EXPECT_EQ(half_of(std::nextafter(65520.0f, 0.0f)), 0x7bff);
  EXPECT_EQ(half_of(65520), 0x7c00);
  EXPECT_EQ(half_of(-1e30f), 0xfc00);
  EXPECT_EQ(half_of(INFINITY), 0x7c00);
  EXPECT_EQ(half_of(1e-30f), 0);
  EXPECT_EQ(half_of(std::nanf("")) & 0x7fff, 0x7e00);
}

}  // namespace tandem::test
