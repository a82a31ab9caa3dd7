// The values with which rows of half acquisitions and of arcs go on beyond their ends, against formulas and
// closed forms.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "../../operators/adjointness.hpp"
#include "../support/half_scans.hpp"
#include "../support/operators.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

using test::disc_aside, test::fbp_by, test::line_integrals_of, test::padded;

// ---- Filtered rows, by Kak and Slaney's eq. 61 in double on the unbounded line

/// A row that is weighed and goes on, from `over` bins before its first bin on.
struct Line {
  std::vector<double> values;
  Index over;

  /// `low` and `high` are the weights of rays beyond the ends.
  Line(const std::vector<double>& row, const std::vector<double>& weights, double low, double high,
       Index mean_of, Index length)
      : over(length) {
    const auto taper = [&](Index j) {
      return 0.5 + 0.5 * std::cos(std::numbers::pi * static_cast<double>(j) / static_cast<double>(over + 1));
    };
    double first = 0, last = 0;
    for (Index b = 0; b < mean_of; ++b)
      first += row[static_cast<std::size_t>(b)] / static_cast<double>(mean_of),
          last += row[row.size() - 1 - static_cast<std::size_t>(b)] / static_cast<double>(mean_of);
    for (Index j = over; j > 0; --j) values.push_back(low * first * taper(j));
    for (std::size_t b = 0; b < row.size(); ++b) values.push_back(weights[b] * row[b]);
    for (Index j = 1; j <= over; ++j) values.push_back(high * last * taper(j));
  }
  /// The row filtered by the ramp, at one of its bins.
  double filtered(Index bin) const {
    double sum = 0;
    for (Index j = 0; j < static_cast<Index>(values.size()); ++j) {
      const Index lag = bin + over - j;
      const double d = std::numbers::pi * static_cast<double>(lag);
      sum += values[static_cast<std::size_t>(j)] * (lag == 0 ? 0.25 : lag % 2 == 0 ? 0 : -1 / (d * d));
    }
    return sum;
  }
};

std::vector<double> row_of(const Array& y, Index view, Index row) {
  const auto [views, rows, bins] = y.space().shape();
  const float* first = y.data() + (view * rows + row) * bins;
  return {first, first + bins};
}

constexpr Index over = 40;

/// Rows with axes of their own have ends of their own: about the last one the other end is the nearer one.
TEST(HalfEnds, OfAParallelBeamCountNothingOnTheNearerSideAndTwoOnTheOther) {
  constexpr Index bins = 280;
  const ParallelBeam low{{bins, 3, 1, 1, 110}, test::regular_angles(12, whole_turn), {110, 95, 158}};
  ParallelBeam high = low, common = low;
  high.detector.axis_bin = 169, high.row_axis_bins = {169, 184, 121};
  common.row_axis_bins.clear();
  for (const ParallelBeam& scan : {low, high, common}) {
    const ParallelBeam wide = symmetric(scan);
    const Index first = std::lround(wide.detector.axis_bin - scan.detector.axis_bin);
    const Array y = test::random_array(projection_space(scan), 3),
                q = ramp_filter(scan, padded(Padding::cosine, over)) * y;
    const std::vector<float> shares = bin_shares(scan);
    const double view_share = half_turn / 12;
    double apart = 0;
    for (Index row = 0; row < 3; ++row) {
      const auto number = static_cast<std::size_t>(row);
      const double axis = scan.row_axis_bins.empty() ? scan.detector.axis_bin : scan.row_axis_bins[number];
      const bool near_is_low = axis < 0.5 * (bins - 1);
      const std::vector<double> weights(shares.begin() + row * bins, shares.begin() + (row + 1) * bins);
      const Index moved = first + std::lround(scan.detector.axis_bin - axis);
      for (const Index view : {0, 7}) {
        const Line line(row_of(y, view, row), weights, near_is_low ? 0 : 2, near_is_low ? 2 : 0,
                        wide.detector.bins / 128, over);
        const std::vector<double> found = row_of(q, view, row);
        for (Index b = 0; b < wide.detector.bins; ++b)
          apart = std::max(
              apart, std::abs(found[static_cast<std::size_t>(b)] - view_share * line.filtered(b - moved)));
      }
    }
    EXPECT_LE(apart, tolerance::continued_row) << "axis at bin " << scan.detector.axis_bin;
  }
}

