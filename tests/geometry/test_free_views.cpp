// Circles that became vectors: they come back as the circles that they were.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/units.hpp"
#include "../../geometry/free_views.hpp"
#include "../support/flexible_scans.hpp"

namespace tandem::test {
namespace {

/// Angles as `simulate` makes them, and as a file gives them back: in degrees.
std::vector<double> steps(Index views, double start, double arc) {
  std::vector<double> angles;
  for (Index k = 0; k < views; ++k) {
    const double made = in_radians(start + arc * static_cast<double>(k) / static_cast<double>(views));
    angles.push_back(in_radians(in_degrees(made)));
  }
  return angles;
}

const std::vector<std::vector<double>>& sequences() {
  static const std::vector<std::vector<double>> all{
      steps(97, 0, 360),
      steps(60, -35.5, 360),
      steps(41, 10, -200),
      steps(30, 0, 720),
      {0.1, 2.5, 1.2, 6.0},
      [] {  // a golden angle, taken back into one turn
        std::vector<double> angles;
        for (int k = 0; k < 50; ++k) angles.push_back(in_radians(std::fmod(k * 137.50776405, 360)));
        return angles;
      }()};
  return all;
}

ConeBeam some_cone(std::vector<double> angles) {
  return {.detector = {.bins = 51, .rows = 40, .bin_pitch = 0.2, .row_pitch = 0.25, .axis_bin = 27.3},
          .angles = std::move(angles),
          .sod = 66.1,
          .sdd = 199.7,
          .midplane_row = 12.75};
}

void expect_same_numbers(const Detector& a, const Detector& b) {
  EXPECT_EQ(a.bins, b.bins);
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.bin_pitch, b.bin_pitch);
  EXPECT_EQ(a.row_pitch, b.row_pitch);
  EXPECT_EQ(a.axis_bin, b.axis_bin);
}

/// Compares all numbers that projectors make of an angle.
void expect_same_directions(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    EXPECT_EQ(std::cos(a[k]), std::cos(b[k])) << k;
    EXPECT_EQ(std::sin(a[k]), std::sin(b[k])) << k;
  }
}

TEST(FreeViews, OfAConeBeamAreThatConeBeamToTheBit) {
  for (const auto& angles : sequences()) {
    const ConeBeam scan = some_cone(angles);
    const auto found = as_circle(as_free_views(scan));
    ASSERT_TRUE(found && std::holds_alternative<ConeBeam>(*found));
    const auto& cone = std::get<ConeBeam>(*found);
    expect_same_numbers(cone.detector, scan.detector);
    EXPECT_EQ(cone.sod, scan.sod);
    EXPECT_EQ(cone.sdd, scan.sdd);
    EXPECT_EQ(cone.midplane_row, scan.midplane_row);
    expect_same_directions(cone.angles, scan.angles);
  }
}

TEST(FreeViews, OfUsualDegreesHaveTheirAngles) {
  for (const double start : {0.0, 0.5, 90.0}) {
    std::vector<double> angles;
    for (int k = 0; k < 720; ++k) angles.push_back(in_radians(start + 0.5 * k));
    const auto found = as_circle(as_free_views(some_cone(angles)));
    ASSERT_TRUE(found);
    EXPECT_EQ(angles_of(*found), angles);
  }
}

TEST(FreeViews, OfAFanBeamAreAFanBeam) {
  ConeBeam scan = some_cone(steps(20, 3, 360));
  scan.detector.rows = 1, scan.midplane_row = 0.25;
  const auto found = as_circle(as_free_views(point_source_scan(scan)));
  ASSERT_TRUE(found && std::holds_alternative<FanBeam>(*found));
  EXPECT_EQ(point_source_of(*found).midplane_row, scan.midplane_row);
}

TEST(FreeViews, OfAParallelBeamAreThatParallelBeamToTheBit) {
  for (const auto& angles : sequences()) {
    const ParallelBeam scan{
        {.bins = 64, .rows = 3, .bin_pitch = 0.0065, .row_pitch = 0.007, .axis_bin = 30.1}, angles};
    const auto found = as_circle(as_free_views(scan));
    ASSERT_TRUE(found && std::holds_alternative<ParallelBeam>(*found));
    expect_same_numbers(detector_of(*found), scan.detector);
    expect_same_directions(angles_of(*found), scan.angles);
  }
}

/// A ray of a parallel beam may come from either side, and its detector may stand anywhere along it.
TEST(FreeViews, OfParallelRaysHaveNoSideAndNoDepth) {
  const ParallelBeam scan{{.bins = 64, .rows = 3, .bin_pitch = 0.5, .row_pitch = 0.5, .axis_bin = 30},
                          {0.3, 1}};
  FlexibleBeam views = as_free_views(scan);
  for (FlexibleView& view : views.views) {
    view.detector = view.detector + 250 * view.source;
    view.source = -3 * view.source;
  }
  EXPECT_TRUE(as_circle(views));
}

