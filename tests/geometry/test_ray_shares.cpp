// What rays count in FDK where the detector reaches farther on one side of the axis.

#include <gtest/gtest.h>

#include <cmath>

#include "../support/property.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

ConeBeam circle(Index bins, double axis, Index views) {
  return {{bins, 1, 1, 1, axis}, test::regular_angles(views, whole_turn), 4000, 6000, 0};
}

/// Of the first view, in units of a whole share: 1 where a ray is seen once and counts alone.
std::vector<double> of_first_view(const ConeBeam& scan) {
  const std::vector<float> shares = ray_shares(scan);
  std::vector<double> weights;
  for (Index bin = 0; bin < scan.detector.bins; ++bin)
    weights.push_back(static_cast<double>(shares[static_cast<std::size_t>(bin)]) / whole_turn *
                      static_cast<double>(scan.angles.size()));
  return weights;
}

constexpr double rounding = 2 * tolerance::u;  // of a share, and of two that are added

TEST(RayShares, OfARayAndItsOppositeAddUpToOne) {
  EXPECT_TRUE(test::holds("bins alike far from the axis share a ray, others have it alone", [] {
    const Index bins = *rc::gen::inRange(5, 400), views = *rc::gen::inRange(3, 500);
    const Index twice_axis = *rc::gen::inRange<Index>(0, 2 * bins - 1);  // the opposite of a bin is a bin
    const std::vector<double> w = of_first_view(circle(bins, 0.5 * static_cast<double>(twice_axis), views));
    const bool centred = std::abs(twice_axis - (bins - 1)) <= 2;
    for (Index bin = 0; bin < bins; ++bin) {
      const Index opposite = twice_axis - bin;
      const bool alone = opposite < 0 || opposite >= bins;
      const double other = alone ? 0 : w[static_cast<std::size_t>(opposite)];
      RC_ASSERT(std::abs(w[static_cast<std::size_t>(bin)] + other - (alone && centred ? 0.5 : 1)) <=
                rounding);
    }
  }));
}

TEST(RayShares, AreAlikeWhereNearlyAllIsSeenTwice) {
  for (const double axis : {99.5, 98.9, 100.5, 98.5})
    for (const double w : of_first_view(circle(200, axis, 300))) EXPECT_NEAR(w, 0.5, rounding) << axis;
}

TEST(RayShares, AreAlikeButAtTheEndOfTheNearerSide) {
  EXPECT_TRUE(test::holds("farther than 16 bins from where one side ends, a ray counts half or one", [] {
    constexpr Index bins = 400, views = 600;
    const double axis = *rc::gen::inRange(2000, 37900) / 100.0;
    const std::vector<double> w = of_first_view(circle(bins, axis, views));
    const double overlap = std::min(axis + 0.5, bins - 0.5 - axis), longest = bins - overlap;
    RC_PRE(longest - overlap > 2);
    for (Index bin = 0; bin < bins; ++bin) {
      const double distance = std::abs(static_cast<double>(bin) - axis);
      if (distance < overlap - 16) RC_ASSERT(std::abs(w[static_cast<std::size_t>(bin)] - 0.5) <= rounding);
      if (distance > overlap) RC_ASSERT(std::abs(w[static_cast<std::size_t>(bin)] - 1) <= rounding);
    }
  }));
}

/// The second derivative of a squared sine that rises by 1/2 over `band` bins is (pi / band)^2 / 4 at most,
/// and second differences are means of it; a straight line has 1 / (2 band) at its ends.
TEST(RayShares, RiseWithoutAKink) {
  struct {
    Index views;
    double axis, band;
  } cases[] = {
      {2000, 120.3, 16}, {2000, 290.7, 16}, {90, 120.3, 2 * 278.7 * whole_turn / 90}, {2000, 9.2, 9.7}};
  for (const auto& [views, axis, band] : cases) {
    const std::vector<double> w = of_first_view(circle(400, axis, views));
    double bend = 0;
    for (std::size_t k = 1; k + 1 < w.size(); ++k)
      bend = std::max(bend, std::abs(w[k - 1] - 2 * w[k] + w[k + 1]));
    const double most = std::pow(half_turn / band, 2) / 4;
    EXPECT_LE(bend, most + 4 * rounding) << views << " views, axis " << axis;
    EXPECT_GE(bend, 0.8 * most) << views << " views, axis " << axis;  // as narrow as it is meant to be
  }
}

TEST(RayShares, OfADetectorBesideTheAxisAreWhole) {
  for (const double axis : {-7.3, 407.0})
    for (const double w : of_first_view(circle(400, axis, 300))) EXPECT_NEAR(w, 1, rounding);
}

TEST(Symmetric, ReachesAsFarToBothSides) {
  EXPECT_TRUE(test::holds("bins are added on the nearer side until it reaches as far", [] {
    const Index bins = *rc::gen::inRange(3, 300);
    const double axis = *rc::gen::inRange<int>(-50, static_cast<int>(bins) * 100 + 50) / 100.0;
    const ConeBeam scan = circle(bins, axis, 11), wide = symmetric(scan);
    const Sides before = sides(scan.detector), after = sides(wide.detector);
    if (before.farther - before.nearer <= 2) {
      RC_ASSERT(fingerprint(wide) == fingerprint(scan));
    } else {
      RC_ASSERT(std::abs(after.farther - before.farther) < 1 + 1e-9);  // less than a bin beyond it
      RC_ASSERT(after.nearer > before.farther - 1e-9);
      const double moved = wide.detector.axis_bin - axis;
      RC_ASSERT(moved == 0 || std::abs(moved - static_cast<double>(wide.detector.bins - bins)) < 1e-9);
    }
  }));
  ConeBeam arc = circle(100, 20, 50);
  arc.angles = test::regular_angles(50, 4);
  EXPECT_EQ(fingerprint(symmetric(arc)), fingerprint(arc));
}

TEST(HalfAcquisition, IsViewsAllRoundAndAnAxisAside) {
  const auto parallel = [](double axis, double arc) {
    return half_acquisition(ParallelBeam{{200, 1, 1, 1, axis}, test::regular_angles(90, arc)});
  };
  EXPECT_TRUE(parallel(30, whole_turn));
  EXPECT_TRUE(parallel(170, whole_turn));
  EXPECT_TRUE(parallel(30, 0.9 * whole_turn));
  EXPECT_FALSE(parallel(30, half_turn));
  EXPECT_FALSE(parallel(30, 1.2 * half_turn));
  EXPECT_FALSE(parallel(99.5, whole_turn));
  EXPECT_FALSE(parallel(96, whole_turn));
  EXPECT_TRUE(half_acquisition(circle(200, 30, 90)));
  EXPECT_FALSE(half_acquisition(circle(200, 97, 90)));
  EXPECT_FALSE(half_acquisition(ParallelBeam{{200, 1, 1, 1, 30}, {0.3}}));
}

}  // namespace
}  // namespace tandem
