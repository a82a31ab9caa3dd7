// Scans that do not tell their geometry: a verdict or one line says so, and nothing is made up.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../../calibration/frames.hpp"
#include "../../calibration/sharpest.hpp"
#include "../../calibration/view_moves.hpp"
#include "../../core/error.hpp"
#include "../../core/random.hpp"
#include "../../core/units.hpp"
#include "../../geometry/free_views.hpp"
#include "../../geometry/phantom.hpp"

namespace tandem::calibration {
namespace {

constexpr Index rows = 30, bins = 48;

/// A scan in its right place, so that whatever is found beyond its uncertainty is made up.
struct Bad {
  Scan scan;
  FrameStack frames;
  FlexibleBeam views() const { return as_free_views(scan); }
};

Scan scan_of(bool cone, double arc_deg, int count, Index height = rows) {
  std::vector<double> angles;
  for (int k = 0; k < count; ++k) angles.push_back(in_radians(arc_deg) * k / count);
  const Detector d{bins, height, 1, 1, 0.5 * (bins - 1)};
  return cone ? Scan(ConeBeam{d, angles, 120, 180, 0.5 * static_cast<double>(height - 1)})
              : Scan(ParallelBeam{d, angles});
}

/// Normal noise of 1 % of the largest value, or of 0.01.
Bad seen(const Phantom& body, const Scan& scan, std::uint64_t seed = 1) {
  const Detector& d = detector_of(scan);
  Bad all{scan, {{}, d.rows, d.bins, angles_of(scan), rows_are_slices(scan) ? 0 : 1.0 / 180, 1}};
  all.frames.values.resize(all.frames.angles.size() * static_cast<std::size_t>(d.rows * d.bins));
  project(body, all.views(), {0, d.rows}, all.frames.values, 2);
  const double most = static_cast<double>(*std::ranges::max_element(all.frames.values)),
               noise = 0.01 * (most > 0 ? most : 1);
  Random random(seed);
  for (float& value : all.frames.values)
    value += static_cast<float>(noise * std::sqrt(-2 * std::log(1 - random.uniform())) *
                                std::cos(whole_turn * random.uniform()));
  return all;
}

Phantom bubbles(double radius) {
  Phantom body = scaled(foam(2), radius, 1);
  body.ellipsoids.resize(60);
  return body;
}
Phantom cylinder() { return {{{0.05, {12, 12, INFINITY}, {0, 0, 0}, 0}}}; }
const Phantom nothing{};

double row_of(const Scan& scan) { return 0.5 * static_cast<double>(detector_of(scan).rows - 1); }

void expect_no_axis(const Bad& bad) {
  EXPECT_THROW(calibrate_by_frames(bad.frames, row_of(bad.scan)), GeometryError);
}

/// The axis, and the roll if it is told, are within so many of the uncertainties said.
void expect_axis_within(double times, const Bad& bad) {
  const AxisLineEstimate line = calibrate_by_frames(bad.frames, row_of(bad.scan)).line;
  EXPECT_LT(std::abs(line.line.axis_bin - 0.5 * (bins - 1)), times * line.axis_uncertainty);
  if (line.verdict == Verdict::resolved) {
    EXPECT_LT(std::abs(line.line.roll), times * line.roll_uncertainty);
  }
}

/// None of the numbers of slices is resolved, and the views stay as they are.
void expect_no_slices(const Bad& bad) {
  const bool parallel = rows_are_slices(bad.scan);
  const SharpestSlices found =
      find_sharpest(bad.frames, bad.views(), {Sought::roll, parallel ? Sought::tilt : Sought::midplane});
  for (const Sharpened& number : found.numbers) {
    EXPECT_NE(number.verdict, Verdict::resolved);
    EXPECT_EQ(number.change, 0);
  }
}

/// Either it is said not to be told, or it is zero within four of the uncertainties said (63 in a million for
/// normal errors, and some hundred views are looked at).
void expect_no_moves(const Bad& bad, Move move, Verdict verdict) {
  const ViewMoves found = find_view_moves(bad.frames, bad.views());
  const auto k = static_cast<std::size_t>(move);
  EXPECT_EQ(found.verdict[k], verdict);
  for (std::size_t v = 0; v < found.moves.size(); ++v)
    EXPECT_LE(std::abs(found.moves[v][k]), 4 * found.uncertainty[v][k]);
}

class BadScans : public testing::TestWithParam<bool> {};  // the parameter: whether the beam is a cone
INSTANTIATE_TEST_SUITE_P(Beams, BadScans, testing::Bool(),
                         [](const auto& each) { return each.param ? "cone" : "parallel"; });

TEST_P(BadScans, OfNothingTellNothing) {
  const Bad air = seen(nothing, scan_of(GetParam(), 360, 80));
  expect_no_axis(air), expect_no_slices(air);
  for (const Move move : {Move::bins, Move::rows}) expect_no_moves(air, move, Verdict::flat);
  Bad empty = air, flat = air;
  for (float& value : empty.frames.values) value = 0;
  for (float& value : flat.frames.values) value += 1;
  for (const Bad* bad : {&empty, &flat}) {
    expect_no_axis(*bad), expect_no_slices(*bad);
    for (const Move move : {Move::bins, Move::rows}) expect_no_moves(*bad, move, Verdict::flat);
  }
}

/// What is the same from all sides tells shifts of bins alone, whatever its noise is.
TEST_P(BadScans, OfACylinderTellNoAxis) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    const Bad still = seen(cylinder(), scan_of(GetParam(), 360, 80), seed);
    expect_no_axis(still);
    if (seed > 1) continue;
    expect_no_slices(still);
    expect_no_moves(still, Move::rows, Verdict::flat);
    expect_no_moves(still, Move::bins, Verdict::resolved);
  }
}

