// What slices tell of a parameter.

#include "../../calibration/sharpness.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

#include "../../core/error.hpp"
#include "../../core/random.hpp"

namespace tandem::calibration {
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
  const auto values = swept(9, [](double v, std::size_t) { return 10 + (v - 4.3) * (v - 4.3); });
  const SweepResult found = judged(values);
  EXPECT_EQ(found.verdict, Verdict::resolved);
  EXPECT_EQ(found.best, 4u);
  EXPECT_NEAR(found.value, 4.3, 1e-9);
  EXPECT_NEAR(found.uncertainty, 0.1, 1e-9);  // all quarters agree; a tenth of a step is left
  EXPECT_NEAR(judged(values, Score::sharpness, 0.02).uncertainty, 0.02, 1e-9);
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

/// A whole turn: the variation says nothing, and the energy is highest at the true value.
TEST(Sharpness, IsTheVariationOverTheRootOfTheEnergy) {
  std::vector<Swept> values = swept(9, [](double, std::size_t) { return 10; });
  EXPECT_EQ(judged(values).verdict, Verdict::flat);
  for (Swept& some : values)
    some.slices[0].energy.assign(4, std::pow(10 + std::pow(some.value - 4.3, 2), -2));
  const SweepResult found = judged(values);
  EXPECT_EQ(found.verdict, Verdict::resolved) << found.words;
  EXPECT_NEAR(found.value, 4.3, 1e-9);
  EXPECT_NEAR(found.score[7], (10 + 2.7 * 2.7) / (10 + 0.3 * 0.3), 1e-12);
}

TEST(Sharpness, SaysWhereTheRangeIsTooShort) {
  const SweepResult found = judged(swept(5, [](double v, std::size_t) { return 10 - v; }));
  EXPECT_EQ(found.verdict, Verdict::railed);
  EXPECT_EQ(found.words, "railed: the best value is at an end of the range; try values beyond 4");
  // 1e-4 of ten above the lowest one is no valley yet
  const auto level = [](double v, std::size_t) { return v < 3 ? 12 - v : v == 3 ? 8.999 : 9; };
  EXPECT_EQ(judged(swept(5, level)).verdict, Verdict::railed);
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

/// The best value lies at the end of the range, whatever another score says.
TEST(Sharpness, IsRailedBeforeItIsDoubted) {
  const SweepResult found = judged(swept(
      7, [](double v, std::size_t) { return 20 - v; }, [](double v) { return 4 + 0.1 * (v - 2) * (v - 2); }));
  EXPECT_EQ(found.verdict, Verdict::railed) << found.words;
}

/// The numbers of a capsule that lies in one quarter: energies there, and what it leaves elsewhere.
TEST(Sharpness, IsResolvedByOneQuarterThatShowsAll) {
  const std::array<std::array<double, 7>, 4> variations{
      std::array{7.09, 7.01, 6.76, 6.36, 6.86, 7.64, 8.25},
      std::array{7.61, 7.38, 7.47, 7.55, 7.56, 7.60, 7.68},
      std::array{13.69, 14.09, 14.12, 13.43, 14.41, 14.44, 14.49},
      std::array{9.11, 8.26, 7.28, 6.64, 6.70, 6.80, 6.82}};
  const std::array<std::array<double, 7>, 4> energies{
      std::array{0.029, 0.032, 0.025, 0.017, 0.036, 0.063, 0.075},
      std::array{0.034, 0.025, 0.025, 0.026, 0.026, 0.026, 0.027},
      std::array{0.234, 0.269, 0.310, 0.325, 0.301, 0.271, 0.257},
      std::array{0.085, 0.057, 0.023, 0.018, 0.019, 0.020, 0.021}};
  std::vector<Swept> values = swept(
      7, [&](double v, std::size_t q) { return variations[q][static_cast<std::size_t>(v)]; },
      [](double v) { return 3 + 0.3 * std::abs(v - 2.9); });
  for (std::size_t k = 0; k < values.size(); ++k)
    for (const auto& energy : energies) values[k].slices[0].energy.push_back(energy[k]);
  const SweepResult found = judged(values);
  EXPECT_EQ(found.verdict, Verdict::resolved) << found.words;
  EXPECT_EQ(found.best, 3u);
  EXPECT_LT(found.uncertainty, 0.5);
  for (Swept& each : values) each.slices[0].entropy = 4;  // no other score says so
  EXPECT_EQ(judged(values).verdict, Verdict::ambiguous);
}

/// Air outside of the sample has no edges, so it is neither the sharpest nor the tidiest slice.
TEST(Sharpness, IsWorstWhereNothingIsSeen) {
  const auto empty = [](double v) { return v == 0 || v == 8; };
  std::vector<Swept> values = swept(
      9, [&](double v, std::size_t) { return empty(v) ? 0 : 10 + (v - 4.3) * (v - 4.3); },
      [&](double v) { return empty(v) ? 0 : 4 + 0.1 * (v - 4.3) * (v - 4.3); });
  EXPECT_EQ(judged(values).best, 4u);
  EXPECT_EQ(judged(values).verdict, Verdict::resolved) << judged(values).words;
  values[8].slices[0].variation[0] = NAN, values[0].slices[0].variation[3] = INFINITY;
  EXPECT_EQ(judged(values).best, 4u);
  EXPECT_EQ(judged(values).verdict, Verdict::resolved) << judged(values).words;
}

TEST(Sharpness, DoubtsAPlateau) {
  const auto level = [](double v, std::size_t) { return v < 3 ? 16 - 2 * v : v > 6 ? 2 * v - 2 : 10; };
  const SweepResult found = judged(swept(10, level));
  EXPECT_EQ(found.verdict, Verdict::ambiguous) << found.words;
}

/// Slices of even and of odd views, with noise of their own in each pixel.
TEST(Sharpness, OfNoiseIsFlat) {
  constexpr Index side = 40;
  std::vector<Swept> values = swept(9, [](double v, std::size_t) { return 10 + (v - 4) * (v - 4); });
  Random random(5);
  for (const double height : {0.0, 3.0}) {
    std::vector<float> slice, even;
    for (Index k = 0; k < side * side; ++k) {
      const double edge = k % side < side / 2 ? 0 : height, own = random.uniform(), other = random.uniform();
      even.push_back(static_cast<float>(0.5 * edge + own));
      slice.push_back(static_cast<float>(edge + own + other));
    }
    const Sharpness seen = sharpness_of({slice, even, side, side, 16}, 0, 5);
    for (Swept& each : values)
      each.slices[0].in_common = seen.in_common, each.slices[0].by_chance = seen.by_chance;
    EXPECT_EQ(judged(values).verdict, height > 0 ? Verdict::resolved : Verdict::flat) << judged(values).words;
  }
}

/// Quarters whose entropies, without them, are parabolas about places of their own.
TEST(Sharpness, JudgesByEntropyIfAskedTo) {
  const std::array places{3.8, 4.2, 4.4, 4.8};
  std::vector<Swept> values;
  for (int k = 0; k < 9; ++k) {
    Sharpness one{std::vector<double>(4, 2.5 + 0.01 * std::pow(k - 4.0, 2)), 4 + 0.1 * std::pow(k - 4.3, 2)};
    for (const double place : places) one.entropy_without.push_back(4 + 0.1 * std::pow(k - place, 2));
    values.push_back({static_cast<double>(k), {one}});
  }
  const SweepResult found = judged(values, Score::entropy);
  EXPECT_EQ(found.verdict, Verdict::resolved) << found.words;
  EXPECT_NEAR(found.value, 4.3, 1e-9);
  // The jackknife: sqrt(3/4 of the sum of squares about the mean) of the four places.
  const double spread = std::sqrt(0.75 * (0.25 + 0.01 + 0.01 + 0.25));
  EXPECT_NEAR(found.uncertainty, std::hypot(spread, 0.1), 1e-9);
  EXPECT_EQ(found.score[4], 1);
  EXPECT_GT(found.score[0], 1);
  for (Swept& some : values) some.slices[0].variation.assign(4, 10 + std::pow(some.value - 8, 2));
  const SweepResult doubted = judged(values, Score::entropy);
  EXPECT_EQ(doubted.verdict, Verdict::ambiguous);
  EXPECT_EQ(doubted.words, "ambiguous: the histogram is tidiest at 4, but edges are sharpest at 8");
}

TEST(Sharpness, JudgesByOppositeViewsIfThereAreAny) {
  const auto values_of = [](bool views) {
    std::vector<Swept> values;
    for (int k = 0; k < 9; ++k) {
      Sharpness one{std::vector<double>(4, 1), 4};
      if (views) one.opposite = {std::vector<double>(4, 20 * (1 + std::pow(k - 5.2, 2))), {20, 20, 20, 20}};
      values.push_back({static_cast<double>(k), {one}});
    }
    return values;
  };
  const SweepResult found = judged(values_of(true), Score::opposite);
  EXPECT_EQ(found.verdict, Verdict::resolved) << found.words;
  EXPECT_NEAR(found.value, 5.2, 1e-9);
  EXPECT_NEAR(found.opposite[5], std::sqrt(1.04), 1e-9);  // the root of the mean square
  EXPECT_THROW(judged(values_of(false), Score::opposite), GeometryError);
  EXPECT_TRUE(judged(values_of(false)).opposite.empty());
  // Slices doubt them: by their edges, and by their histogram.
  std::vector<Swept> values = values_of(true);
  for (Swept& each : values) each.slices[0].variation.assign(4, 10 + std::pow(each.value - 1, 2));
  EXPECT_EQ(judged(values, Score::opposite).words,
            "ambiguous: opposite views agree best at 5, but edges are sharpest at 1");
  values = values_of(true);
  for (Swept& each : values) each.slices[0].entropy = 4 + 0.1 * std::pow(each.value - 8, 2);
  EXPECT_EQ(judged(values, Score::opposite).words,
            "ambiguous: opposite views agree best at 5, but the histogram is tidiest at 8");
  // Views that are the same to the last bit agree best.
  values = values_of(true);
  for (Swept& each : values) each.slices[0].opposite.squares.assign(4, std::pow(each.value - 5, 2));
  EXPECT_EQ(judged(values, Score::opposite).verdict, Verdict::resolved);
}

/// Views exp(-(s - r cos t)^2 / 2) of a narrow body about an axis, which is taken to be elsewhere by d: then
/// mirrored views are off by 2d, and the integral of (g(s) - g(s - 2d))^2 is 2 sqrt(pi) (1 - exp(-d^2)).
/// Sums over bins are these integrals to 1e-8, since the body is wide and smooth beside a bin and ends
/// within the row.
TEST(OppositeViews, DifferByTheWayOfTheAxis) {
  constexpr Index bins = 64, views = 36;
  constexpr double axis = 31.5, width = 2;
  ParallelBeam scan{{bins, 1, 1, 1, axis}, {}};
  std::vector<float> sinogram;
  for (Index v = 0; v < views; ++v) {
    scan.angles.push_back(2 * std::numbers::pi * static_cast<double>(v) / views);
    for (Index k = 0; k < bins; ++k) {
      const double s = static_cast<double>(k) - axis - 9 * std::cos(scan.angles.back());
      sinogram.push_back(static_cast<float>(std::exp(-0.5 * s * s / (width * width))));
    }
  }
  const auto sums = [&] {
    const OppositeViews found = opposite_views_of(sinogram, scan);
    return std::pair{std::accumulate(found.squares.begin(), found.squares.end(), 0.0),
                     std::accumulate(found.counts.begin(), found.counts.end(), 0.0)};
  };
  // floats of at most one, of which the angles of opposite views differ by roundings of doubles
  constexpr double rounding = 64 * 36 * 0x1p-46;
  EXPECT_NEAR(sums().first, 0, rounding);
  EXPECT_EQ(sums().second, bins * views);
  for (const double off : {0.5, 1.0, 2.0}) {
    scan.detector.axis_bin = axis + off;
    const auto [squares, count] = sums();
    const double d = off / width, one = 2 * std::sqrt(std::numbers::pi) * width * (1 - std::exp(-d * d));
    EXPECT_NEAR(squares, views * one, 1e-5 * views * one);
    EXPECT_EQ(count, (bins - 2 * off) * views);
  }
}

TEST(OppositeViews, AreNotThereWithinLessThanHalfATurn) {
  ParallelBeam scan{{4, 1, 1, 1, 1.5}, {0, 0.1, 0.2}};
  EXPECT_FALSE(opposite_views_of(std::vector<float>(12, 1), scan).any());
  scan.angles = {0, 1.0, 2.0, 3.0};  // the first and the last
  EXPECT_TRUE(opposite_views_of(std::vector<float>(16, 1), scan).any());
}

TEST(Sharpness, IsTheVariationAndTheEntropyOfASlice) {
  constexpr Index side = 20;
  std::vector<float> slice(side * side, 0);
  for (Index y = 0; y < side; ++y)
    for (Index x = side / 2; x < side; ++x) slice[static_cast<std::size_t>(y * side + x)] = 2;
  std::vector<float> even(slice.size());
  for (std::size_t k = 0; k < slice.size(); ++k) even[k] = slice[k] / 2;
  const Sharpness found = sharpness_of({slice, even, side, side, 8}, 0, 2);
  // The step lies between columns 9 and 10. At x = 9 the gradients of 16 rows are within 8 pixels of the
  // middle.
  EXPECT_EQ(found.total(), 2 * 16);
  EXPECT_NEAR(found.entropy, 1, 0.01);  // two values, about as often
  // Without a quarter of one of them: shares 1/3 and 2/3.
  for (const double rest : found.entropy_without) EXPECT_NEAR(rest, std::log2(3) - 2.0 / 3, 0.02);
  // Both halves of the views show the step, so all its energy is common.
  EXPECT_EQ(std::accumulate(found.energy.begin(), found.energy.end(), 0.0), 16 * 4);
  // If the even views alone show it, nothing is, and a hundredth of the energy counts.
  const std::vector<double> least = sharpness_of({slice, slice, side, side, 8}, 0, 2).energy;
  EXPECT_DOUBLE_EQ(std::accumulate(least.begin(), least.end(), 0.0), 0.01 * 16 * 4);
  const std::vector<float> flat(400, 1);
  EXPECT_EQ(sharpness_of({flat, flat, side, side, 8}, 1, 1).total(), 0);
}

}  // namespace
}  // namespace tandem::calibration
