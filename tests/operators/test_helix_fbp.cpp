// Weighted filtered back-projection of helices.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

#include "../../geometry/free_views.hpp"
#include "../../geometry/parallel_fans.hpp"
#include "../../geometry/phantom.hpp"
#include "../../geometry/trajectories.hpp"
#include "../../kernels/helix.hpp"
#include "../../operators/fbp.hpp"
#include "../support/flexible_scans.hpp"
#include "../support/operators.hpp"
#include "../support/tolerances.hpp"

namespace tandem::test {
namespace {

constexpr double degree = std::numbers::pi / 180;
constexpr double field = 20, sod = 60, sdd = 90;  // mm; the radius of what is seen
constexpr Index bins = 64, rows = 48;
constexpr double cell = 1.15 * 2 * field * sdd / sod / bins;  // the detector is 34.5 mm high at the axis

/// A helix in the order of `way`, 1 or -1.
Trajectory helix_way(Index views_a_turn, double turns, double pitch, double way = 1) {
  Trajectory t;
  t.name = "helix", t.pitch = pitch, t.sod = sod, t.sdd = sdd, t.midplane_row = 0.5 * (rows - 1);
  const auto views = static_cast<Index>(static_cast<double>(views_a_turn) * turns);
  for (Index k = 0; k < views; ++k)
    t.angles.push_back(way * (static_cast<double>(k) + 0.13) * turns * whole_turn /
                       static_cast<double>(views));
  return t;
}

const Detector upright_detector{bins, rows, cell, cell, 0.5 * (bins - 1)};

FlexibleBeam helix_along(const Trajectory& t) { return as_free_views(views_along(t, upright_detector)); }

HelixScan helix_in(const FlexibleBeam& scan) { return helix_scan(scan, fitted_orbit(scan)).value(); }

Array seen_by(const Phantom& body, const FlexibleBeam& scan) {
  Array y(projection_space(scan));
  project(body, scan, {0, scan.detector.rows}, {y.data(), static_cast<std::size_t>(y.size())}, 2);
  return y;
}

/// The mean of a volume of a few voxels.
double mean_of(const FlexibleBeam& scan, const Array& y, const VolumeGrid& grid) {
  const Array x = fbp(scan, grid) * y;
  return std::accumulate(x.data(), x.data() + x.size(), 0.0) / static_cast<double>(x.size());
}

/// The mean of the inner half of a ball.
double ball_reads(const FlexibleBeam& scan, const Vector3& centre) {
  constexpr double pitch = 0.5;
  return mean_of(scan, seen_by({{{1, {4, 4, 4}, centre, 0}}}, scan),
                 {{5, 5, 5}, {pitch, pitch, pitch}, centre});
}

FlexibleBeam with_each(FlexibleBeam scan, const std::function<void(FlexibleView&)>& change) {
  for (FlexibleView& view : scan.views) change(view);
  return flexible_beam(scan.detector.rows, scan.detector.bins, scan.views, scan.parallel);
}

/// Discs as thick as the gaps between them (Defrise, IEEE Transactions on Medical Imaging 10, 1991). The
/// source of half of a turn is up to a quarter of the pitch above and below a slice: at the rim of a disc, 14
/// mm from the axis, its rays are 14 / 60 of that aside, by up to 1.4 mm, at the edges of faces 2.5 mm apart.
TEST(HelixFbp, SeparatesDiscsAtAnyPitch) {
  constexpr double most = 0.05;
  Phantom discs;
  for (double z = -25; z < 26; z += 5) discs.ellipsoids.push_back({1, {14, 14, 1.25}, {0, 0, z}, 0});
  const double pitch = 2 * field / bins;
  for (const double rise : {8.0, 16.0, 24.0}) {
    const FlexibleBeam scan = helix_along(helix_way(120, std::ceil(10 / rise) + 2, rise));
    const Array y = seen_by(discs, scan);
    const auto at = [&](double z) {
      return mean_of(scan, y, {{17, 17, 1}, {pitch, pitch, pitch}, {0, 0, z}});
    };
    EXPECT_NEAR(at(0), 1, most) << rise;
    EXPECT_NEAR(at(5), 1, most) << rise;
    EXPECT_NEAR(at(2.5), 0, most) << rise;
  }
}

/// Helices of either sense, with an axis that leans, a detector that rolls, sources that wander.
TEST(HelixFbp, BallsReadTheirAttenuationInAllThatIsNearlyAHelix) {
  Random random(3);
  const auto within = [&](double most) { return most * (2 * random.uniform() - 1); };
  const FlexibleBeam helix = helix_along(helix_way(120, 3, 9)), back = helix_along(helix_way(120, 3, 9, -1));
  const std::pair<const char*, FlexibleBeam> all[] = {
      {"other way", back},
      {"leaning", with_each(helix,
                            [](FlexibleView& v) {
                              for (Vector3* each : {&v.source, &v.detector, &v.bin_step, &v.row_step})
                                *each = turned(*each, {0.6, 0.8, 0}, 3 * degree);
                            })},
      {"rolled", with_each(helix,
                           [](FlexibleView& v) {
                             const Vector3 ray = v.detector - v.source, about = 1 / length(ray) * ray;
                             v.bin_step = turned(v.bin_step, about, 2 * degree);
                             v.row_step = turned(v.row_step, about, 2 * degree);
                           })},
      {"upside down", with_each(helix, [](FlexibleView& v) { v.row_step = -1 * v.row_step; })},
      {"wobble", with_each(helix, [&](FlexibleView& v) {
         v.source = v.source + Vector3{within(0.3), within(0.3), within(0.3)};
       })}};
  for (const auto& [name, scan] : all)
    for (const Vector3& centre : {Vector3{2, 1, 0}, Vector3{-8, -8, 1.7}})
      EXPECT_NEAR(ball_reads(scan, centre), 1, 2 * tolerance::ball_on_orbit) << name << ' ' << centre[0];
}

/// Fans hold the chords of their own rays. A soft edge is off by what cubics leave: the ball has 13 bins.
TEST(HelixFbp, FansAreTheRaysThatTheySay) {
  const FlexibleBeam scan = helix_along(helix_way(180, 3, 6));
  const HelixScan helix = helix_in(scan);
  const ParallelFans& fans = helix.seen;
  const Vector3 centre{5, -3, 1};
  constexpr double radius = 8, most = 0.03;
  const Array y = seen_by({{{1, {radius, radius, radius}, centre, 0}}}, scan);
  Array sorted(Space({views_of(scan), rows, bins}));
  kernels::helix(Device::cpu())
      .sort(helix.seen, helix.fans, image(ConstVectorView(y)), image(VectorView(sorted)),
            default_stream(Device::cpu()));
  double wrong = 0, all = 0;
  for (std::size_t f = 0; f < helix.fans.views.size(); ++f) {
    if (helix.fans.views[f].step == 0) continue;
    const double t = helix.fans.views[f].angle;
    for (Index row = 0; row < rows; ++row)
      for (Index bin = 0; bin < bins; ++bin) {
        const kernels::FanRay ray(fans, bin);
        const double p = ray.sine * fans.radius, c = ray.cosine * fans.radius;
        const auto out = helix.orbit.at_zero, side = helix.orbit.at_quarter;
        const Vector3 away = std::cos(t) * out + std::sin(t) * side,
                      along = std::cos(t) * side - std::sin(t) * out;
        const Vector3 source =
            helix.orbit.centre + c * away + p * along +
            (helix.orbit.heights[f] + fans.rise * ray.angle / whole_turn) * helix.orbit.axis;
        const double slope = (static_cast<double>(row) - fans.level_row) * fans.row_slope * ray.cosine;
        const Vector3 way = -1 * away + slope * helix.orbit.axis, to = centre - source;
        const double across = length(cross(way, to)) / length(way),
                     chord = 2 * std::sqrt(std::max(0.0, radius * radius - across * across)) / length(way);
        const double value =
            static_cast<double>(sorted.data()[(static_cast<Index>(f) * rows + row) * bins + bin]);
        wrong += std::pow(value - chord, 2), all += chord * chord;
      }
  }
  EXPECT_GT(all, 0);
  EXPECT_LE(std::sqrt(wrong / all), most);
}

/// Half turns are a whole number of views, so that fans against each other are there.
TEST(HelixFbp, HalfTurnsOfAVoxelCountOneTogether) {
  constexpr Index views = 60;
  for (const double rise : {3.0, 20.0}) {
    const HelixScan helix = helix_in(helix_along(helix_way(views, 5, rise)));
    const VolumeGrid grid{{9, 9, 7}, {4, 4, 6}, {}};
    const FanPlaces places = pack(helix, {0, static_cast<Index>(helix.fans.views.size())}, grid);
    const kernels::FanShape s = kernels::shape_of(places);
    for (const auto& [x, y, z] : {std::array{4.0, 4.0, 3.0}, {1.0, 2.0, 0.0}, {7.0, 6.0, 6.0}}) {
      std::vector<double> sums(views / 2);
      for (std::size_t f = 0; f < places.views.size(); ++f) {
        if (places.views[f].step == 0) continue;
        const kernels::FanHere here(places.views[f], x, y, z);
        const float bin = here.bin + static_cast<float>(here.first_bin);
        sums[f % (views / 2)] +=
            static_cast<double>(kernels::fan_share(s, kernels::fan_column(s, bin, here.depth), here.height,
                                                   here.before_first, here.before_last)
                                    .weight);
      }
      for (const double sum : sums) EXPECT_NEAR(sum, 1, 1e-5) << rise << ' ' << x << ' ' << z;
    }
  }
}

/// The scan climbs from -9 to 9 mm, and sees 17 mm above and below the source at the axis.
TEST(HelixFbp, BothEndsAreThere) {
  const FlexibleBeam scan = helix_along(helix_way(180, 3, 6));
  for (const double z : {-8.0, -5.0, 5.0, 8.0}) EXPECT_NEAR(ball_reads(scan, {3, 0, z}), 1, 0.01) << z;
  const VolumeGrid grid{{16, 16, 61}, {2, 2, 1}, {}};
  const HelixScan helix = helix_in(scan);
  EXPECT_EQ(share_unseen(helix, grid, 30), 0);
  EXPECT_LE(share_unseen(helix, grid, 22), 0.02);
  EXPECT_GE(share_unseen(helix, grid, 0), 0.9);
}

TEST(HelixFbp, TakesOnlyWhatHasFansAllRound) {
  const auto is_taken = [](const FlexibleBeam& scan) {
    return helix_scan(scan, fitted_orbit(scan)).has_value();
  };
  Trajectory t = helix_way(60, 3, 6);
  EXPECT_TRUE(is_taken(helix_along(t)));
  Detector aside = upright_detector;
  aside.axis_bin = 20;
  EXPECT_FALSE(is_taken(as_free_views(views_along(t, aside))));
  t.parallel = true;
  EXPECT_FALSE(is_taken(helix_along(t)));
  EXPECT_FALSE(is_taken(helix_along(helix_way(60, 3, 0.3))));  // less than a row
  EXPECT_FALSE(is_taken(helix_along(helix_way(60, 1, 0))));
}

/// Fans of a block come from views of other blocks, too, and these are no more than the plan holds.
TEST(HelixFbp, ViewsBehindFansAreCounted) {
  const FlexibleBeam scan = helix_along(helix_way(60, 3, 6));
  const HelixScan helix = helix_in(scan);
  const Range all{0, views_of(scan)};
  EXPECT_EQ(views_behind(helix, all), all);
  for (Index k = 0; k + 7 <= all.last; ++k) {
    const Range views = views_behind(helix, {k, k + 7});
    EXPECT_LE(views.first, k);
    EXPECT_GE(views.last, k + 7);
    EXPECT_LE(views.size() - 7, views_beside(helix));
    const Range before = views_behind(helix, {std::max<Index>(k - 1, 0), k + 6});
    EXPECT_GE(views.last, before.last);
    EXPECT_GE(views.first, before.first);
  }
}

}  // namespace
}  // namespace tandem::test
