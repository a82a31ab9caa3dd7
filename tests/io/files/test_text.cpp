// Numbers as text.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <limits>

#include "../../../io/files/text.hpp"

namespace tandem::test {
namespace {

TEST(ShortestText, ReadsBackToTheSameNumber) {
  EXPECT_EQ(io::shortest(0.1), "0.1");
  EXPECT_EQ(io::shortest(0.1f), "0.1");
  EXPECT_EQ(io::shortest(1e-6f), "1e-06");
  EXPECT_EQ(io::shortest(359.7), "359.7");
  EXPECT_EQ(io::shortest(-2.0), "-2");
  EXPECT_EQ(io::shortest(std::int64_t{4096}), "4096");
  for (const double number : {1.0 / 3, 359.70000000000005, -1e-300, std::numeric_limits<double>::max(),
                              std::numeric_limits<double>::denorm_min(), 23.501428662835526})
    EXPECT_EQ(std::strtod(io::shortest(number).c_str(), nullptr), number);
}

}  // namespace
}  // namespace tandem::test
