#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <string>

#include "../../core/error.hpp"
#include "../../geometry/scan.hpp"
#include "../support/property.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

constexpr double pi = std::numbers::pi;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Expects that a scan is refused, in words that name what is wrong.
void expect_refused(const ParallelBeam& scan, const std::string& words) {
  try {
    validate(scan);
    ADD_FAILURE() << "accepted: " << words;
  } catch (const GeometryError& e) {
    EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
  }
}

template <class Change>
ParallelBeam changed(Change change) {
  ParallelBeam scan = test::scan_of(5, 3, 11);
  change(scan);
  return scan;
}

TEST(Validate, NamesEachBadFieldItsValueAndUnit) {
  EXPECT_NO_THROW(validate(test::scan_of(5, 3, 11)));
  expect_refused(changed([](auto& s) { s.detector.bins = 0; }), "bins = 0");
  expect_refused(changed([](auto& s) { s.detector.rows = -2; }), "rows = -2");
  expect_refused(changed([](auto& s) { s.detector.bin_pitch = 0; }), "bin_pitch = 0 mm");
  expect_refused(changed([](auto& s) { s.detector.bin_pitch = nan; }), "bin_pitch = nan mm");
  expect_refused(changed([](auto& s) { s.detector.row_pitch = -1; }), "row_pitch = -1 mm");
  expect_refused(changed([](auto& s) { s.detector.axis_bin = 22; }), "axis_bin = 22");
  expect_refused(changed([](auto& s) { s.detector.axis_bin = -12; }), "axis_bin = -12");
  expect_refused(changed([](auto& s) { s.detector.axis_bin = nan; }), "axis_bin = nan");
  expect_refused(changed([](auto& s) { s.angles.clear(); }), "0 views");
  expect_refused(changed([](auto& s) { s.angles[3] = nan; }), "view 3 is nan rad");
  expect_refused(changed([](auto& s) { s.row_axis_bins = {1, 2}; }), "2 row_axis_bins for 3 rows");
  expect_refused(changed([](auto& s) { s.row_axis_bins = {1, 2, 99}; }), "axis_bin = 99");
}

TEST(ViewWeights, AreTheStepForEqualStepsInAnyOrder) {
  std::vector<double> angles = test::regular_angles(7);
  std::swap(angles[1], angles[5]);
  angles[3] -= 3 * pi;
  for (double w : view_weights(angles)) EXPECT_NEAR(w, pi / 7, tolerance::double_rounding);
}

TEST(ViewWeights, OfARepeatedEndViewAreShared) {
  const std::vector<double> weights = view_weights(test::regular_angles(8, pi, true));
  EXPECT_NEAR(weights.front(), pi / 14, tolerance::double_rounding);
  EXPECT_NEAR(weights.back(), pi / 14, tolerance::double_rounding);
  for (std::size_t k = 1; k < 7; ++k) EXPECT_NEAR(weights[k], pi / 7, tolerance::double_rounding);
}

TEST(ViewWeights, BearAnEndViewInSinglePrecision) {
  std::vector<double> angles;
  for (double degrees : {0.0, 60.0, 120.0, 179.99999999})
    angles.push_back(static_cast<float>(degrees * pi / 180));
  const std::vector<double> weights = view_weights(angles);
  EXPECT_NEAR(weights[0] + weights[3], pi / 3, 4 * tolerance::u * pi);
}

TEST(ViewWeights, OfAFullTurnAreHalfTheStepTogether) {
  for (Index count : {12, 13})  // twins at opposite angles, and none
    for (double w : view_weights(test::regular_angles(count, 2 * pi)))
      EXPECT_NEAR(w, pi / static_cast<double>(count), tolerance::double_rounding);
}

TEST(ViewWeights, OfOneViewIsHalfATurn) {
  EXPECT_NEAR(view_weights(std::vector<double>{0.7})[0], pi, tolerance::double_rounding);
}

TEST(WidestGap, FindsTheMissingWedge) {
  EXPECT_NEAR(widest_gap(test::regular_angles(9)), pi / 9, tolerance::double_rounding);
  std::vector<double> wedge = test::regular_angles(10, 2.0);  // 0 .. 1.8
  EXPECT_NEAR(widest_gap(wedge), pi - 1.8, tolerance::double_rounding);
  for (double& a : wedge) a += 2.9;  // over the end of the half turn
  EXPECT_NEAR(widest_gap(wedge), pi - 1.8, tolerance::double_rounding);
  EXPECT_NEAR(widest_gap(std::vector<double>{1.0}), pi, tolerance::double_rounding);
}

