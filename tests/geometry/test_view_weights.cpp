// The weights of views at gaps, holes and ends, for angles that come in any way.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../../core/units.hpp"
#include "../../geometry/view_angles.hpp"
#include "../support/property.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

using Angles = std::vector<double>;

double sum(const std::vector<double>& all) { return std::accumulate(all.begin(), all.end(), 0.0); }

/// The angles without the views between two angles, degrees.
Angles without(Angles angles, double from, double to) {
  std::erase_if(angles, [&](double a) { return in_radians(from) < a && a < in_radians(to); });
  return angles;
}

/// Thousandths of a radian, so that no gap is as wide as a limit but for rounding.
Angles any_angles() {
  const auto thousandths =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(-20000, 20000)));
  Angles angles;
  for (const int a : thousandths) angles.push_back(0.001 * a);
  return angles;
}

TEST(LookLikeRadians, IsAboutHalfATurnOrATurnInDegrees) {
  const auto evenly = [](double degrees, int count, bool inclusive) {
    std::vector<double> angles;
    for (int k = 0; k < count; ++k)
      angles.push_back(in_radians(degrees) * k / (inclusive ? count - 1 : count));
    return angles;
  };
  for (const double arc : {3.14159, 3.14, 6.28, -3.1416})
    for (const bool inclusive : {false, true})
      EXPECT_TRUE(look_like_radians(evenly(arc, 181, inclusive))) << arc;
  for (const double arc : {180.0, 3.0, 6.0, 1.0, 20.0})
    for (const bool inclusive : {false, true})
      EXPECT_FALSE(look_like_radians(evenly(arc, 181, inclusive))) << arc;
  EXPECT_FALSE(look_like_radians(std::vector<double>{0, in_radians(3.1416)}));
}

TEST(ViewWeights, OfEqualStepsAddUpToAsManySteps) {
  EXPECT_TRUE(test::holds("N views in equal steps cover N steps, and each weighs one", [] {
    const double period = *rc::gen::elementOf(std::vector{half_turn, whole_turn});
    const auto views = *rc::gen::inRange<Index>(2, 400);
    const double part = *rc::gen::inRange(1, 82) / 100.0;  // part of the period; more leaves no open gap
    const double start = *rc::gen::inRange(-9000, 9000) / 1000.0;
    Angles angles = test::regular_angles(views, part * period);
    RC_PRE((1 - part) * period > 2.5 * part * period / static_cast<double>(views));
    for (double& a : angles) a += start;
    for (const double w : view_weights(angles, period))
      RC_ASSERT(std::abs(w - part * period / static_cast<double>(views)) < tolerance::double_rounding);
  }));
}

TEST(ViewWeights, DoNotDependOnTheOrderOrOnTurns) {
  EXPECT_TRUE(test::holds("a view weighs the same wherever it stands, and after turns", [] {
    const double period = *rc::gen::elementOf(std::vector{half_turn, whole_turn});
    const Angles angles = any_angles();
    const std::vector<double> weights = view_weights(angles, period);
    std::vector<std::size_t> order(angles.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    Random random(angles.size());
    for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random.bits() % k]);
    Angles moved;
    for (const std::size_t k : order)
      moved.push_back(angles[k] + period * static_cast<double>(*rc::gen::inRange(-3, 4)));
    const std::vector<double> again = view_weights(moved, period);
    for (std::size_t k = 0; k < order.size(); ++k)
      RC_ASSERT(std::abs(again[k] - weights[order[k]]) < tolerance::double_rounding);
  }));
}

TEST(ViewWeights, TurnWithTheViews) {
  EXPECT_TRUE(test::holds("weights stay where all views are turned, or mirrored", [] {
    const Angles angles = any_angles();
    const double by = *rc::gen::inRange(-5000, 5000) / 1000.0;
    Angles turned, mirrored;
    for (const double a : angles) turned.push_back(a + by), mirrored.push_back(-a);
    const std::vector<double> weights = view_weights(angles);
    for (const Angles& other : {turned, mirrored}) {
      const std::vector<double> again = view_weights(other);
      for (std::size_t k = 0; k < weights.size(); ++k)
        RC_ASSERT(std::abs(again[k] - weights[k]) < tolerance::double_rounding);
    }
  }));
}

TEST(ViewWeights, AddUpToTheCircleUnlessASixthOfItIsOpen) {
  EXPECT_TRUE(test::holds("weights are positive, and add up to the period or to less", [] {
    const double period = *rc::gen::elementOf(std::vector{half_turn, whole_turn});
    const Angles angles = any_angles();
    const std::vector<double> weights = view_weights(angles, period);
    for (const double w : weights) RC_ASSERT(w > 0);
    const double open = period - sum(weights);
    if (widest_gap(angles, period) <= period / 6)
      RC_ASSERT(std::abs(open) < tolerance::double_rounding);
    else
      RC_ASSERT(open > -tolerance::double_rounding);
  }));
}

