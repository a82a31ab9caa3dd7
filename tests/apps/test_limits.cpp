// The limits that `tandem bench` prints beside speeds, for an H200: 132 multiprocessors of 1.98 GHz.

#include <gtest/gtest.h>

#include "../../bench/limits.hpp"

namespace tandem::test {
namespace {

using enum Variant;
using enum Precision;

TEST(Limits, AreThoseOfTheCard) {
  constexpr double h200 = 132 * 1.98;
  const auto gups = [](Execution how) { return bench::limit_of(how, h200)->gups; };
  EXPECT_NEAR(gups({standard, float32}), 1'045, 1);  // measured: shared/lab
  EXPECT_NEAR(gups({texture, float32}), 2'091, 1);
  EXPECT_NEAR(gups({texture, float16}), 4'182, 1);
  EXPECT_NEAR(gups({texture, uint8}), 4'182, 1);
  EXPECT_NEAR(gups({alu, float32}), 4'182, 1);
  EXPECT_NEAR(gups({hybrid, float32}), 5'227, 1);
  EXPECT_NEAR(gups({tensor, float16}), 33'454, 1);
  EXPECT_NEAR(gups({tensor, float32}), 11'151, 1);
}

TEST(Limits, AreNotKnownOfACpu) { EXPECT_FALSE(bench::limit_of({standard, float32}, 0)); }

}  // namespace
}  // namespace tandem::test
