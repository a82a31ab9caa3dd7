// What slices tell of a parameter.

#include "../../pipeline/sharpness.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace tandem::pipeline {
namespace {

/// Values 0, 1, ..., whose variation a function of value and quarter gives.
std::vector<Swept> swept(
    int count, const std::function<double(double value, std::size_t quarter)>& variation,
    const std::function<double(double)>& entropy = [](double) { return 4.0; }) {
  std::vector<Swept> all;
  for (int k = 0; k < count; ++k) {
    Sharpness one{{}, entropy(k)};
    for (std::size_t q = 0; q < 4; ++q) one.variation.push_back(variation(k, q));
    all.push_back({static_cast<double>(k), {one}});
  }
  return all;
}

TEST(Sharpness, FindsTheVertexOfAParabola) {
  const SweepResult found =
      judged(swept(9, [](double v, std::size_t) { return 10 + (v - 4.3) * (v - 4.3); }));
  EXPECT_EQ(found.verdict, Verdict::resolved);
  EXPECT_EQ(found.best, 4u);
  EXPECT_NEAR(found.value, 4.3, 1e-9);
  EXPECT_NEAR(found.uncertainty, 0.1, 1e-9);  // all quarters agree; a tenth of a step is left
  EXPECT_EQ(found.score[4], 1);
}

/// The jackknife of a mean of four is its standard error: minima of equal parabolas have a mean.
TEST(Sharpness, TakesTheUncertaintyFromHowFarQuartersDisagree) {
  const std::array places{3.8, 4.2, 4.4, 4.8};
  const SweepResult found =
      judged(swept(9, [&](double v, std::size_t q) { return 10 + (v - places[q]) * (v - places[q]); }));
  EXPECT_EQ(found.verdict, Verdict::resolved);
  EXPECT_NEAR(found.value, 4.3, 1e-9);
  const double error = std::sqrt((0.25 + 0.01 + 0.01 + 0.25) / 3 / 4);
  EXPECT_NEAR(found.uncertainty, std::hypot(error, 0.1), 1e-9);
}

TEST(Sharpness, SaysWhereTheRangeIsTooShort) {
  const SweepResult found = judged(swept(5, [](double v, std::size_t) { return 10 - v; }));
  EXPECT_EQ(found.verdict, Verdict::railed);
  EXPECT_EQ(found.words, "railed: the sharpest slice is at an end of the range; try values beyond 4");
}

TEST(Sharpness, SaysWhereNothingChanges) {
  EXPECT_EQ(judged(swept(5, [](double v, std::size_t) { return 10 + 1e-3 * v; })).verdict, Verdict::flat);
  EXPECT_EQ(judged(swept(1, [](double, std::size_t) { return 10; })).verdict, Verdict::flat);
  EXPECT_EQ(judged(swept(3, [](double, std::size_t) { return 0; })).verdict, Verdict::flat);
}

TEST(Sharpness, DoubtsWhereTwoValleysAreAboutAsDeep) {
  const auto twice = [](double v, std::size_t) {
    return 10 + std::min((v - 2) * (v - 2), 0.3 + (v - 8) * (v - 8));
  };
  EXPECT_EQ(judged(swept(11, twice)).verdict, Verdict::ambiguous);
}

TEST(Sharpness, DoubtsWherePartsDisagree) {
  const SweepResult found = judged(swept(11, [](double v, std::size_t q) {
    const double at = q < 2 ? 1 : 9;
    return 10 + std::abs(v - at) + 0.01 * (v - 5) * (v - 5);
  }));
  EXPECT_EQ(found.verdict, Verdict::ambiguous) << found.words;
}

TEST(Sharpness, DoubtsWhereTheHistogramSaysAnotherValue) {
  const auto sharp = [](double v, std::size_t) { return 10 + (v - 3) * (v - 3); };
  const SweepResult found = judged(swept(11, sharp, [](double v) { return 4 + 0.1 * (v - 8) * (v - 8); }));
  EXPECT_EQ(found.verdict, Verdict::ambiguous);
  EXPECT_NE(found.words.find("8"), std::string::npos);
}

TEST(Sharpness, IsTheVariationAndTheEntropyOfASlice) {
  constexpr Index side = 20;
  std::vector<float> slice(side * side, 0);
  for (Index y = 0; y < side; ++y)
    for (Index x = side / 2; x < side; ++x) slice[static_cast<std::size_t>(y * side + x)] = 2;
  const Sharpness found = sharpness_of(slice, side, side, 0, 2);
  // The step lies between columns 9 and 10. At x = 9 the gradients of 16 rows are within 8 pixels of the
  // middle.
  EXPECT_EQ(found.total(), 2 * 16);
  EXPECT_NEAR(found.entropy, 1, 0.01);  // two values, about as often
  EXPECT_EQ(sharpness_of(std::vector<float>(400, 1), side, side, 1, 1).total(), 0);
}

}  // namespace
}  // namespace tandem::pipeline