/// Gated, in bursts, at random, by the golden ratio, interlaced, of several turns and backwards.
TEST(ViewWeights, OfACircleWithHolesAddUpToIt) {
  Random random(4);
  std::vector<Angles> ways(7);
  for (int k = 0; k < 720; ++k) {
    const double step = in_radians(0.5 * k);
    if (k / 20 % 2 == 0) ways[0].push_back(step);
    if (k % 90 < 25) ways[1].push_back(step);
    if (random.uniform() < 0.2) ways[2].push_back(step);
    ways[3].push_back(whole_turn * random.uniform());
    ways[4].push_back(half_turn * (3 - std::sqrt(5)) * k);
    ways[5].push_back(7 * step + in_radians(0.13 * (k / 103)));
    ways[6].push_back(-3 * step);
  }
  for (std::size_t k = 0; k < ways.size(); ++k) {
    EXPECT_NEAR(sum(view_weights(ways[k], whole_turn)), whole_turn, tolerance::double_rounding) << k;
    EXPECT_TRUE(all_round(ways[k])) << k;
  }
}

/// A hole of width g lies among steps of width h. Beside it a share g of weights 1 - x / 2 falls on views in
/// steps x / g of h / g. By the trapezoidal rule the weights are half of their sum but for h / 2, so that no
/// view weighs more than about 1.5 + h / g. Without that rule it was g / 2 h.
TEST(ViewWeights, AreNotManyTimesTheirNeighbours) {
  for (const double period : {half_turn, whole_turn})
    for (double hole = 16; hole < in_degrees(period) - 5; hole += 3.5) {
      const std::vector<double> weights =
          view_weights(without(test::regular_angles(720, period), 100, 100 + hole), period);
      const auto [least, most] = std::minmax_element(weights.begin(), weights.end());
      EXPECT_LE(*most, 1.55 * *least) << hole;
    }
}

/// The rule for dense views: half of the gap on both sides.
TEST(ViewWeights, OfIrregularStepsAreHalfOfBothGaps) {
  const Angles angles{0.0, 0.02, 0.09, 0.1, 0.17, 0.25, 0.27, 0.33, 0.4};
  Angles all;
  for (int turn = 0; turn < 7; ++turn)
    for (const double a : angles) all.push_back(a + 0.448 * turn);
  all.push_back(3.136);
  const std::vector<double> weights = view_weights(all);
  for (std::size_t k = 1; k + 1 < all.size(); ++k)
    EXPECT_NEAR(weights[k], 0.5 * (all[k + 1] - all[k - 1]), tolerance::double_rounding) << k;
}

TEST(ViewWeights, OfViewsAtOneAngleAreAlike) {
  Angles angles;
  for (const double degrees : {0.0, 30.0, 60.0, 90.0, 120.0, 150.0})
    for (const int turn : {0, 1, 2})  // in single precision, after some turns
      angles.push_back(static_cast<float>(degrees + 360 * turn) * half_turn / 180);
  for (const double w : view_weights(angles)) EXPECT_NEAR(w, half_turn / 18, 1e-5);
  EXPECT_NEAR(view_weights(Angles{1, 1, 1, 1})[2], half_turn / 4, tolerance::double_rounding);
}

/// One degree a view. Two wedges have no views, as pillars leave them.
TEST(ViewWeights, OfWedgesAreOwnSteps) {
  const Angles angles = without(without(test::regular_angles(180), 19.5, 54.5), 99.5, 140.5);
  const std::vector<double> weights = view_weights(angles);
  for (const double w : weights) EXPECT_NEAR(w, in_radians(1), tolerance::double_rounding);
  EXPECT_NEAR(sum(weights), in_radians(180 - 35 - 41), tolerance::double_rounding);
}

TEST(ViewWeights, OfTheLastViewIsItsOwnStep) {
  const std::vector<double> weights = view_weights(Angles{0, 0.1, 0.25, 0.31, 0.4, 0.7});
  EXPECT_NEAR(weights.front(), 0.1, tolerance::double_rounding);
  EXPECT_NEAR(weights.back(), 0.3, tolerance::double_rounding);
}

TEST(AllRound, AreViewsThatLeaveNoMoreThanASixthOfTheTurn) {
  EXPECT_TRUE(all_round(test::regular_angles(5, whole_turn)));
  EXPECT_TRUE(all_round(test::regular_angles(100, whole_turn, true)));
  EXPECT_TRUE(all_round(test::regular_angles(100, in_radians(301))));
  EXPECT_FALSE(all_round(test::regular_angles(100, in_radians(299))));
  EXPECT_FALSE(all_round(test::regular_angles(100)));
  EXPECT_FALSE(all_round(Angles{0.3}));
  EXPECT_FALSE(all_round(Angles{0, half_turn}));
}

}  // namespace
}  // namespace tandem
