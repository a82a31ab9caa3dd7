#include <gtest/gtest.h>

#include <vector>

#include "../../core/random.hpp"

namespace tandem {
namespace {

TEST(Random, GivesSplitMix64) {
  // the first numbers that the authors' splitmix64.c gives for the seed 1234567
  Random random(1234567);
  const std::vector<std::uint64_t> expected{6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                            4593380528125082431u, 16408922859458223821u};
  for (std::uint64_t bits : expected) EXPECT_EQ(random.bits(), bits);
}

TEST(Random, IsUniformBetweenItsEnds) {
  Random random(5);
  constexpr int count = 100000;
  double sum = 0, squares = 0;
  for (int i = 0; i < count; ++i) {
    const double v = random.uniform();
    ASSERT_GT(v, 0);
    ASSERT_LT(v, 1);
    sum += v;
    squares += v * v;
  }
  // four standard errors: sqrt(1/12 / n), sqrt(4/45 / n)
  EXPECT_NEAR(sum / count, 0.5, 4 * 0.2887 / 316);
  EXPECT_NEAR(squares / count, 1.0 / 3, 4 * 0.2981 / 316);
}

TEST(Random, SequencesOfCellsDoNotDependOnTheirOrder) {
  const Random random(11);
  Random a = random.at(3), b = random.at(4), again = random.at(3);
  const std::uint64_t first = a.bits();
  EXPECT_NE(first, b.bits());
  EXPECT_EQ(first, again.bits());
}

}  // namespace
}  // namespace tandem
