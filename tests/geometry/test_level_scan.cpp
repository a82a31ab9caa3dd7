// Which way sources go, and views with level rows.

#include "../../geometry/level_scan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "../../core/error.hpp"
#include "../../core/units.hpp"
#include "../../geometry/free_views.hpp"
#include "../../geometry/trajectories.hpp"
#include "../support/flexible_scans.hpp"

namespace tandem::test {
namespace {

constexpr double degree = std::numbers::pi / 180;

std::vector<double> turn(Index views, double turns = 1) {
  std::vector<double> angles;
  for (Index k = 0; k < views; ++k)
    angles.push_back((static_cast<double>(k) + 0.13) * turns * whole_turn / static_cast<double>(views));
  return angles;
}

FlexibleBeam along(const Trajectory& way, Index rows = 13, Index bins = 17) {
  return as_free_views(views_along(way, {bins, rows, 1, 1, 0.5 * static_cast<double>(bins - 1)}));
}

Trajectory cone(const char* name, std::vector<double> angles) {
  Trajectory way;
  way.name = name, way.angles = std::move(angles), way.sod = 60, way.sdd = 90, way.midplane_row = 6;
  return way;
}

FlexibleBeam changed(FlexibleBeam scan, const std::function<void(FlexibleView&, double)>& change) {
  double number = 0;
  for (FlexibleView& view : scan.views) change(view, number++);
  return scan;
}

FlexibleBeam leaning(const FlexibleBeam& scan, double angle) {
  return changed(scan, [&](FlexibleView& view, double) {
    for (Vector3* each : {&view.source, &view.detector, &view.bin_step, &view.row_step})
      *each = turned(*each, {0.6, 0.8, 0}, angle);
  });
}

TEST(FittedOrbit, FindsTheCircleOfACone) {
  const FlexibleBeam circle = along(cone("circle", turn(31)));
  for (const double lean : {0.0, 0.2, 1.5}) {
    const FittedOrbit orbit = fitted_orbit(leaning(circle, lean));
    const Vector3 axis = turned({0, 0, 1}, {0.6, 0.8, 0}, lean);
    EXPECT_FALSE(orbit.goes_on);
    EXPECT_NEAR(dot(orbit.axis, axis), 1, 1e-12) << lean;
    EXPECT_NEAR(length(orbit.centre), 0, 1e-9) << lean;
    EXPECT_NEAR(orbit.radius, 60, 1e-9) << lean;
    EXPECT_LE(orbit.stray, 1e-9) << lean;
    for (std::size_t k = 0; k < 31; ++k) EXPECT_NEAR(orbit.slopes[k], 0, 1e-9);
  }
}

TEST(FittedOrbit, FindsAHelixThatLeans) {
  for (const double pitch : {-9.0, 9.0}) {
    Trajectory way = cone("helix", turn(100, 3));
    way.pitch = pitch;
    const FittedOrbit orbit = fitted_orbit(leaning(along(way), 0.2));
    EXPECT_TRUE(orbit.goes_on);
    EXPECT_NEAR(std::abs(orbit.rise), 9, 1e-3);
    EXPECT_GT(orbit.rise * pitch, 0);
    EXPECT_LE(orbit.stray, 1e-3);
    double steps = 0;
    for (const double step : orbit.steps) steps += step;
    EXPECT_NEAR(steps, 3 * whole_turn, 1e-3);
  }
}

/// The radius and slope of an ellipse are those of its equation.
TEST(FittedOrbit, KnowsHowTheRadiusGrows) {
  const double a = 63, b = 58;
  FlexibleBeam scan = along(cone("circle", turn(360)));
  for (FlexibleView& view : scan.views) {
    const double angle = std::atan2(view.source[1], view.source[0]), c = std::cos(angle), s = std::sin(angle);
    view.source = a * b / std::hypot(b * c, a * s) * Vector3{c, s, 0};
  }
  const FittedOrbit orbit = fitted_orbit(scan);
  for (std::size_t k = 0; k < 360; ++k) {
    const Vector3 out = orbit.outwards(k);
    const double r = a * b / std::hypot(b * out[0], a * out[1]);
    EXPECT_NEAR(orbit.radii[k], r, 1e-6);
    const double slope = -r * r * r * (a * a - b * b) * out[0] * out[1] / (a * a * b * b);
    EXPECT_NEAR(std::abs(orbit.slopes[k]), std::abs(slope), 0.002 * 60 * (a - b) / a) << k;
  }
}

TEST(FittedOrbit, FindsTheAxisOfRays) {
  Trajectory way;
  way.name = "laminography", way.angles = turn(24), way.parallel = true, way.elevation = 0.5;
  const FittedOrbit orbit = fitted_orbit(along(way));
  EXPECT_NEAR(std::abs(orbit.axis[2]), 1, 1e-12);
  EXPECT_NEAR(orbit.radius, std::cos(0.5), 1e-12);
  way.name = "tomosynthesis";
  for (double& angle : way.angles) angle = (angle - std::numbers::pi) / 6;
  EXPECT_NEAR(std::abs(fitted_orbit(along(way)).axis[1]), 1, 1e-9);
}

TEST(FittedOrbit, RefusesOtherWays) {
  const auto says = [](const FlexibleBeam& scan, const std::string& text) {
    try {
      fitted_orbit(scan);
      FAIL() << text;
    } catch (const GeometryError& error) {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("a solver takes such views"), std::string::npos);
    }
  };
  const FlexibleBeam circle = along(cone("circle", turn(40)));
  const auto beside = [&circle](FlexibleView& v, double k) {
    v = circle.views.front();
    v.source = v.source + k * v.bin_step;
  };
  says(changed(circle, beside), "lie on a line");
  says(changed(circle, [](FlexibleView& v, double k) { v.source[2] += 12 * std::sin(3 * k); }),
       "go along no circle and no helix");
  says(crop(circle, {0, 2}, {0, 13}, {0, 17}), "2 views tell no circle");
  Trajectory helix = cone("helix", turn(40, 3));
  helix.pitch = 9;
  FlexibleBeam back = along(helix);
  std::swap(back.views[7], back.views[8]);
  says(back, "of a helix goes back");
}

/// Compares the place of a level cell, seen from the source, with the place where its ray meets the detector
/// as it stood.
void expect_cells_on_rays(const FlexibleBeam& scan) {
  const LevelScan level = level_scan(scan);
  for (const Index v : {Index{0}, Index{3}, Index{7}})
    for (const double row : {0.0, 4.0, 11.0})
      for (const double bin : {1.0, 9.0, 15.0}) {
        const LevelView& view = level.cells->views[static_cast<std::size_t>(v)];
        const auto [r, b] = shadow_of(scan, v, place_of(level.scan, v, row, bin));
        const double depth = view.depth.at(row, bin);
        EXPECT_NEAR(view.row.at(row, bin) / depth, r, 1e-9);
        EXPECT_NEAR(view.bin.at(row, bin) / depth, b, 1e-9);
      }
}

/// Rows of a level detector and the source span planes that hold the direction of the orbit.
void expect_level(const FlexibleBeam& scan) {
  const LevelScan level = level_scan(scan);
  for (std::size_t k = 0; k < level.scan.views.size(); ++k) {
    const Vector3 step = level.scan.views[k].bin_step;
    EXPECT_NEAR(dot(step, level.orbit.along(k)), length(step), 1e-9);
  }
}

TEST(LevelScan, TurnsDetectorsByTheLeastAngle) {
  for (const bool parallel : {false, true})
    for (const Stand& stand : {Stand{0, 10 * degree, 0}, Stand{0, 0.05, 5 * degree}, Stand{0.4, 0.2, 0}}) {
      const FlexibleBeam scan = standing(11, 13, 17, 60, 90, stand, parallel);
      expect_cells_on_rays(scan);
      expect_level(scan);
      const LevelScan level = level_scan(scan);
      for (std::size_t k = 0; k < 11; ++k)
        EXPECT_LE(length(level.scan.views[k].detector - scan.views[k].detector), 1e-9);
    }
}

/// Rows may also lie along the axis; they become rows across it.
TEST(LevelScan, TurnsADetectorThatLiesOnItsSide) {
  const FlexibleBeam scan = standing(11, 13, 17, 60, 90, {0, 90 * degree, 0});
  expect_cells_on_rays(scan);
  const LevelScan level = level_scan(scan);
  EXPECT_EQ(level.cells->views[0].own_rows, (Range{2, 2 + 17}));
  EXPECT_EQ(level.scan.detector.rows, 17 + 2 * 2) << "8.5 / (1 - sin atan(6.5 / 90)) is 9.2, and one beside";
  EXPECT_EQ(level.scan.detector.bins, 13);
}

TEST(LevelScan, RefusesDetectorsThatSeeTheirViewsFromTheSide) {
  const FlexibleBeam scan = changed(along(cone("circle", turn(20))), [](FlexibleView& view, double number) {
    if (number == 7) view.bin_step = turned(view.bin_step, {0, 0, 1}, 80 * degree);
  });
  try {
    level_scan(scan);
    FAIL();
  } catch (const GeometryError& error) {
    EXPECT_NE(std::string(error.what()).find("view 7: its detector is turned by 80 degrees"),
              std::string::npos)
        << error.what();
  }
}

/// Detectors that lean towards the source, or see the beam from below, have level rows.
TEST(LevelScan, LeavesLevelRowsAsTheyStand) {
  for (const Stand& stand : {Stand{}, Stand{0, 0, 5 * degree}, Stand{40 * degree, 0, 0}}) {
    const FlexibleBeam scan = standing(11, 13, 17, 60, 90, stand);
    const LevelScan level = level_scan(scan);
    // 6.5 / (1 - sin atan(8.5 / 90)) is 7.2, and one beside; from far below, rays climb through the slices
    const Index beyond = stand.elevation == 0 ? 2 : 0;
    EXPECT_EQ(level.cells->views[0].own_rows, (Range{beyond, beyond + 13}));
    EXPECT_EQ(level.scan.detector.rows, 13 + 2 * beyond);
    EXPECT_EQ(level.scan.detector.bins, 17);
    for (const LevelView& view : level.cells->views) EXPECT_TRUE(view.as_it_stood);
    expect_cells_on_rays(scan);
  }
}

TEST(LevelScan, ReachesAsFarOnBothSidesOfTheAxis) {
  ConeBeam aside{
      .detector = {17, 13, 1, 1, 4.5}, .angles = turn(20), .sod = 60, .sdd = 90, .midplane_row = 6};
  const LevelScan level = level_scan(as_free_views(aside));
  const ConeBeam wide = symmetric(aside);
  EXPECT_EQ(level.scan.detector.bins, wide.detector.bins);
  EXPECT_NEAR(level.scan.detector.axis_bin, wide.detector.axis_bin, 1e-6);
  EXPECT_EQ(level.own_bins.size(), 17);
  expect_cells_on_rays(as_free_views(aside));
}

/// Views tell their gaps and the arc that they lack as a circle does; a helix tells the gaps of its steps.
TEST(ViewsOnOrbit, AreThoseOfTheCircle) {
  ConeBeam arc{{17, 13, 1, 1, 8}, turn(60), 60, 90, 6};
  arc.angles.resize(26);
  const ViewsOnOrbit found = views_on_orbit(as_free_views(arc));
  EXPECT_NEAR(found.open, missing_arc(arc), 1e-6);
  EXPECT_GT(found.open, 0.5);
  EXPECT_NEAR(found.gap, gap_between_views(arc), 1e-6);
  ParallelBeam beam{{17, 13, 1, 1, 8}, turn(60)};
  beam.angles.resize(21);
  const ViewsOnOrbit level = views_on_orbit(as_free_views(beam));
  EXPECT_NEAR(level.period, half_turn, 1e-9);
  EXPECT_NEAR(level.open, half_turn - 21 * whole_turn / 60, 1e-6);
  ParallelBeam half{{17, 13, 1, 1, 8}, turn(60)};
  half.angles.resize(30);
  const double step = whole_turn / 60, tilt = in_radians(1);
  const ViewsOnOrbit tilted = views_on_orbit(as_free_views(half, {.tilt = tilt}));
  EXPECT_NEAR(tilted.period, half_turn, 1e-9);  // opposite rays are nearly one line
  EXPECT_NEAR(tilted.gap, step + 2 * tilt, 1e-4);
  const ViewsOnOrbit steep = views_on_orbit(as_free_views(half, {.tilt = in_radians(20)}));
  EXPECT_NEAR(steep.gap, half_turn + step, 1e-4);
  EXPECT_NEAR(steep.period, whole_turn, 1e-9);
  Trajectory helix = cone("helix", turn(120, 3));
  helix.pitch = 4;
  helix.angles.erase(helix.angles.begin() + 50, helix.angles.begin() + 60);
  const ViewsOnOrbit turns = views_on_orbit(along(helix));
  EXPECT_EQ(turns.open, 0);
  EXPECT_NEAR(turns.gap, 11 * 3 * whole_turn / 120, 0.02);
}

}  // namespace
}  // namespace tandem::test
