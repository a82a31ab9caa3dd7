// Rows that go on with circles, against line integrals of bodies that reach beyond the detector.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "../../calibration/attenuation.hpp"
#include "../../core/error.hpp"
#include "../../core/random.hpp"
#include "../../operators/fbp.hpp"
#include "../../operators/fourier.hpp"
#include "../support/half_scans.hpp"
#include "../support/operators.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

constexpr double mu = 0.0193, pitch = 0.8;  // 1/mm; mm, at the axis

Filter circle_of(double attenuation) {
  Filter filter{.padding = Padding::circle};
  filter.attenuation = attenuation;
  return filter;
}

Ellipsoid ellipse(double a, double b, double x = 0, double y = 0, double turned = 0,
                  double attenuation = mu) {
  return {attenuation, {a, b, INFINITY}, {x, y, 0}, turned};
}

/// Some of the 256 bins that see all of an ellipse of 160 x 120 mm.
ParallelBeam parallel_of(Index bins, Index views = 180) {
  return {{bins, 1, pitch, pitch, 0.5 * (bins - 1)}, test::regular_angles(views, half_turn), {}};
}
ConeBeam cone_of(Index bins, Index rows, Index views = 360) {
  return {{bins, rows, 1.6 * pitch, 1.6 * pitch, 0.5 * (bins - 1)},
          test::regular_angles(views, whole_turn),
          500,
          800,
          0.5 * (rows - 1)};
}

double field_of(const Scan& scan) {
  const Detector& d = detector_of(scan);
  const double farther = std::max(d.axis_bin + 0.5, d.bins - 0.5 - d.axis_bin);
  return distance_from_axis(scan, farther * d.bin_pitch);
}

VolumeGrid grid_over(double field, Index slices = 1) {
  const Index n = 2 * static_cast<Index>(field / pitch) + 1;
  return {{n, n, slices}, {pitch, pitch, pitch}, {0, 0, 0}};
}

/// Errors in percent of the attenuation, within 0.95 of the field, 2.5 bins from any edge in the body.
struct Errors {
  double bias, spread;
};

Errors errors_of(const Array& x, const VolumeGrid& grid, const Phantom& body, double field, Index slice = 0) {
  double sum = 0, squares = 0, count = 0;
  for (Index j = 0; j < grid.size[1]; ++j)
    for (Index i = 0; i < grid.size[0]; ++i) {
      const double px = (i - 0.5 * (grid.size[0] - 1)) * pitch, py = (j - 0.5 * (grid.size[1] - 1)) * pitch;
      bool flat = std::hypot(px, py) <= 0.95 * field;
      for (int k = 0; k < 8 && flat; ++k) {
        const double turn = k * std::numbers::pi / 4, away = k % 2 == 0 ? 2.5 * pitch : 2 * pitch;
        flat =
            std::abs(value_at(body, px + away * std::cos(turn), py + away * std::sin(turn), 0) - mu) < 1e-9;
      }
      if (!flat) continue;
      const double error = 100 * (x.data()[(slice * grid.size[1] + j) * grid.size[0] + i] / mu - 1);
      sum += error, squares += error * error, ++count;
    }
  const double bias = sum / count;
  return {bias, std::sqrt(std::max(0.0, squares / count - bias * bias))};
}

template <class Kind>
Errors errors_by(const Filter& filter, const Phantom& body, const Kind& scan) {
  const double field = field_of(scan);
  const VolumeGrid grid = grid_over(field);
  return errors_of(fbp(Scan(scan), grid, filter) * test::line_integrals_of(body, scan), grid, body, field);
}

Index share_of_bins(double share) { return 2 * std::lround(128 * share); }