/// Numbers of many digits come back within rounding.
TEST(FreeViews, OfAnyNumbersAreTheCircleWithinRounding) {
  ConeBeam scan = some_cone(steps(31, 0.123456789, 360));
  scan.sod = 541 / 3.0, scan.sdd = 949 / 1.7, scan.detector.axis_bin = 25 + std::sqrt(0.5);
  scan.detector.bin_pitch = 1 / 3.0, scan.midplane_row = std::sqrt(300);
  const auto found = as_circle(as_free_views(scan));
  ASSERT_TRUE(found);
  const ConeBeam& cone = point_source_of(*found);
  constexpr double rounding = 1e-13;  // relative to a number: some hundred units in the last place
  EXPECT_NEAR(cone.sod, scan.sod, rounding * scan.sod);
  EXPECT_NEAR(cone.sdd, scan.sdd, rounding * scan.sdd);
  EXPECT_NEAR(cone.detector.bin_pitch, scan.detector.bin_pitch, rounding);
  EXPECT_NEAR(cone.detector.axis_bin, scan.detector.axis_bin, rounding * scan.sdd / scan.detector.bin_pitch);
  EXPECT_NEAR(cone.midplane_row, scan.midplane_row, rounding * scan.sdd / scan.detector.row_pitch);
  for (std::size_t k = 0; k < scan.angles.size(); ++k) EXPECT_NEAR(cone.angles[k], scan.angles[k], 1e-14);
}

TEST(FreeViews, OffACircleAreNone) {
  const FlexibleBeam circle = as_free_views(some_cone(steps(20, 0, 360)));
  const auto is_circle_with = [&](const auto& change) {
    FlexibleBeam views = circle;
    change(views.views[7]);
    return as_circle(views).has_value();
  };
  EXPECT_TRUE(is_circle_with([](FlexibleView&) {}));
  EXPECT_FALSE(is_circle_with([](FlexibleView& v) { v.source[2] += 1e-5; }));
  EXPECT_FALSE(is_circle_with([](FlexibleView& v) { v.source[0] += 1e-5; }));
  EXPECT_FALSE(is_circle_with([](FlexibleView& v) { v.detector[1] += 1e-5; }));
  EXPECT_FALSE(is_circle_with([](FlexibleView& v) { v.bin_step[2] += 1e-8; }));
  EXPECT_FALSE(is_circle_with([](FlexibleView& v) { v.row_step[0] += 1e-8; }));
  FlexibleBeam mirrored = circle;
  for (FlexibleView& view : mirrored.views) view.bin_step = -1.0 * view.bin_step;
  EXPECT_FALSE(as_circle(mirrored));
  FlexibleBeam upside_down = circle;
  for (FlexibleView& view : upside_down.views) view.row_step = -1.0 * view.row_step;
  EXPECT_FALSE(as_circle(upside_down));
  EXPECT_FALSE(as_circle(standing(9, 7, 7, 50, 100, {0.2, 0, 0})));
  EXPECT_FALSE(as_circle(standing(9, 7, 7, 50, 100, {0.2, 0, 0}, true)));
}

TEST(FreeViews, KeepTheShiftsOfViewsAndRefuseAxesOfRows) {
  ParallelBeam scan{{.bins = 9, .rows = 2, .axis_bin = 4}, {0, 1, 2}};
  scan.view_shift_bins = {0, 1.5, -2};
  const FlexibleBeam views = as_free_views(scan);
  for (Index k = 0; k < 3; ++k)
    EXPECT_NEAR(shadow_of(views, k, {0, 0, 0})[1], 4 + scan.view_shift_bins[static_cast<std::size_t>(k)],
                1e-12);
  scan.row_axis_bins = {4, 5};
  EXPECT_THROW(as_free_views(scan), GeometryError);
}

/// A helix moves along z: its grid does, too, and that of a wobble of less than a voxel does not.
TEST(FreeViews, OfAHelixFitAGridAsLongAsItsTravel) {
  FlexibleBeam scan = standing(40, 9, 11, 50, 100, {});
  const VolumeGrid level = fitting_grid(scan);
  for (std::size_t k = 0; k < scan.views.size(); ++k)
    for (Vector3* each : {&scan.views[k].source, &scan.views[k].detector})
      (*each)[2] += 0.5 * static_cast<double>(k) + 3;
  const VolumeGrid helix = fitting_grid(scan);
  EXPECT_EQ(helix.size[2], level.size[2] + 39);
  EXPECT_NEAR(helix.centre[2], 3 + 0.5 * 0.5 * 39, 0.25 * level.pitch[2]);
  for (std::size_t k = 0; k < scan.views.size(); ++k)
    for (Vector3* each : {&scan.views[k].source, &scan.views[k].detector})
      (*each)[2] -= 0.5 * static_cast<double>(k) + 3 - 0.1 * static_cast<double>(k % 2);
  EXPECT_EQ(fitting_grid(scan).size, level.size);
  EXPECT_EQ(fitting_grid(scan).centre, level.centre);
}