TEST(Crop, KeepsTheAxisInSpace) {
  ParallelBeam scan = test::scan_of(7, 5, 23);
  scan.row_axis_bins = {10, 11, 12, 13, 14};
  const ParallelBeam part = crop(scan, {2, 6}, {1, 4}, {3, 20});
  EXPECT_EQ(part.detector.bins, 17);
  EXPECT_EQ(part.detector.rows, 3);
  EXPECT_DOUBLE_EQ(part.detector.axis_bin, scan.detector.axis_bin - 3);
  EXPECT_EQ(part.angles, std::vector<double>(scan.angles.begin() + 2, scan.angles.begin() + 6));
  EXPECT_EQ(part.row_axis_bins, (std::vector<double>{8, 9, 10}));
  EXPECT_NO_THROW(validate(part));
}

ConeBeam cone_scan() { return {test::scan_of(7, 12, 24, 0.5).detector, {1, 2, 3}, 40, 70, 4.25}; }

/// The row and the bin on which a point falls.
std::array<double, 2> shadow_of(const ConeBeam& scan, double t, double d, double z) {
  return {scan.midplane_row + scan.sdd * z / (d * scan.detector.row_pitch),
          scan.detector.axis_bin + scan.sdd * t / (d * scan.detector.bin_pitch)};
}

TEST(Crop, OfAConeBeamKeepsPointsOverTheirCells) {
  const ConeBeam scan = cone_scan(), part = crop(scan, {1, 3}, {2, 9}, {5, 20});
  EXPECT_EQ(part.detector.rows, 7);
  EXPECT_EQ(part.detector.bins, 15);
  EXPECT_EQ(part.angles, (std::vector<double>{2, 3}));
  const auto whole = shadow_of(scan, 1.3, 37, -0.7), cropped = shadow_of(part, 1.3, 37, -0.7);
  EXPECT_NEAR(cropped[0], whole[0] - 2, tolerance::double_rounding);
  EXPECT_NEAR(cropped[1], whole[1] - 5, tolerance::double_rounding);
}

TEST(BinDown, OfAConeBeamKeepsPointsOverTheirCells) {
  const ConeBeam scan = cone_scan();
  const Scan either = bin_down(Scan(scan), 1, true);
  const auto fine = shadow_of(scan, 1.3, 37, -0.7),
             coarse = shadow_of(std::get<ConeBeam>(either), 1.3, 37, -0.7);
  for (int axis = 0; axis < 2; ++axis)
    EXPECT_NEAR(coarse[axis], (fine[axis] + 0.5) / 2 - 0.5, tolerance::double_rounding);
  EXPECT_EQ(detector_of(either).rows, 6);
  EXPECT_EQ(detector_of(either).bins, 12);
}

TEST(Crop, RefusesEmptyAndOutsideRanges) {
  const ParallelBeam scan = test::scan_of(7, 5, 23);
  const Range views{0, 7}, rows{0, 5}, bins{0, 23};
  EXPECT_THROW(crop(scan, {3, 3}, rows, bins), GeometryError);
  EXPECT_THROW(crop(scan, views, {-1, 3}, bins), GeometryError);
  EXPECT_THROW(crop(scan, views, rows, {0, 24}), GeometryError);
}

TEST(BinDown, PutsACentreAtTheMiddleOfItsCells) {
  ParallelBeam scan = test::scan_of(7, 11, 23, 0.5);
  for (int row = 0; row < 11; ++row) scan.row_axis_bins.push_back(10 + 0.25 * row);
  const ParallelBeam binned = bin_down(scan, 2, true);
  EXPECT_EQ(binned.detector.bins, 5);
  EXPECT_EQ(binned.detector.rows, 2);
  EXPECT_DOUBLE_EQ(binned.detector.axis_bin, (scan.detector.axis_bin + 0.5) / 4 - 0.5);
  EXPECT_DOUBLE_EQ(binned.detector.bin_pitch, 2);
  EXPECT_DOUBLE_EQ(binned.detector.row_pitch, 2);
  ASSERT_EQ(binned.row_axis_bins.size(), 2u);
  EXPECT_NEAR(binned.row_axis_bins[0], (10.375 + 0.5) / 4 - 0.5, tolerance::double_rounding);
  EXPECT_NEAR(binned.row_axis_bins[1], (11.375 + 0.5) / 4 - 0.5, tolerance::double_rounding);
}