/// The weights of an arc do not depend on how wide the detector is: beyond its ends they are those of a wider
/// one. The weights of a circle are 0 and twice the share of a view.
TEST(HalfEnds, OfACircleOrAnArcCountAsRaysThatPassBeyond) {
  constexpr Index bins = 280, views = 15;
  const ConeBeam centred{{bins, 2, 1.5, 1.5, 139.5}, test::regular_angles(views, whole_turn), 600, 900, 0.3};
  ConeBeam low = centred, high = centred, arc = centred, few = centred;
  low.detector.axis_bin = 96.2, high.detector.axis_bin = 180.3, few.detector.axis_bin = 141.2;
  arc.angles = test::regular_angles(views, 3.9), arc.detector.axis_bin = 120.4;
  for (const ConeBeam& scan : {centred, low, high, few, arc}) {
    ConeBeam wider = scan;
    wider.detector.bins += 2, wider.detector.axis_bin += 1;
    const std::vector<float> shares = ray_shares(scan), others = ray_shares(wider);
    const ConeBeam wide = filtered_scan(scan);
    const Index first = std::lround(wide.detector.axis_bin - scan.detector.axis_bin),
                below = std::lround(wide.midplane_row - scan.midplane_row);
    const Array y = test::random_array(projection_space(scan), 3),
                q = ramp_filter(scan, padded(Padding::cosine, over)) * y;
    const auto cosine = [&](Index row, Index bin) {
      return scan.sdd / std::hypot(scan.sdd, (static_cast<double>(bin) - scan.detector.axis_bin) * 1.5,
                                   (static_cast<double>(row) - scan.midplane_row) * 1.5);
    };
    double apart = 0;
    for (const Index view : {1, 8, 14})
      for (Index row = 0; row < 2; ++row) {
        std::vector<double> weights, measured = row_of(y, view, row);
        for (Index b = 0; b < bins; ++b) {  // cosines count in end values, too
          weights.push_back(static_cast<double>(shares[static_cast<std::size_t>(view * bins + b)]));
          measured[static_cast<std::size_t>(b)] *= cosine(row, b);
        }
        const bool aside = missing_bins(scan.detector) > 0 && scan.angles.back() > 4;
        const double share = half_turn / views;
        const bool near_is_low = scan.detector.axis_bin < 139.5;
        const double beyond_low =
                         aside ? (near_is_low ? 0 : 2 * share)
                               : static_cast<double>(others[static_cast<std::size_t>(view * (bins + 2))]),
                     beyond_high = aside ? (near_is_low ? 2 * share : 0)
                                         : static_cast<double>(
                                               others[static_cast<std::size_t>((view + 1) * (bins + 2) - 1)]);
        const Line line(measured, weights, beyond_low, beyond_high, wide.detector.bins / 128, over);
        const std::vector<double> found = row_of(q, view, below + row);
        for (Index b = 0; b < wide.detector.bins; ++b)
          apart = std::max(apart, std::abs(found[static_cast<std::size_t>(b)] -
                                           cosine(row, b - first) * line.filtered(b - first)));
      }
    EXPECT_LE(apart, tolerance::continued_row) << "axis at bin " << scan.detector.axis_bin;
  }
}

// ---- Half acquisitions beside whole scans

/// A disc in the field, with nothing to be continued: by each padding half of the scan reads what the whole
/// one does, and its attenuation.
template <class MakeScan>
void expect_half_is_whole(const MakeScan& scan_of, std::initializer_list<Model> models) {
  for (const test::Width& width : test::widths) {
    const auto half = scan_of(width, true), whole = scan_of(width, false);
    const Phantom disc = disc_aside(width.whole);
    const Array of_half = line_integrals_of(disc, half), of_whole = line_integrals_of(disc, whole);
    for (const Model model : models)
      for (const Padding padding : test::paddings) {
        const std::vector<double> some = test::readings({model}, width, half, of_half, padding),
                                  all = test::readings({model}, width, whole, of_whole, padding);
        for (std::size_t k = 0; k < some.size(); ++k) {
          SCOPED_TRACE(std::to_string(width.whole) + " bins, " + std::string(name_of(model)) + ", " +
                       std::string(name_of(padding)) + ", place " + std::to_string(k));
          EXPECT_NEAR(some[k], all[k], tolerance::half_of_whole);
          EXPECT_NEAR(some[k], 1, tolerance::half_of_whole);
        }
      }
  }
}

