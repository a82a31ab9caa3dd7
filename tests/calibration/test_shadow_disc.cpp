// A disc from the edges of its shadow.

#include "../../calibration/shadow_disc.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "../../calibration/shell_attenuation.hpp"
#include "../../core/error.hpp"
#include "../../core/random.hpp"
#include "../../core/units.hpp"
#include "../../geometry/free_views.hpp"
#include "../../geometry/phantom.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem::calibration {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// A body beside the axis, as wide as half of the detector.
Phantom body(double x, double y, double radius, double half_height = infinite) {
  return {{{0.05, {radius, radius, half_height}, {x, y, 0.4}, 0}}};
}

std::vector<Index> all_rows(Index count) {
  std::vector<Index> rows(count);
  for (Index k = 0; k < count; ++k) rows[k] = k;
  return rows;
}

/// The fit to exact line integrals, with noise or not.
ShadowDisc fitted(const Phantom& phantom, const Scan& scan, double noise = 0) {
  const Index rows = detector_of(scan).rows;
  std::vector<float> lines(views_of(scan) * rows * detector_of(scan).bins);
  project(phantom, scan, {0, rows}, lines, 4);
  Random random(5);
  for (float& one : lines)
    one += static_cast<float>(noise * std::sqrt(6) * (random.uniform() + random.uniform() - 1));
  return fit_shadow_disc(lines, as_free_views(scan), all_rows(rows));
}

struct Case {
  std::string name;
  Scan scan;
  double bin;  ///< at the axis
};

/// Parallel, fan and cone beams over `arc`, one with a rolled detector. The axis is off the middle, and bins
/// are 0.5 mm at the object.
std::vector<Case> beams(double arc, Index rows = 5) {
  ParallelBeam parallel = test::scan_of(1, rows, 131, 0.5);
  parallel.angles = test::regular_angles(41, arc);
  for (double& angle : parallel.angles) angle += 0.4;
  ConeBeam cone{
      {131, rows, 0.9, 1.1, 66.3}, parallel.angles, 120, 216, 0.5 * static_cast<double>(rows - 1) - 0.3};
  ConeBeam fan = cone;
  fan.detector.rows = 1, fan.midplane_row = 0;
  return {{"parallel", parallel, 0.5},
          {"fan", point_source_scan(fan), 0.5},
          {"cone", cone, 0.5},
          {"rolled", as_free_views(cone, {.roll = 0.05}), 0.5}};
}

void expect_disc(const ShadowDisc& found, const Disc& true_one, double within, const std::string& name) {
  EXPECT_NEAR(found.disc.x, true_one.x, within) << name;
  EXPECT_NEAR(found.disc.y, true_one.y, within) << name;
  EXPECT_NEAR(found.disc.radius, true_one.radius, within) << name;
  EXPECT_LE(found.residual, within) << name;
}

TEST(ShadowDisc, IsThatOfACylinderInAnyBeamFromAnyPartOfATurn) {
  for (const double arc : {whole_turn, half_turn, whole_turn / 4, whole_turn / 12})
    for (const Case& one : beams(arc)) {
      const ShadowDisc found = fitted(body(2.3, -1.7, 17.3), one.scan);
      expect_disc(found, {2.3, -1.7, 17.3}, tolerance::edge_of_shadow * one.bin,
                  one.name + " " + std::to_string(in_degrees(arc)));
      EXPECT_EQ(found.edges, 82);
    }
}

/// Its largest section lies in a row.
TEST(ShadowDisc, OfAnEllipsoidIsTheCylinderAroundIt) {
  for (const Case& one : beams(whole_turn / 3, 9)) {
    Phantom ellipsoid = body(-1.2, 2.1, 17.3, 9);
    ellipsoid.ellipsoids[0].centre[2] = 0;
    expect_disc(fitted(ellipsoid, one.scan), {-1.2, 2.1, 17.3}, 3 * tolerance::edge_of_shadow * one.bin,
                one.name);
  }
}

/// A hundredth of the largest line integral; sixty edges share what it does to each.
TEST(ShadowDisc, BearsNoise) {
  for (const Case& one : beams(whole_turn / 12))
    expect_disc(fitted(body(2.3, -1.7, 17.3), one.scan, 0.017), {2.3, -1.7, 17.3}, 0.3 * one.bin, one.name);
}