/// A point t mm along the bins and z above is seen at t cos - ... of a detector that is rolled about its cell
/// on the axis: by the definition of --detector-roll.
TEST(FreeViews, OfARolledDetectorShowPointsWhereItsOptionSays) {
  const double roll = in_radians(3), c = std::cos(roll), s = std::sin(roll);
  const ParallelBeam scan{{.bins = 51, .rows = 40, .bin_pitch = 0.2, .row_pitch = 0.25, .axis_bin = 27.3},
                          {0.1, 2.5, 1.2}};
  const FlexibleBeam views = as_free_views(scan, {.roll = roll});
  const double lowered = (25 - 27.3) * 0.2 * s;  // the middle of the detector keeps its height
  for (Index view = 0; view < 3; ++view) {
    const double a = scan.angles[static_cast<std::size_t>(view)];
    const Vector3 p{1.5, -0.7, 0.9};
    const double t = p[0] * std::cos(a) + p[1] * std::sin(a), z = p[2] + lowered;
    const auto [row, bin] = shadow_of(views, view, p);
    EXPECT_NEAR(bin, 27.3 + (t * c + z * s) / 0.2, 1e-9);
    EXPECT_NEAR(row, 19.5 + (z * c - t * s) / 0.25, 1e-9);
  }
}

/// Turning the sample back is turning the frame of the beam: the point that an axis with a tilt carries.
TEST(FreeViews, OfATiltedAxisShowPointsOnTheRealDetector) {
  const double roll = in_radians(-1.5), tilt = in_radians(4);
  const ConeBeam scan = some_cone({0.1, 2.5, 1.2});
  const FlexibleBeam views = as_free_views(scan, {.roll = roll, .tilt = tilt});
  for (Index view = 0; view < 3; ++view) {
    const double a = scan.angles[static_cast<std::size_t>(view)];
    const Vector3 p{1.5, -0.7, 0.9};
    const double along = p[0] * std::cos(a) + p[1] * std::sin(a),
                 away = p[1] * std::cos(a) - p[0] * std::sin(a);
    // from the source, in the frame of the beam, which rises over the plane of the circle by the tilt
    const double depth = away + scan.sod * std::cos(tilt),
                 far = depth * std::cos(tilt) + p[2] * std::sin(tilt);
    const double u = scan.sdd * along / far,
                 v = scan.sdd * (p[2] * std::cos(tilt) - depth * std::sin(tilt)) / far;
    const auto [row, bin] = shadow_of(views, view, p);
    EXPECT_NEAR(bin, 27.3 + (u * std::cos(roll) + v * std::sin(roll)) / 0.2, 1e-9);
    EXPECT_NEAR(row, 12.75 + (v * std::cos(roll) - u * std::sin(roll)) / 0.25, 1e-9);
  }
}

TEST(FreeViews, OfMovedImagesAndSamplesAreMoved) {
  const Vector3 p{1.5, -0.7, 0.9};
  const std::vector<double> angles{0.1, 2.5, 1.2}, by_bins{1.5, 0, -2}, by_rows{0.25, -3, 0};
  const std::vector<Vector3> moves{{0.3, -0.4, 1}, {0, 0, -2}, {1, 1, 0}};
  for (const Scan& scan : {Scan(some_cone(angles)), Scan(ParallelBeam{some_cone(angles).detector, angles})}) {
    const FlexibleBeam still = as_free_views(scan),
                       shifted = as_free_views(scan, {.bin_shifts = by_bins, .row_shifts = by_rows}),
                       moved = as_free_views(scan, {.moves = moves});
    for (std::size_t k = 0; k < 3; ++k) {
      const auto view = static_cast<Index>(k);
      const auto [row, bin] = shadow_of(still, view, p);
      EXPECT_NEAR(shadow_of(shifted, view, p)[0], row + by_rows[k], 1e-9);
      EXPECT_NEAR(shadow_of(shifted, view, p)[1], bin + by_bins[k], 1e-9);
      const Vector3 along{std::cos(angles[k]), std::sin(angles[k]), 0}, away{-along[1], along[0], 0};
      const auto there =
          shadow_of(still, view, p + moves[k][0] * along + moves[k][1] * away + Vector3{0, 0, moves[k][2]});
      EXPECT_NEAR(shadow_of(moved, view, p)[0], there[0], 1e-9);
      EXPECT_NEAR(shadow_of(moved, view, p)[1], there[1], 1e-9);
    }
  }
  EXPECT_THROW(as_free_views(some_cone(angles), {.row_shifts = {1, 2}}), GeometryError);
  EXPECT_THROW(as_free_views(some_cone(angles), {.moves = {{1, 2, 3}}}), GeometryError);
  EXPECT_THROW(as_free_views(as_free_views(some_cone(angles)), {.roll = 0.1}), GeometryError);
}

}  // namespace
}  // namespace tandem::test
