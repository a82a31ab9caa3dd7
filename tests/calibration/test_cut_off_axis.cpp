// The axis of samples that reach beyond the detector, by views of half a turn.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../../calibration/ways.hpp"
#include "../../core/error.hpp"
#include "../../geometry/phantom.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem::calibration {
namespace {

constexpr Index bins = 128, views = 180;

/// Line integrals (view, row, bin), the largest 2, of a body whose unit circle has the diameter `across`,
/// with normal deviates of the size that counts of 2000 photons have, if asked for.
struct Body {
  std::vector<double> angles;
  std::vector<float> lines;
  Index rows;

  Body(const char* phantom, double axis, double across, double arc, bool noisy, Index of_rows = 1)
      : angles(test::regular_angles(views, arc)), rows(of_rows) {
    const ParallelBeam scan{{bins, rows, 1, 1, axis}, angles, {}};
    const Phantom body = scaled(named_phantom(phantom, 3), 0.5 * across, 1);
    lines.resize(static_cast<std::size_t>(views * rows * bins));
    project(scaled(body, 1, 2 / largest_line_integral(body, scan)), scan, {0, rows}, lines);
    Random random(5);
    for (float& y : lines) {
      double deviate = -6;
      for (int k = 0; k < 12; ++k) deviate += random.uniform();
      if (noisy) y += static_cast<float>(deviate * std::sqrt(std::exp(static_cast<double>(y)) / 2000));
    }
  }
  Rays rays() const { return {lines, angles, rows, bins}; }
  AxisEstimate axis(AxisSearch search = {.method = AxisMethod::vo}) const {
    return find_axis(lines, angles, rows, bins, search);
  }
};

constexpr const char* phantoms[] = {"shepp-logan", "disc", "foam", "ellipsoids"};

TEST(MassAxis, IsTheAxisOfABodySeenWholeWhateverTheFlats) {
  for (const char* phantom : phantoms)
    for (const double arc : {half_turn, whole_turn}) {
      Body body(phantom, 58.3, 110, arc, false, 3);
      for (const float offset : {0.0f, 0.2f}) {
        for (float& y : body.lines) y += offset;
        const MassAxis found = axis_by_mass(body.rays());
        EXPECT_NEAR(found.axis_bin, 58.3, tolerance::axis_clean) << phantom << arc;
        EXPECT_FALSE(found.cut_off) << phantom << arc;
      }
    }
}

TEST(MassAxis, SaysWhereAnEndIsNotInTheAir) {
  for (const char* phantom : phantoms)
    EXPECT_TRUE(axis_by_mass(Body(phantom, 30, 180, half_turn, false).rays()).cut_off) << phantom;
}

TEST(CutOffAxis, BesideTheDetectorIsRefused) {
  for (const char* phantom : phantoms)
    for (const double arc : {half_turn, whole_turn})
      for (const double across : {100.0, 150.0, 240.0})
        for (const bool noisy : {false, true}) {
          const Body body(phantom, -10, across, arc, noisy);
          EXPECT_THROW(body.axis(), GeometryError) << phantom << arc << across << noisy;
        }
}

/// Bodies from one that is cut off on one side alone to one that fills the detector in all views.
TEST(CutOffAxis, IsRefusedOrWithinThreeUncertainties) {
  int beyond = 0, covered = 0, near = 0;
  for (const char* phantom : phantoms)
    for (const double axis : {0.0, 15.0, 30.0, 45.0, 55.0, 60.2, 64.0})
      for (const double across : {150.0, 180.0, 240.0})
        for (const bool noisy : {false, true}) try {
            const AxisEstimate found = Body(phantom, axis, across, half_turn, noisy).axis();
            const double off = std::abs(found.axis_bin - axis);
            beyond += off > 3 * found.uncertainty;
            ++covered, near += off < 1 && found.uncertainty < 4;
          } catch (const GeometryError&) {
          }
  EXPECT_EQ(beyond, 0);
  EXPECT_GT(covered, 60);  // out of 168, and most of them tell where it is
  EXPECT_GT(near, covered / 2);
}

/// Cut off at bin 0 alone; the centre of mass of what is seen says bin 53.3.
TEST(CutOffAxis, IsUncertainWithinTheRangeAlone) {
  const Body body("shepp-logan", 55, 150, half_turn, false);
  const double mass = axis_by_mass(body.rays()).axis_bin;
  ASSERT_LT(mass, 53.5);
  const auto expect_covered = [&](std::optional<std::array<double, 2>> between, double other) {
    const AxisEstimate found = body.axis({.method = AxisMethod::vo, .between = between});
    EXPECT_TRUE(found.cut_off);
    EXPECT_NEAR(found.axis_bin, 55, tolerance::axis_clean);
    EXPECT_NEAR(found.uncertainty, found.axis_bin - other, tolerance::axis_clean);
  };
  expect_covered({}, mass);
  expect_covered({{54, 58}}, 54);
}

}  // namespace
}  // namespace tandem::calibration