/// A disc is a circle wherever it lies, so its cut row has the ramp of the whole row.
TEST(Circles, AreTheDiscThatWasCutOff) {
  const Phantom body{{ellipse(80, 80, 8, -5)}};
  const ParallelBeam whole = parallel_of(256, 30), part = crop(whole, {0, 30}, {0, 1}, {64, 192});
  const Array all = ramp_filter(whole) * test::line_integrals_of(body, whole),
              some = ramp_filter(part, circle_of(mu)) * test::line_integrals_of(body, part);
  double largest = 0, off = 0;
  for (Index v = 0; v < 30; ++v)
    for (Index b = 0; b < 128; ++b) {
      const double due = all.data()[v * 256 + 64 + b];
      largest = std::max(largest, std::abs(due)),
      off = std::max(off, std::abs(some.data()[v * 128 + b] - due));
    }
  EXPECT_LE(off, tolerance::circle_of_disc * largest);
}

/// In a field of 60 %, half or 1.6 times the attenuation hardly matters.
TEST(Circles, ShowAnEllipseThatSticksOut) {
  const Phantom body{{ellipse(80, 60)}};
  for (const double share : {0.6, 0.45}) {
    const Index bins = share_of_bins(share);
    const std::pair<std::string, Scan> scans[] = {
        {"parallel", parallel_of(bins)}, {"fan", FanBeam{cone_of(bins, 1)}}, {"cone", cone_of(bins, 5, 180)}};
    for (const auto& [name, scan] : scans)
      for (const double factor : share > 0.5 ? std::vector{0.5, 1.0, 1.6} : std::vector{1.0})
        std::visit(
            [&](const auto& s) {
              const Errors errors = errors_by(circle_of(factor * mu), body, s),
                           usual = errors_by({.padding = Padding::cosine}, body, s);
              const std::string what = name + ", " + std::to_string(share) + ", " + std::to_string(factor);
              EXPECT_LE(std::abs(errors.bias), factor == 1 ? 1 : 2) << what;
              EXPECT_LE(errors.spread, factor == 1 ? 1 : 2.2) << what;
              EXPECT_LE(usual.bias, -7) << what;
            },
            scan);
  }
}

/// Slices of a cone beam off its midplane are made of rows that see longer ways.
TEST(Circles, ShowSlicesOffTheMidplane) {
  const Phantom body{{ellipse(80, 60)}};
  const ConeBeam scan = cone_of(share_of_bins(0.6), 41, 120);
  const double field = field_of(scan);
  const VolumeGrid grid = grid_over(field, 25);
  const Array x = fdk(scan, grid, circle_of(mu)) * test::line_integrals_of(body, scan);
  for (const Index slice : {3, 12, 21}) {
    const Errors errors = errors_of(x, grid, body, field, slice);
    EXPECT_LE(std::abs(errors.bias), 1) << slice;
    EXPECT_LE(errors.spread, 1.6) << slice;
  }
}

/// The Fourier model back-projects what circles add by itself.
TEST(Circles, AreTheSameByTheFourierModel) {
  const Phantom body{{ellipse(80, 60)}};
  const ParallelBeam scan = parallel_of(share_of_bins(0.6));
  const double field = field_of(scan);
  const VolumeGrid grid = grid_over(field);
  const Errors errors = errors_of(
      fourier_fbp(scan, grid, circle_of(mu)) * test::line_integrals_of(body, scan), grid, body, field);
  EXPECT_LE(std::abs(errors.bias), 1);
  EXPECT_LE(errors.spread, 1);
}