TEST_P(BadScans, OfAQuarterTurnTellNothing) {
  const Bad quarter = seen(bubbles(14), scan_of(GetParam(), 90, 60));
  expect_no_axis(quarter), expect_no_slices(quarter);
  EXPECT_THROW(find_view_moves(quarter.frames, quarter.views()), GeometryError);
}

/// A sample that fills the frames still has opposite rays; a volume of what is cut off does not tell views.
TEST_P(BadScans, OfALargeSampleTellTheAxisAndNoViews) {
  const Bad cut = seen(bubbles(45), scan_of(GetParam(), 360, 96));
  expect_axis_within(3, cut);
  for (const Move move : {Move::bins, Move::rows}) expect_no_moves(cut, move, Verdict::flat);
}

TEST_P(BadScans, OfOneRowTellNoRollAndNoRows) {
  const Bad one = seen(bubbles(14), scan_of(GetParam(), 360, 96, 1));
  const AxisLineEstimate line = calibrate_by_frames(one.frames, 0).line;
  EXPECT_EQ(line.line.roll, 0);
  EXPECT_LT(std::abs(line.line.axis_bin - 0.5 * (bins - 1)), 3 * line.axis_uncertainty);
  expect_no_moves(one, Move::rows, Verdict::flat);
}

TEST(BadScansOfCones, OfOneOrTwoViewsAreRefused) {
  for (const int views : {1, 2}) {
    const Bad few = seen(bubbles(14), scan_of(true, 360, views));
    expect_no_axis(few);
    EXPECT_THROW(find_view_moves(few.frames, few.views()), GeometryError);
  }
}

/// 20 views of 48 bins: an edge of the sample goes on by seven cells from view to view. What is told holds
/// within four of the uncertainties said.
TEST_P(BadScans, OfFewViewsSayHowLittleTheyTell) {
  const Bad few = seen(bubbles(14), scan_of(GetParam(), 360, 20));
  expect_axis_within(4, few);
  expect_no_slices(few);
}

}  // namespace
}  // namespace tandem::calibration
