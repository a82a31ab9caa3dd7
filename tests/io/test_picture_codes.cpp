// Values of pictures as codes of 16 bits.

#include "../../io/picture_codes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace tandem::io {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(),
                nan = std::numeric_limits<float>::quiet_NaN();

std::vector<std::uint16_t> written(const std::vector<float>& values, const PictureCodes& codes) {
  std::vector<std::uint16_t> all(values.size());
  write_codes(values, codes, reinterpret_cast<std::byte*>(all.data()));
  return all;
}

/// A slope, of more values than one thread codes.
std::vector<float> slope() {
  std::vector<float> values;
  for (int k = 0; k < 513 * 511; ++k) values.push_back(-3.0f + 1e-5f * static_cast<float>(k));
  return values;
}

TEST(PictureCodes, AreHalfAStepOffAtMost) {
  const std::vector<float> values = slope();
  const auto codes = codes_for(values);
  ASSERT_TRUE(codes);
  EXPECT_EQ(codes->low, values.front());
  const std::vector<std::uint16_t> all = written(values, *codes);
  EXPECT_EQ(all.front(), 0);
  EXPECT_EQ(all.back(), PictureCodes::minus_infinity - 1);
  for (std::size_t k = 0; k < values.size(); ++k)  // and rounding in double
    ASSERT_LE(std::abs(codes->low + codes->step * all[k] - values[k]), 0.5 * codes->step * (1 + 1e-9)) << k;
}

TEST(PictureCodes, SayWhatIsNotFinite) {
  std::vector<float> values = slope();
  values[5] = -infinity, values[6] = infinity, values[7] = nan;
  const auto codes = codes_for(values);
  ASSERT_TRUE(codes);
  const std::vector<std::uint16_t> all = written(values, *codes);
  EXPECT_EQ(all[5], 65533);
  EXPECT_EQ(all[6], 65534);
  EXPECT_EQ(all[7], 65535);
  EXPECT_EQ(all[0], 0);
}

/// A value a hundred times as far out as all others leaves them 655 codes.
TEST(PictureCodes, AreNoneWhereTheyWouldBeTooCoarse) {
  std::vector<float> values = slope();
  values[9] = 100 * (values.back() - values.front());
  EXPECT_FALSE(codes_for(values));
}

TEST(PictureCodes, AreZeroForOneValueAndNone) {
  const std::vector<float> same(7, 2.5f), no_number{nan, nan};
  EXPECT_EQ(codes_for(same)->low, 2.5);
  EXPECT_EQ(written(same, *codes_for(same)), std::vector<std::uint16_t>(7));
  EXPECT_EQ(written(no_number, *codes_for(no_number)), (std::vector<std::uint16_t>{65535, 65535}));
  EXPECT_TRUE(written({}, *codes_for({})).empty());
}

/// The largest range that floats have, and the smallest.
TEST(PictureCodes, SpanAnyRange) {
  for (const float high : {std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min()}) {
    const std::vector<float> values{-high, 0, high};
    const auto codes = codes_for(values);
    ASSERT_TRUE(codes);
    EXPECT_EQ(written(values, *codes), (std::vector<std::uint16_t>{0, 32766, 65532}));
  }
}

}  // namespace
}  // namespace tandem::io