/// Bodies that are no ellipse of one material read nearer to the truth than by tapers, with the attenuation
/// that their line integrals tell.
TEST(Circles, ComeNearerThanTapers) {
  const std::pair<std::string, Phantom> bodies[] = {
      {"bones",
       {{ellipse(80, 60), ellipse(12, 10, -25, 10, 0, 0.9 * mu), ellipse(10, 8, 5, -20, 0, -0.9 * mu)}}},
      {"aside", {{ellipse(80, 60, 22, -9, 0.5)}}},
      {"flat", {{ellipse(95, 35, 0, 0, 0.3)}}},
      {"rim", {{ellipse(84, 63, 0, 0, 0, 2 * mu), ellipse(80, 60, 0, 0, 0, -mu)}}},
      {"two", {{ellipse(60, 50, -35), ellipse(25, 30, 65, 10)}}}};
  for (const auto& [name, body] : bodies) {
    const FanBeam scan{cone_of(share_of_bins(0.55), 1)};
    const Array y = test::line_integrals_of(body, scan);
    const double found = calibration::attenuation_of_round({y.data(), static_cast<std::size_t>(y.size())},
                                                           scan.detector.bins, pitch);
    const Errors circles = errors_by(circle_of(found), body, scan),
                 tapers = errors_by({.padding = Padding::cosine}, body, scan);
    EXPECT_LT(std::hypot(circles.bias, circles.spread), 0.7 * std::hypot(tapers.bias, tapers.spread)) << name;
  }
}

/// The nearer end of a half acquisition is made up for by opposite views.
TEST(Circles, GoOnAtTheFartherEndOfAHalfAcquisition) {
  const Phantom body{{ellipse(80, 60)}};
  ParallelBeam parallel = parallel_of(102, 360);
  parallel.angles = test::regular_angles(360, whole_turn), parallel.detector.axis_bin = 85;
  FanBeam fan{cone_of(102, 1)};
  fan.detector.axis_bin = 16;
  for (const Scan& scan : {Scan(parallel), Scan(fan)})
    std::visit(
        [&](const auto& s) {
          ASSERT_TRUE(half_acquisition(s));
          const Errors errors = errors_by(circle_of(mu), body, s);
          EXPECT_LE(std::abs(errors.bias), 1) << kind_of(scan);
          EXPECT_LE(errors.spread, 1.6) << kind_of(scan);
        },
        scan);
}

double normal_of(Random& random) {  // Box and Muller 1958
  const double radius = std::sqrt(-2 * std::log(random.uniform()));
  return radius * std::cos(whole_turn * random.uniform());
}

/// Line integrals (view, row, bin) with the noise of so many photons.
Array noisy(Array y, double photons) {
  Random random(5);
  for (Index i = 0; i < y.size(); ++i) {
    const double counts = photons * std::exp(-y.data()[i]);
    const double seen = std::max(1.0, counts + normal_of(random) * std::sqrt(counts));
    y.data()[i] = static_cast<float>(-std::log(seen / photons));
  }
  return y;
}

/// The views of the detector's row `row`, as a scan of one row has them.
Array row_of_views(const Array& y, Index row) {
  const auto [views, rows, bins] = y.space().shape();
  Array one(Space({views, 1, bins}, Blocks::rows));
  for (Index v = 0; v < views; ++v)
    std::copy_n(y.data() + (v * rows + row) * bins, bins, one.data() + v * bins);
  return one;
}

/// Beside rows that are open, and with the noise of 1000 photons, and where the body just fits the field.
TEST(Circles, LeaveRowsThatComeDownToAirAsTheyAre) {
  constexpr Index bins = 154, views = 90;
  ParallelBeam scan = parallel_of(bins, views);
  scan.detector.rows = 3;
  const ParallelBeam one = parallel_of(bins, views);
  const Phantom bodies[] = {{{ellipse(0.45 * bins * pitch, 30, 1, 2)}},
                            {{ellipse(80, 60)}},
                            {{ellipse(0.5 * bins * pitch, 0.5 * bins * pitch)}}};
  Array y(projection_space(scan));
  for (Index row = 0; row < 3; ++row) {
    const Array of_row = noisy(test::line_integrals_of(bodies[row], one), row == 2 ? 1e7 : 1000);
    for (Index v = 0; v < views; ++v)
      std::copy_n(of_row.data() + v * bins, bins, y.data() + (v * 3 + row) * bins);
  }
  const Filter usual{.padding = Padding::cosine};
  const Array by_circles = ramp_filter(scan, circle_of(mu)) * y, by_tapers = ramp_filter(scan, usual) * y;
  for (const Index row : {0, 2})
    EXPECT_TRUE(test::same_bits(row_of_views(by_circles, row), row_of_views(by_tapers, row))) << row;
  EXPECT_GT(test::relative_error(row_of_views(by_circles, 1), row_of_views(by_tapers, 1)), 0.01);
  EXPECT_TRUE(
      test::same_bits(row_of_views(by_circles, 1), ramp_filter(one, circle_of(mu)) * row_of_views(y, 1)));
}

