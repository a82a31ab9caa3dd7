// The weights of rays in FDK if the detector reaches farther on one side of the axis.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "../support/property.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

ConeBeam circle(Index bins, double axis, Index views) {
  return {{bins, 1, 1, 1, axis}, test::regular_angles(views, whole_turn), 4000, 6000, 0};
}

/// The weights of the first view, in units of a whole share: 1 for a ray that is seen once and counts alone.
std::vector<double> of_first_view(const ConeBeam& scan) {
  const std::vector<float> shares = ray_shares(scan);
  std::vector<double> weights;
  for (Index bin = 0; bin < scan.detector.bins; ++bin)
    weights.push_back(static_cast<double>(shares[static_cast<std::size_t>(bin)]) / whole_turn *
                      static_cast<double>(scan.angles.size()));
  return weights;
}

constexpr double rounding = 2 * tolerance::u;  // rounding of a share, and of two that are added

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

/// Views in equal steps of `whole turn / steps`, some of which are missing.
ConeBeam with_views(ConeBeam scan, Index steps, const std::function<bool(Index)>& there) {
  scan.angles.clear();
  for (Index k = 0; k < steps; ++k)
    if (there(k)) scan.angles.push_back(whole_turn * static_cast<double>(k) / static_cast<double>(steps));
  return scan;
}

/// Two lost neighbours, bursts, whatever a gate or chance leaves, and a hole of 59 degrees.
std::vector<ConeBeam> circles_with_holes(const ConeBeam& scan) {
  Random random(8);
  std::vector<ConeBeam> all{with_views(scan, 400, [](Index k) { return k < 70 || k > 71; }),
                            with_views(scan, 360, [](Index k) { return k % 24 < 12; }),
                            with_views(scan, 700, [&](Index) { return random.uniform() < 0.3; }),
                            with_views(scan, 360, [](Index k) { return k < 200 || k > 258; }), scan};
  all.back().angles.clear();
  for (int k = 0; k < 150; ++k) all.back().angles.push_back(7 * random.uniform() * whole_turn);
  return all;
}

/// In all views together a line counts once, from one side or from both.
TEST(RayShares, OfACircleWithHolesAddUpToThatOfTheCircle) {
  constexpr Index bins = 150;
  for (const double axis : {30.0, 74.0, 101.5})
    for (const ConeBeam& scan : circles_with_holes(circle(bins, axis, 1))) {
      ASSERT_TRUE(half_acquisition(scan) || axis == 74) << scan.angles.size() << " views";
      if (!half_acquisition(scan)) continue;
      const std::vector<float> shares = ray_shares(scan);
      std::vector<double> sums(bins);
      for (std::size_t k = 0; k < shares.size(); ++k) sums[k % bins] += static_cast<double>(shares[k]);
      for (Index bin = 0; bin < bins; ++bin) {
        const Index opposite = std::lround(2 * axis) - bin;
        const bool alone = opposite < 0 || opposite >= bins;
        EXPECT_NEAR(
            sums[static_cast<std::size_t>(bin)] + (alone ? 0 : sums[static_cast<std::size_t>(opposite)]),
            whole_turn, 20 * rounding * whole_turn);
      }
      const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
      EXPECT_LT(*most, 20 * whole_turn / static_cast<double>(scan.angles.size())) << *least;
    }
}

TEST(HalfAcquisition, MayHaveHoles) {
  for (const ConeBeam& scan : circles_with_holes(circle(200, 30, 1))) {
    const ParallelBeam parallel{scan.detector, scan.angles};
    EXPECT_TRUE(half_acquisition(scan));
    EXPECT_TRUE(half_acquisition(parallel));
    EXPECT_EQ(symmetric(scan).detector.bins, symmetric(parallel).detector.bins);
    EXPECT_EQ(fitting_grid(parallel).size,
              fitting_grid(ParallelBeam{scan.detector, test::regular_angles(90, whole_turn)}).size);
    double sum = 0;
    for (const float share : view_shares(parallel)) sum += static_cast<double>(share);
    EXPECT_NEAR(sum, half_turn, 20 * rounding * half_turn);
  }
  for (const double degrees : {299.0, 250.0}) {
    ConeBeam arc = circle(200, 30, 1);
    arc.angles = test::regular_angles(598, degrees * half_turn / 180);
    EXPECT_FALSE(half_acquisition(arc));
    EXPECT_FALSE(half_acquisition(ParallelBeam{arc.detector, arc.angles}));
  }
}

/// A source so far away that opposite rays of the middle bins are those of views half a turn apart.
ConeBeam arc_of(Index views, double arc) {
  return {{3, 1, 1, 1, 1}, test::regular_angles(views, arc), 4e9, 6e9, 0};
}

TEST(RayShares, OfOppositeRaysOfAnArcAddUpToAStep) {
  EXPECT_TRUE(test::holds("a line that an arc sees once or twice counts once", [] {
    const auto half = *rc::gen::inRange<Index>(3, 200);
    const auto beyond = *rc::gen::inRange<Index>(0, 2 * half / 3 - 1);
    const double step = half_turn / static_cast<double>(half);
    const std::vector<float> shares =
        ray_shares(arc_of(half + beyond, step * static_cast<double>(half + beyond)));
    RC_ASSERT(shares.size() == static_cast<std::size_t>(3 * (half + beyond)));
    for (Index v = 0; v < half; ++v)
      for (Index bin = 0; bin < 3; ++bin) {
        const auto of = [&](Index view, Index cell) {
          return static_cast<double>(shares[static_cast<std::size_t>(3 * view + cell)]);
        };
        const double one = of(v, bin), other = v < beyond ? of(v + half, 2 - bin) : 0;
        RC_ASSERT(std::abs(one + other - step) <= rounding * step + 1e-8);
      }
  }));
}

/// Rays of the middle bin: N views in equal steps over an arc are N steps, not N - 1.
TEST(RayShares, OfAnArcAddUpToTheArc) {
  for (const Index views : {7, 20, 181})
    for (const double arc : {0.3, 1.5, half_turn}) {
      const std::vector<float> shares = ray_shares(arc_of(views, arc));
      double sum = 0;
      for (Index v = 0; v < views; ++v)
        sum += static_cast<double>(shares[static_cast<std::size_t>(3 * v + 1)]);
      EXPECT_NEAR(sum, arc, 3 * rounding * arc) << views << " views over " << arc;
    }
}

TEST(MissingArc, CountsTheStepsOfTheFirstAndTheLastView) {
  ConeBeam scan{{101, 1, 1, 1, 50}, {}, 400, 600, 0};
  const double fan = 2 * std::atan(50.0 / 600);
  for (const Index views : {20, 333}) {
    scan.angles = test::regular_angles(views, half_turn + fan);
    EXPECT_NEAR(missing_arc(scan), 0, tolerance::double_rounding);
    scan.angles = test::regular_angles(views, half_turn);
    EXPECT_NEAR(missing_arc(scan), fan, tolerance::double_rounding);
    scan.angles = test::regular_angles(views, whole_turn);
    EXPECT_EQ(missing_arc(scan), 0);
  }
}

}  // namespace
}  // namespace tandem