TEST(HalfEnds, LeaveAHalfOfAParallelBeamAsGoodAsTheWhole) {
  expect_half_is_whole(test::parallel_scan, {Model::pixel_driven, Model::joseph, Model::fourier});
}

TEST(HalfEnds, LeaveAHalfOfAFanBeamAsGoodAsTheWhole) {
  expect_half_is_whole(test::fan_scan, {Model::separable_footprint, Model::pixel_driven});
}

TEST(HalfEnds, LeaveAHalfOfAConeBeamAsGoodAsTheWhole) {
  expect_half_is_whole(test::cone_scan, {Model::separable_footprint, Model::pixel_driven});
}

test::Way exact(Model model) { return {model, Device::cpu(), {.accuracy = 1e-5}}; }

/// Beyond the farther end nothing is known, whichever detector saw the sample: what is made up is the same.
TEST(HalfEnds, AreThoseOfTheWholeWhereTheSampleGoesOn) {
  const ParallelBeam half = test::parallel_scan(test::widths[0], true),
                     whole = test::parallel_scan(test::widths[0], false);
  const Phantom body = disc_aside(300, 0.7);
  const VolumeGrid grid = test::grid_of(41, 43, 1, 5);
  for (const Model model : {Model::pixel_driven, Model::fourier})
    for (const Padding padding : test::paddings)
      EXPECT_LE(test::relative_error(
                    fbp_by(exact(model), half, grid, padded(padding)) * line_integrals_of(body, half),
                    fbp_by(exact(model), whole, grid, padded(padding)) * line_integrals_of(body, whole)),
                tolerance::opposite_rays_that_go_on)
          << name_of(model) << ", " << name_of(padding);
}

/// Each row about its own axis goes on as if it were alone with it, though the other end is the nearer one.
TEST(HalfEnds, OfRowsWithAxesOfTheirOwnAreThoseOfRowsAlone) {
  const ParallelBeam scan{{280, 3, 1, 1, 110}, test::regular_angles(40, whole_turn), {110, 95, 158}};
  const VolumeGrid grid = test::grid_of(65, 67, 3, 2), slice = test::grid_of(65, 67, 1, 2);
  const Filter filter = padded(Padding::cosine, over);
  for (const Model model : {Model::pixel_driven, Model::fourier}) {
    Array data(projection_space(scan)), expected(volume_space(grid));
    for (Index row = 0; row < 3; ++row) {
      ParallelBeam alone = scan;
      alone.row_axis_bins.clear();
      alone.detector.rows = 1, alone.detector.axis_bin = scan.row_axis_bins[static_cast<std::size_t>(row)];
      const Array y = line_integrals_of(disc_aside(400, 0.6), alone);
      for (Index v = 0; v < 40; ++v) std::copy_n(y.data() + v * 280, 280, data.data() + (v * 3 + row) * 280);
      const Array x = fbp_by({model}, alone, slice, filter) * y;
      std::copy_n(x.data(), x.size(), expected.data() + row * x.size());
    }
    EXPECT_LE(test::relative_error(fbp_by({model}, scan, grid, filter) * data, expected),
              tolerance::fourier_of_moved_rows)
        << name_of(model);
  }
}

TEST(HalfEnds, LeaveTheFiltersTheirTransposes) {
  const Filter filter = padded(Padding::cosine);
  ParallelBeam scan{{31, 2, 1, 1, 8.3}, test::regular_angles(24, whole_turn), {8.3, 16.1}};
  const VolumeGrid grid = fitting_grid(scan);
  EXPECT_LE(adjointness(ramp_filter(scan, filter)).mismatch, tolerance::mismatch);
  EXPECT_LE(adjointness(fourier_fbp(scan, grid, filter)).mismatch, tolerance::composed_mismatch);
  for (const double arc : {whole_turn, 4.0}) {
    const ConeBeam cone{{21, 3, 1, 1, 6.3}, test::regular_angles(12, arc), 60, 90, 1};
    EXPECT_LE(adjointness(ramp_filter(cone, filter)).mismatch, tolerance::mismatch);
  }
}

}  // namespace
}  // namespace tandem