/// Views in which the short side of a body is seen come down to air beside those in which they do not.
TEST(Circles, LeaveViewsThatComeDownToAirAsTheyAre) {
  const ParallelBeam scan = parallel_of(160, 91);
  const Array y = test::line_integrals_of(Phantom{{ellipse(95, 35)}}, scan);
  const Array circles = ramp_filter(scan, circle_of(mu)) * y,
              tapers = ramp_filter(scan, {.padding = Padding::cosine}) * y;
  Index same = 0, differ = 0;
  for (Index v = 0; v < 91; ++v) {
    const float* line = y.data() + v * 160;
    const bool air = line[0] == 0 && line[159] == 0,
               equal = std::equal(circles.data() + v * 160, circles.data() + (v + 1) * 160,
                                  tapers.data() + v * 160);
    EXPECT_TRUE(equal || !air) << v;
    same += equal, differ += !equal;
  }
  EXPECT_GT(same, 20);
  EXPECT_GT(differ, 20);
}

/// Rows that are moved onto the common axis take their circles along.
TEST(Circles, MoveWithTheirRows) {
  constexpr Index bins = 128, views = 20, moved = 3;
  const ParallelBeam scan = parallel_of(bins, views);
  ParallelBeam aside = scan;
  aside.row_axis_bins = {scan.detector.axis_bin - moved};
  const Array y = test::line_integrals_of(Phantom{{ellipse(80, 70, 3, 5)}}, scan);
  const LinearOperator F = ramp_filter(aside, circle_of(mu));
  Array same(F.domain());
  std::copy_n(y.data(), y.size(), same.data());
  const Array there = ramp_filter(scan, circle_of(mu)) * y, here = F * same;
  double largest = 0, off = 0;
  for (Index v = 0; v < views; ++v)
    for (Index b = 0; b < bins - moved; ++b) {
      const double due = there.data()[v * bins + b];
      largest = std::max(largest, std::abs(due));
      off = std::max(off, std::abs(here.data()[v * bins + b + moved] - due));
    }
  EXPECT_LE(off, tolerance::circle_of_disc * largest);
}

/// Blocks of views give what all views give. Filtered rows of a body that is cut off are small beside their
/// line integrals, whose rounding they have.
TEST(Circles, AreThoseOfEachViewAlone) {
  const ConeBeam scan = cone_of(100, 3, 23);
  const Array y = test::line_integrals_of(Phantom{{ellipse(80, 60)}}, scan),
              all = ramp_filter(scan, circle_of(mu)) * y;
  const FilterOfViews some = ramp_filter_of_views(scan, circle_of(mu));
  const Index each = y.size() / 23, filtered = all.size() / 23;
  for (const Range views : {Range{0, 7}, Range{7, 23}}) {
    const LinearOperator F = some(views);
    Array in(F.domain()), due(F.range());
    std::copy_n(y.data() + views.first * each, in.size(), in.data());
    std::copy_n(all.data() + views.first * filtered, due.size(), due.data());
    EXPECT_LE(test::relative_error(F * in, due), 10 * tolerance::parts_of_fbp);
  }
}

TEST(Circles, NeedAnAttenuationAndHaveNoTranspose) {
  const ParallelBeam scan = parallel_of(40, 7);
  for (const double bad :
       {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    EXPECT_THROW(ramp_filter(scan, circle_of(bad)), GeometryError) << bad;
  const LinearOperator F = ramp_filter(scan, circle_of(mu));
  EXPECT_THROW(adjoint(F) * Array(F.range()), GeometryError);
}

}  // namespace
}  // namespace tandem
