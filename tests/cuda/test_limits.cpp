// The limits that `tandem bench` prints beside speeds, for an H200: 132 multiprocessors of 1.98 GHz. They
// need no GPU.

#include <gtest/gtest.h>

#include "../../kernels/variants.hpp"

namespace tandem::test {
namespace {

using kernels::Chip;
using kernels::Direction;
using enum Precision;

std::optional<kernels::Limit> limit_of(const Execution& how, Direction direction, Chip chip) {
  return find(kernels::backends().back().parallel, how.variant)->limit(how.precision, direction, chip);
}

TEST(Limits, AreThoseOfTheCard) {
  constexpr Chip h200{132 * 1.98, 9};
  const auto gups = [](const Execution& how, Direction direction = Direction::backward) {
    return limit_of(how, direction, h200)->gups;
  };
  EXPECT_NEAR(gups({"standard", float32}), 1'045, 1);
  EXPECT_NEAR(gups({"texture", float32}), 2'091, 1);
  EXPECT_NEAR(gups({"texture", float16}), 4'182, 1);
  EXPECT_NEAR(gups({"texture", uint8}), 4'182, 1);
  EXPECT_NEAR(gups({"alu", float32}), 4'182, 1);
  EXPECT_NEAR(gups({"hybrid", float32}), 6'273, 1);
  EXPECT_NEAR(gups({"tensor", float16}), 33'454, 1);
  EXPECT_NEAR(gups({"tensor", float32}), 22'303, 1);
  EXPECT_NEAR(gups({"tensor", float16}, Direction::forward), 33'454, 1);
  EXPECT_NEAR(gups({"tensor", float32}, Direction::forward), 11'151, 1);
}

TEST(Limits, AreNotKnownOfEverything) {
  EXPECT_FALSE(limit_of({"alu", float32}, Direction::forward, {100, 9}));
  EXPECT_FALSE(limit_of({"tensor", float16}, Direction::backward, {100, 8}));
}

}  // namespace
}  // namespace tandem::test