TEST(BinDown, TakesTheNewBinAsUnitWhereNoPitchIsKnown) {
  const ParallelBeam binned = bin_down(test::scan_of(7, 4, 23), 1, false);
  EXPECT_EQ(binned.detector.bin_pitch, 1);
  EXPECT_EQ(binned.detector.row_pitch, 1);
  EXPECT_EQ(binned.detector.bins, 11);
}

TEST(BinDown, ByLevelZeroChangesNothing) {
  const ParallelBeam scan = test::scan_of(7, 4, 23);
  EXPECT_EQ(fingerprint(bin_down(scan, 0, true)), fingerprint(scan));
}

TEST(BinDown, RefusesFewerCellsThanOne) {
  EXPECT_THROW(bin_down(test::scan_of(7, 3, 23), 2, true), GeometryError);
  EXPECT_THROW(bin_down(test::scan_of(7, 8, 3), 2, true), GeometryError);
}

TEST(BinDown, LeavesOneRowAloneAsItIs) {
  ParallelBeam scan = test::scan_of(7, 1, 23, 0.5);
  scan.row_axis_bins = {10};
  const ParallelBeam binned = bin_down(scan, 2, true);
  EXPECT_EQ(binned.detector.rows, 1);
  EXPECT_EQ(binned.detector.bins, 5);
  EXPECT_EQ(binned.detector.bin_pitch, 2);
  EXPECT_EQ(binned.detector.row_pitch, 0.5);
  EXPECT_EQ(binned.row_axis_bins, (std::vector<double>{10.5 / 4 - 0.5}));
  EXPECT_EQ(bin_down(test::scan_of(7, 1, 23), 2, false).detector.row_pitch, 0.25);  // in new bins
  const ConeBeam fan{{23, 1, 0.5, 0.5, 11}, {0.3}, 40, 70, 0.25};
  const ConeBeam small = bin_down(fan, 1);
  EXPECT_EQ(small.detector.row_pitch, 0.5);
  EXPECT_EQ(small.midplane_row, 0.25);
}

TEST(BinDown, KeepsPointsOverTheirCells) {
  EXPECT_TRUE(test::holds("a point falls on the mean of the cells it fell on", [] {
    const int level = *rc::gen::inRange(0, 4);
    const double x = *rc::gen::inRange(-1000, 1000) / 100.0;
    ParallelBeam scan = test::scan_of(1, 16, 64, 0.3);
    scan.angles = {0};
    const ParallelBeam binned = bin_down(scan, level, true);
    const double fine = scan.detector.axis_bin + x / scan.detector.bin_pitch;
    const double coarse = binned.detector.axis_bin + x / binned.detector.bin_pitch;
    RC_ASSERT(std::abs((fine + 0.5) / (1 << level) - 0.5 - coarse) < tolerance::double_rounding * 100);
  }));
}

TEST(Fingerprint, DiffersBetweenScansThatDiffer) {
  const ParallelBeam scan = test::scan_of(5, 3, 11);
  const std::vector<ParallelBeam> others{changed([](auto& s) { s.detector.bins = 12; }),
                                         changed([](auto& s) { s.detector.rows = 4; }),
                                         changed([](auto& s) { s.detector.bin_pitch = 1.01; }),
                                         changed([](auto& s) { s.detector.row_pitch = 1.01; }),
                                         changed([](auto& s) { s.detector.axis_bin += 1e-9; }),
                                         changed([](auto& s) { s.angles[2] += 1e-9; }),
                                         changed([](auto& s) { std::swap(s.angles[1], s.angles[2]); }),
                                         changed([](auto& s) {
                                           s.row_axis_bins = {5, 5, 5};
                                         })};
  EXPECT_EQ(fingerprint(scan), fingerprint(test::scan_of(5, 3, 11)));
  EXPECT_NE(fingerprint(scan), 0u);
  for (std::size_t i = 0; i < others.size(); ++i) EXPECT_NE(fingerprint(scan), fingerprint(others[i])) << i;
}

}  // namespace
}  // namespace tandem