/// One bin reads too much in one view, another one in each.
TEST(ShadowDisc, BearsDefects) {
  for (const Case& one : beams(whole_turn / 2, 1)) {
    std::vector<float> lines(41 * 131);
    project(body(2.3, -1.7, 17.3), one.scan, {0, 1}, lines, 4);
    lines[20 * 131 + 5] = lines[20 * 131 + 6] = 1;
    for (Index view = 0; view < 41; ++view) lines[view * 131 + 121] = 1.5f;
    const ShadowDisc found = fit_shadow_disc(lines, as_free_views(one.scan), {0});
    expect_disc(found, {2.3, -1.7, 17.3}, 3 * tolerance::edge_of_shadow * one.bin, one.name);
    EXPECT_EQ(found.edges, 81);
  }
}

void expect_refused(const Phantom& phantom, const Scan& scan, const std::string& why, double noise = 0) {
  try {
    fitted(phantom, scan, noise);
    ADD_FAILURE() << why;
  } catch (const GeometryError& error) {
    EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("FILE"), std::string::npos) << error.what();
  }
}

TEST(ShadowDisc, IsRefusedWithItsReason) {
  for (const Case& one : beams(whole_turn)) {
    expect_refused(body(18, 0, 17.3), one.scan, "cut off");
    expect_refused({{{0.05, {17, 14, infinite}, {0, 0, 0}, 0.3}}}, one.scan, "is no disc");
    Phantom with_handle = body(0, 0, 14);
    with_handle.ellipsoids.push_back({0.05, {4, 4, infinite}, {17, 3, 0}, 0});
    expect_refused(with_handle, one.scan, "is no disc");
    expect_refused(body(0, 0, 1e-3, 1e-3), one.scan, "no object", 0.01);
    expect_refused(body(0, 0, 1e-3, 1e-3), one.scan, "no object");
  }
  for (const Case& one : beams(whole_turn / 1000))
    expect_refused(body(2, 0, 17.3), one.scan, "too few directions");
}

/// A cylinder with a wide hole, 6 mm from its edge.
Phantom hollow() {
  Phantom phantom = body(2.3, -1.7, 17.3);
  phantom.ellipsoids.push_back({-0.05, {11.3, 11.3, infinite}, {2.3, -1.7, 0}, 0});
  return phantom;
}

/// Rows that are not `of_object` are air.
ShellAttenuation in_shell(const Phantom& phantom, const Scan& scan, double shell, Range of_object = {0, 99}) {
  const Index views = views_of(scan), rows = detector_of(scan).rows, bins = detector_of(scan).bins;
  std::vector<float> lines(views * rows * bins);
  project(phantom, scan, {0, rows}, lines, 4);
  for (Index k = 0; k < std::ssize(lines); ++k)
    if (const Index row = k / bins % rows; row < of_object.first || row >= of_object.last) lines[k] = 0;
  return attenuation_of_shell(lines, as_free_views(scan), all_rows(rows), {2.3, -1.7, 17.3}, shell);
}

TEST(ShellAttenuation, IsThatOfTheMaterial) {
  constexpr double within = 1e-3;  // the mean over a cell, beside the ray in its middle
  for (const double arc : {whole_turn, whole_turn / 12})
    for (const Case& one : beams(arc)) {
      const ShellAttenuation found = in_shell(hollow(), one.scan, 5.5);
      EXPECT_NEAR(found.value / 0.05, 1, within) << one.name;
      EXPECT_NEAR(found.change.value(), 1, within) << one.name;
      EXPECT_GE(found.rays, 41 * 6) << one.name;
    }
}

TEST(ShellAttenuation, SaysWhereTheShellIsThinner) {
  for (const Case& one : beams(whole_turn / 4)) {
    EXPECT_LT(in_shell(hollow(), one.scan, 12).change.value(), 0.8) << one.name;
  }
}

TEST(ShellAttenuation, LeavesOutRowsBesideTheObject) {
  const Case cone = beams(whole_turn / 4, 9)[2];
  EXPECT_NEAR(in_shell(hollow(), cone.scan, 4, {3, 6}).value / 0.05, 1, 1e-3);
}

TEST(ShellAttenuation, NeedsRaysAndAnObject) {
  const Scan scan = beams(whole_turn / 4)[0].scan;
  EXPECT_THROW(in_shell(hollow(), scan, 0.01), GeometryError);
  EXPECT_THROW(in_shell(hollow(), scan, 18), GeometryError) << "thicker than the object";
  EXPECT_THROW(in_shell(body(-20, 20, 3), scan, 4), GeometryError);
}

}  // namespace
}  // namespace tandem::calibration
