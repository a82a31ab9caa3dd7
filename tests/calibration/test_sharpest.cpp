// Roll, tilt and midplane by where slices are sharpest.

#include "../../calibration/sharpest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../../calibration/upright_frames.hpp"
#include "../../core/random.hpp"
#include "../../core/units.hpp"
#include "../../geometry/free_views.hpp"
#include "../../geometry/phantom.hpp"
#include "../../geometry/trajectories.hpp"

namespace tandem::calibration {
namespace {

constexpr Index rows = 96, bins = 120;

std::vector<double> angles_over(double arc_deg, int views) {
  std::vector<double> angles;
  for (int k = 0; k < views; ++k) angles.push_back(in_radians(arc_deg) * k / views);
  return angles;
}

ConeBeam cone(double arc_deg = 360) {
  return {{bins, rows, 1, 1, 59.5}, angles_over(arc_deg, 180), 120, 180, 47.5};
}

/// A cylinder with some bubbles.
Phantom bubbles(double radius) {
  Phantom body = scaled(foam(2), radius, 1);
  body.ellipsoids.resize(120);
  return body;
}

FrameStack frames_of(const Phantom& body, const FlexibleBeam& scan, const std::vector<double>& angles,
                     double share = 0.01) {
  FrameStack frames{{}, rows, bins, angles, 0, 1};
  frames.values.resize(scan.views.size() * static_cast<std::size_t>(rows * bins));
  project(body, scan, {0, rows}, frames.values, 1);
  const double noise = share * static_cast<double>(*std::ranges::max_element(frames.values));
  Random random(7);
  for (float& value : frames.values)
    value += static_cast<float>(noise * std::sqrt(-2 * std::log(1 - random.uniform())) *
                                std::cos(whole_turn * random.uniform()));
  return frames;
}

/// That a number is resolved, within three of its uncertainties and within a bound.
void expect_found(const Sharpened& number, double truth, double bound) {
  EXPECT_EQ(number.verdict, Verdict::resolved);
  EXPECT_LT(std::abs(number.change - truth), 3 * number.uncertainty);
  EXPECT_LT(std::abs(number.change - truth), bound);
}

TEST(ChangedViews, AreThoseOfAScanOffItsCircle) {
  ConeBeam scan = cone();
  const FlexibleBeam before = as_free_views(scan);
  scan.detector.axis_bin += 0.7, scan.midplane_row -= 2;
  const FlexibleBeam found = changed(before, {.bins = 0.7, .rows = -2, .roll = 0.01}),
                     same = as_free_views(scan, {.roll = 0.01});
  for (std::size_t k = 0; k < before.views.size(); k += 17)
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(found.views[k].source[c], same.views[k].source[c], 1e-10);
      EXPECT_NEAR(found.views[k].detector[c], same.views[k].detector[c], 1e-10);
      EXPECT_NEAR(found.views[k].bin_step[c], same.views[k].bin_step[c], 1e-12);
      EXPECT_NEAR(found.views[k].row_step[c], same.views[k].row_step[c], 1e-12);
    }
  const ParallelBeam flat{{bins, rows, 1, 1, 0.5 * (bins - 1)}, angles_over(180, 3)};
  const FlexibleBeam leaning = changed(as_free_views(flat), {.tilt = 0.02}),
                     known = as_free_views(flat, {.tilt = 0.02});
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(leaning.views[1].source[c], known.views[1].source[c], 1e-12);
    EXPECT_NEAR(leaning.views[1].row_step[c], known.views[1].row_step[c], 1e-12);
  }
}

/// A row of the middle of the detector sees the axis where the cone beam's formula puts it.
TEST(ChangedViews, SeeTheAxisAtTheHeightOfARow) {
  const ConeBeam scan = cone();
  const FlexibleBeam views = as_free_views(scan);
  EXPECT_NEAR(height_on_axis(views, views.views[3], 10), 10 * 120 / 180.0, 1e-9);
}

/// Splines have what changes evenly over cells, whatever the roll.
TEST(UprightFrames, AreThoseOfADetectorThatIsNotRolled) {
  for (const bool parallel : {false, true}) {
    const double roll = 0.02, foot_bin = 58.2, foot_row = parallel ? 0.5 * (rows - 1) : 44.7;
    const std::vector<double> angles = angles_over(360, 5);
    const Detector d{bins, rows, 1, 1, foot_bin};
    const Scan scan =
        parallel ? Scan(ParallelBeam{d, angles}) : Scan(ConeBeam{d, angles, 120, 180, foot_row});
    FrameStack frames{{}, rows, bins, angles, 0, 1};
    for (int k = 0; k < 5; ++k)
      for (int row = 0; row < rows; ++row)
        for (int bin = 0; bin < bins; ++bin)
          frames.values.push_back(static_cast<float>(k + 0.02 * (bin - foot_bin) + 0.05 * (row - foot_row)));
    const FlexibleBeam views = as_free_views(scan, {.roll = roll});
    const FlexibleBeam level = changed(views, {.roll = -stand_upright(frames, views)});
    EXPECT_NEAR(roll_of(level, level.views[3]), 0, 1e-9);
    for (const Index row : {10, 45, 80})
      for (const Index bin : {10, 60, 110}) {
        const double x = bin - foot_bin, y = row - foot_row, c = std::cos(roll), s = std::sin(roll);
        EXPECT_NEAR(frames.values[(3 * rows + row) * bins + bin],
                    3 + 0.02 * (x * c + y * s) + 0.05 * (y * c - x * s), 1e-5);
      }
  }
}

