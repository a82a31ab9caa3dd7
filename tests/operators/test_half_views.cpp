// Half acquisitions and arcs by vectors: detectors that do not face the axis, wander, roll or are curved.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "../../core/random.hpp"
#include "../../geometry/free_views.hpp"
#include "../../geometry/phantom.hpp"
#include "../../operators/orbit_fbp.hpp"
#include "../support/flexible_scans.hpp"
#include "../support/operators.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem::test {
namespace {

constexpr double degree = std::numbers::pi / 180;
constexpr double sod = 60, sdd = 90, cell = 0.6, mu = 0.2;

using Change = std::function<void(FlexibleView&, std::size_t)>;

/// 120 bins, of which the axis falls on one near the first.
ConeBeam half_cone(Index rows, double axis = 20) {
  return {{120, rows, cell, cell, axis},
          regular_angles(360, whole_turn),
          sod,
          sdd,
          0.5 * static_cast<double>(rows - 1)};
}

FlexibleBeam changed(FlexibleBeam scan, const Change& change) {
  for (std::size_t k = 0; k < scan.views.size(); ++k) change(scan.views[k], k);
  return flexible_beam(scan.detector.rows, scan.detector.bins, scan.views, scan.parallel, scan.curved);
}

/// Turns the detector about the line of its cells where the axis falls.
Change yaw(double axis, const std::function<double(std::size_t)>& angle, double middle = 59.5) {
  return [=](FlexibleView& view, std::size_t k) {
    const double bins = middle - axis;
    const Vector3 foot = view.detector - bins * view.bin_step;
    view.bin_step = turned(view.bin_step, {0, 0, 1}, angle(k));
    view.detector = foot + bins * view.bin_step;
  };
}

/// A disc with a smaller one in it, each of so much per mm, which edges of one bin surround.
constexpr double wide = 20, small = 4, at_x = 9, at_y = 5;

/// The root of the mean square by which the middle slice is off inside 0.8 of the radius of the wide disc,
/// beyond a bin from the edge of the small one, as part of the attenuation.
double off_in(const FlexibleBeam& scan) {
  const double pitch = scan.parallel ? cell : cell * sod / sdd;
  const auto n = 2 * static_cast<Index>(wide / pitch) + 1;
  Array y(projection_space(scan));
  project({{{mu, {wide, wide, INFINITY}, {}, 0}, {mu, {small, small, INFINITY}, {at_x, at_y, 0}, 0}}}, scan,
          {0, scan.detector.rows}, {y.data(), static_cast<std::size_t>(y.size())}, 2);
  const VolumeGrid grid{{n, n, 1}, {pitch, pitch, pitch}, {}};
  const Array volume = fbp(scan, grid) * y;
  double sum = 0, count = 0;
  for (Index i = 0; i < n * n; ++i) {
    const double px = grid.x(static_cast<double>(i % n)), py = grid.y(static_cast<double>(i / n)),
                 away = std::hypot(px - at_x, py - at_y);
    if (std::hypot(px, py) > 0.8 * wide || std::abs(away - small) < 3 * pitch) continue;
    const double truth = away < small ? 2 * mu : mu;
    sum += std::pow(static_cast<double>(volume.data()[i]) - truth, 2), ++count;
  }
  return std::sqrt(sum / count) / mu;
}

/// One row, and some: rows that do not face the axis are level in the plane of the sources alone.
TEST(HalfViews, DetectorsThatAreTurnedReadTheTruth) {
  for (const Index rows : {1, 15})
    for (const double angle : {10.0, 16.0, 25.0, -10.0, -16.0, -25.0}) {
      const FlexibleBeam free = as_free_views(half_cone(rows));
      EXPECT_LE(off_in(changed(free, yaw(20, [&](std::size_t) { return angle * degree; }))),
                tolerance::half_views)
          << rows << " rows, " << angle << " degrees";
    }
}

/// The bins may count the other way, so that the farther side is the other one.
TEST(HalfViews, EitherSideMayBeTheNearerOne) {
  const FlexibleBeam free = as_free_views(half_cone(1, 99));
  EXPECT_LE(off_in(changed(free, yaw(99, [](std::size_t) { return 20 * degree; }))), tolerance::half_views);
}

TEST(HalfViews, DetectorsThatWanderReadTheTruth) {
  const FlexibleBeam free = as_free_views(half_cone(1, 22));
  Random random(5);
  const auto within = [&](double most) { return most * (2 * random.uniform() - 1); };
  EXPECT_LE(off_in(changed(free, [&](FlexibleView& v,
                                     std::size_t) { v.detector = v.detector + within(4) * v.bin_step; })),
            tolerance::half_views);
  EXPECT_LE(off_in(changed(free,
                           [&](FlexibleView& v, std::size_t) {
                             v.detector = v.detector + within(0.1) * (v.detector - v.source);
                           })),
            tolerance::half_views);
  EXPECT_LE(
      off_in(changed(
          free, yaw(22, [](std::size_t k) { return 16 * degree * std::sin(2.4 * static_cast<double>(k)); }))),
      tolerance::half_views);
}

TEST(HalfViews, CurvedAndRolledOnesReadTheTruth) {
  OffCircle round;
  round.curved = true;
  for (const double axis : {8.3, 10.0, 30.0})
    for (const Index rows : {1, 15})
      EXPECT_LE(off_in(as_free_views(half_cone(rows, axis), round)), tolerance::half_views)
          << axis << ' ' << rows;
  OffCircle rolled;
  for (const double angle : {8 * degree, -8 * degree}) {
    rolled.roll = angle;
    EXPECT_LE(off_in(as_free_views(half_cone(41, 12), rolled)), tolerance::half_views) << angle;
  }
}

TEST(HalfViews, ParallelRaysReadTheTruth) {
  ParallelBeam beam{{120, 1, cell / 1.5, cell / 1.5, 20}, regular_angles(360, whole_turn)};
  const FlexibleBeam free = as_free_views(beam);
  Random random(5);
  EXPECT_LE(off_in(changed(free,
                           [&](FlexibleView& v, std::size_t) {
                             v.detector = v.detector + (8 * random.uniform() - 4) * v.bin_step;
                           })),
            tolerance::half_views);
  EXPECT_LE(off_in(changed(free, yaw(20, [](std::size_t) { return 30 * degree; }))), tolerance::half_views);
}

/// Parker's weights.
TEST(HalfViews, ArcsOfTurnedDetectorsReadTheTruth) {
  constexpr double middle = 74.5;
  for (const double angle : {0.0, 20.0, -20.0})
    for (const Index rows : {1, 15}) {
      ConeBeam arc = half_cone(rows, middle);
      arc.detector.bins = 150, arc.angles = regular_angles(250, 250 * degree);
      EXPECT_LE(off_in(changed(as_free_views(arc),
                               yaw(
                                   middle, [&](std::size_t) { return angle * degree; }, middle))),
                tolerance::half_views)
          << rows << " rows, " << angle << " degrees";
    }
}

/// Rows would have to go on to rays that never meet the detector.
TEST(HalfViews, RefusesADetectorWhoseRowsCannotGoOn) {
  const FlexibleBeam scan =
      changed(as_free_views(half_cone(1)), yaw(20, [](std::size_t) { return -55 * degree; }));
  expect_refused([&] { ramp_filter(scan); }, "rows of a half acquisition go on beyond its detector");
}

}  // namespace
}  // namespace tandem::test