/// From exact frames whose roll the scan says: by means of two cells, in place of splines, these miss it by
/// 0.06 degrees, in the direction of the roll.
TEST(SharpestSlices, TellARollThatTheScanSays) {
  const ParallelBeam scan{{bins, rows, 1, 1, 0.5 * (bins - 1)}, angles_over(360, 180)};
  const FlexibleBeam views = as_free_views(scan, {.roll = in_radians(0.6)});
  const SharpestSlices found =
      find_sharpest(frames_of(bubbles(50), views, scan.angles, 0), views, {Sought::roll});
  expect_found(found.numbers[0], 0, in_radians(0.015));
  EXPECT_LT(found.numbers[0].uncertainty, in_radians(0.025));  // a tenth of the last step alone is 0.029
}

TEST(SharpestSlices, TellRollAndMidplaneOfACone) {
  ConeBeam truth = cone();
  truth.midplane_row -= 9;
  const FrameStack frames =
      frames_of(bubbles(36), as_free_views(truth, {.roll = in_radians(-0.8)}), truth.angles);
  const SharpestSlices found = find_sharpest(frames, as_free_views(cone()), {Sought::roll, Sought::midplane});
  expect_found(found.numbers[0], in_radians(-0.8), in_radians(0.1));  // a tenth of a cell at the edge
  expect_found(found.numbers[1], -9, 2.5);                            // half a cell at the edge
  EXPECT_EQ(found.change.roll, found.numbers[0].change);
  EXPECT_EQ(found.change.rows, found.numbers[1].change);
}

TEST(SharpestSlices, TellHowTheAxisOfParallelRaysLeans) {
  const ParallelBeam scan{{bins, rows, 1, 1, 0.5 * (bins - 1)}, angles_over(360, 180)};
  const FrameStack frames =
      frames_of(bubbles(50), as_free_views(scan, {.tilt = in_radians(0.4)}), scan.angles);
  const SharpestSlices found = find_sharpest(frames, as_free_views(scan), {Sought::roll, Sought::tilt});
  expect_found(found.numbers[0], 0, in_radians(0.1));
  expect_found(found.numbers[1], in_radians(0.4), in_radians(0.2));
}

/// The elevation of laminography within 0.05 degrees, from views that are thought to rise by another one.
/// There are more views than bins: fewer leave streaks, and the elevation is told less well.
TEST(SharpestSlices, TellHowRaysOfLaminographyRise) {
  Trajectory way{.name = "laminography",
                 .angles = angles_over(360, 150),
                 .parallel = true,
                 .midplane_row = 47.5,
                 .elevation = in_radians(30)};
  const Detector d{bins, rows, 1, 1, 59.5};
  const FlexibleBeam thought = as_free_views(views_along(way, d));
  way.elevation = in_radians(31.2);
  const FlexibleBeam truth = changed(views_along(way, d), {.bins = 0.7, .roll = in_radians(0.3)});
  const FrameStack frames = frames_of(scaled(plate(), 52, 1), truth, way.angles);
  const SharpestSlices found = find_sharpest(frames, thought, {Sought::axis, Sought::roll, Sought::tilt});
  expect_found(found.numbers[0], 0.7, 0.05);
  expect_found(found.numbers[1], in_radians(0.3), in_radians(0.1));
  expect_found(found.numbers[2], in_radians(1.2), in_radians(0.05));
}

/// What does not turn, noise, and less than a whole turn tell nothing.
TEST(SharpestSlices, AreFlatWhereNothingIsTold) {
  const std::vector<Sought> what{Sought::roll, Sought::midplane};
  const auto expect_flat = [&](const FrameStack& frames, const ConeBeam& scan) {
    const SharpestSlices found = find_sharpest(frames, as_free_views(scan), what);
    for (const Sharpened& number : found.numbers) {
      EXPECT_EQ(number.verdict, Verdict::flat);
      EXPECT_EQ(number.change, 0);
    }
    EXPECT_EQ(found.change.roll, 0);
  };
  const Phantom cylinder{{{1, {30, 30, INFINITY}, {0, 0, 0}, 0}}};
  expect_flat(frames_of(cylinder, as_free_views(cone()), cone().angles), cone());
  FrameStack air = frames_of(cylinder, as_free_views(cone()), cone().angles);
  Random random(3);
  for (float& value : air.values) value = static_cast<float>(random.uniform() - 0.5);
  expect_flat(air, cone());
  expect_flat(frames_of(bubbles(36), as_free_views(cone(90)), cone(90).angles), cone(90));
}

}  // namespace
}  // namespace tandem::calibration
