// Source and detector from the shadows of balls.

#include "../../calibration/balls.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "../../core/error.hpp"
#include "../../core/random.hpp"
#include "../../core/units.hpp"
#include "../../geometry/free_views.hpp"
#include "../../geometry/phantom.hpp"

namespace tandem::calibration {
namespace {

using Eigen::Vector2d, Eigen::Vector3d;

/// A scanner, its balls, and how wide their shadows are.
struct Jig {
  CircularScanner scanner;
  Detector detector;
  std::vector<double> angles;
  std::vector<Vector3d> balls;
  double radius;  ///< mm
};

/// Balls on a screw, at unequal heights and distances from the axis.
std::vector<Vector3d> screw(int count, double radius, double height) {
  std::vector<Vector3d> balls;
  for (int k = 0; k < count; ++k) {
    const double angle = 2.4 * k, r = radius * (k % 3 == 0 ? 0.7 : 1 - 0.02 * k);
    balls.push_back({r * std::cos(angle), r * std::sin(angle),
                     height * (2.0 * k / (count - 1) - 1) + 0.01 * height * std::sin(3.0 * k)});
  }
  return balls;
}

Jig jig(const CircularScanner& scanner, Index side, int views, double reach) {
  Jig j{scanner, {side, side, scanner.bin_pitch, scanner.row_pitch, scanner.axis_bin}, {}, {}, 0.02 * reach};
  for (int k = 0; k < views; ++k) j.angles.push_back(whole_turn * k / views);
  j.balls = screw(12, 0.75 * reach, 0.75 * reach);
  return j;
}

/// The two set-ups of the table of bounds, with a detector that stands off.
CircularScanner off(double sod, double sdd, double pitch_mm, Index side) {
  CircularScanner s;
  s.sod = sod, s.sdd = sdd, s.bin_pitch = s.row_pitch = pitch_mm;
  s.axis_bin = 0.5 * static_cast<double>(side - 1) + 3.3;
  s.midplane_row = 0.5 * static_cast<double>(side - 1) - 5.2;
  s.roll = in_radians(0.4), s.yaw = in_radians(0.7);
  return s;
}
Jig micro_ct() { return jig(off(100, 1000, 0.2, 1000), 1000, 72, 10); }
Jig wide() { return jig(off(541, 949, 0.4, 1024), 1024, 72, 110); }

/// The middles of shadows with normal errors of so many cells.
std::vector<std::vector<Spot>> spots_of(const Jig& j, double noise, std::uint64_t seed = 1) {
  std::vector<std::vector<Spot>> spots(j.angles.size());
  Random random(seed);
  const auto normal = [&] {
    return noise * std::sqrt(-2 * std::log(1 - random.uniform())) * std::cos(whole_turn * random.uniform());
  };
  const Foot nearest = foot(j.scanner);
  for (std::size_t k = 0; k < j.angles.size(); ++k)
    for (const Vector3d& ball : j.balls) {
      const double seen = j.radius * j.scanner.sdd / (j.scanner.sod * j.scanner.row_pitch),
                   variance = seen * seen / 5;
      const Vector2d cell =
          moved_out(j.scanner, nearest, shadow(j.scanner, j.angles[k], ball).cell, variance);
      spots[k].push_back({cell + Vector2d{normal(), normal()}, variance});
    }
  return spots;
}

/// What a user knows: an upright detector, and distances that are some percent off.
ConeBeam believed(const Jig& j, double by = 1.03) {
  ConeBeam scan{j.detector, j.angles, j.scanner.sod, by * j.scanner.sdd};
  scan.detector.axis_bin = 0.5 * static_cast<double>(j.detector.bins - 1);
  scan.midplane_row = 0.5 * static_cast<double>(j.detector.rows - 1);
  return scan;
}

KnownLength between(const Jig& j, std::size_t a, std::size_t b) {
  return {a, b, (j.balls[a] - j.balls[b]).norm()};
}

/// The error of a number in the unit of the report.
double error(const Jig& j, const BallCalibration& found, Number number) {
  CircularScanner truth = j.scanner, fit = found.fit.scanner;
  const auto n = static_cast<std::size_t>(number);
  return (*numbers_of(fit)[n] - *numbers_of(truth)[n]) * unit_of(number);
}
double uncertainty(const BallCalibration& found, Number number) {
  return found.fit.uncertainty[static_cast<std::size_t>(number)] * unit_of(number);
}

TEST(CircularScanner, IsTheConeBeamOfItsNumbers) {
  ConeBeam scan{{13, 7, 0.4, 0.5, 5.7}, {0.1, 1.3, 4.0}, 60, 90};
  scan.midplane_row = 2.2;
  CircularScanner s = nominal(scan);
  s.roll = 0.03;
  const FlexibleBeam views = as_free_views(views_of(s, scan.detector, scan.angles)),
                     same = as_free_views(scan, {.roll = 0.03});
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(views.views[k].source[c], same.views[k].source[c], 1e-12);
      EXPECT_NEAR(views.views[k].detector[c], same.views[k].detector[c], 1e-12);
      EXPECT_NEAR(views.views[k].bin_step[c], same.views[k].bin_step[c], 1e-12);
      EXPECT_NEAR(views.views[k].row_step[c], same.views[k].row_step[c], 1e-12);
    }
}

TEST(CircularScanner, HasTheDerivativesOfItsShadows) {
  CircularScanner s = off(100, 300, 0.2, 200);
  s.pitch = 0.05;
  const Vector3d point{3, -4, 5};
  const double angle = 0.7, step = 1e-5;
  const Shadow at = shadow(s, angle, point);
  for (int n = 0; n < numbers; ++n) {
    CircularScanner more = s, less = s;
    *numbers_of(more)[static_cast<std::size_t>(n)] += step;
    *numbers_of(less)[static_cast<std::size_t>(n)] -= step;
    const Vector2d slope = (shadow(more, angle, point).cell - shadow(less, angle, point).cell) / (2 * step);
    EXPECT_LT((slope - at.by_numbers.col(n)).norm(), 1e-6 * (1 + slope.norm())) << name_of(Number(n));
  }
  for (int k = 0; k < 3; ++k) {
    const Vector3d aside = step * Vector3d::Unit(k);
    const Vector2d slope =
        (shadow(s, angle, point + aside).cell - shadow(s, angle, point - aside).cell) / (2 * step);
    EXPECT_LT((slope - at.by_point.col(k)).norm(), 1e-6 * (1 + slope.norm()));
  }
}

/// Three times the bounds of Cramer and Rao for 12 balls in 72 views with errors of 0.02 cells, where they
/// lie anywhere.
struct Bounds {
  double sod, sdd;  ///< relative
  double axis, midplane, roll, pitch, yaw;
};
constexpr double errors = 0.02;

void expect_within(const Jig& j, const BallCalibration& found, const Bounds& b) {
  const std::array bounds{
      b.sod * j.scanner.sod, b.sdd * j.scanner.sdd, b.axis, b.midplane, b.roll, b.pitch, b.yaw};
  for (int n = 0; n < numbers; ++n) {
    const auto number = Number(n);
    if (bounds[static_cast<std::size_t>(n)] == 0) continue;
    EXPECT_LT(std::abs(error(j, found, number)), 3 * bounds[static_cast<std::size_t>(n)]) << name_of(number);
    EXPECT_LT(std::abs(error(j, found, number)), 4 * uncertainty(found, number)) << name_of(number);
    EXPECT_LT(uncertainty(found, number), 3 * bounds[static_cast<std::size_t>(n)]) << name_of(number);
  }
  EXPECT_NEAR(found.fit.scatter, errors, 0.05 * errors);
}

TEST(Balls, AtUnknownPlacesGiveTheScannerWithinThreeTimesTheBounds) {
  const Jig micro = micro_ct(), broad = wide();
  const auto found = [](const Jig& j) {
    return calibrate_by_balls(spots_of(j, errors), believed(j), {.lengths = {between(j, 0, 11)}});
  };
  expect_within(micro, found(micro), {7.1e-5, 4.5e-5, 9e-4, 1.4e-2, 1.1e-4, 0, 2.6e-3});
  expect_within(broad, found(broad), {1.7e-5, 1.7e-5, 9e-4, 6e-3, 1e-4, 0, 1e-3});
}

TEST(Balls, AtKnownPlacesGiveAllNumbersWithinThreeTimesTheBounds) {
  Jig micro = micro_ct(), broad = wide();
  const auto found = [](Jig& j) {
    j.scanner.pitch = in_radians(0.8);
    std::vector<Vector3d> places;  // the jig's balls on its own table, in another order
    for (std::size_t k = 0; k < j.balls.size(); ++k) {
      const Vector3d& ball = j.balls[(5 * k) % 12];
      places.push_back({ball.y() + 7, -ball.z() + 3, -ball.x()});
    }
    return calibrate_by_balls(spots_of(j, errors), believed(j), {.places = places});
  };
  expect_within(micro, found(micro), {4.5e-5, 4.5e-5, 9e-4, 1.4e-2, 1.1e-4, 2.3e-3, 2.6e-3});
  expect_within(broad, found(broad), {1.6e-5, 1.7e-5, 9e-4, 6e-3, 1e-4, 9e-4, 1e-3});
}

/// By the map of a pitched scan onto one without pitch, which leaves no residual: (x, y, z / cos p) / (1 + z
/// tan p / sod).
TEST(Balls, DoNotTellThePitchOfTheDetectorWithoutLengths) {
  Jig j = wide();
  j.scanner.yaw = 0, j.scanner.pitch = in_radians(2);
  const BallCalibration found = calibrate_by_balls(spots_of(j, 0), believed(j, 1), {});
  constexpr double rounding = 1e-7;  // cells: what the descent leaves
  EXPECT_LT(found.fit.scatter, rounding);
  EXPECT_EQ(found.fit.scanner.pitch, 0);
  ASSERT_EQ(found.not_told.size(), 2u);
  EXPECT_EQ(found.not_told[0].what, "sod_mm");
  EXPECT_EQ(found.not_told[1].what, "pitch_deg");
  ASSERT_EQ(found.fit.balls.size(), j.balls.size());
  for (std::size_t b = 0; b < j.balls.size(); ++b) {
    const Vector3d& at = j.balls[b];
    const double p = j.scanner.pitch;
    const Vector3d moved =
        Vector3d{at.x(), at.y(), at.z() / std::cos(p)} / (1 + at.z() * std::tan(p) / j.scanner.sod);
    EXPECT_LT((found.fit.balls[b] - moved).norm(), 1e-5) << b;  // mm
  }
}

TEST(Balls, TellThePitchByTwoLengths) {
  Jig j = wide();
  j.scanner.pitch = in_radians(1);
  const BallCalibration found =
      calibrate_by_balls(spots_of(j, errors), believed(j),
                         {.lengths = {between(j, 0, 1), between(j, 10, 11), between(j, 0, 11)}});
  EXPECT_TRUE(found.not_told.empty());
  EXPECT_LT(std::abs(error(j, found, pitch)), 4 * uncertainty(found, pitch));
  EXPECT_LT(uncertainty(found, pitch), 0.02);  // degrees
}

TEST(Balls, FitFindsThatTwoLengthsAtOneHeightTellNoPitch) {
  Jig j = wide();
  j.scanner.yaw = j.scanner.roll = 0;
  BallProblem p{.angles = j.angles, .sightings = {}, .scanner = j.scanner, .balls = j.balls};
  const auto spots = spots_of(j, 0);
  for (std::size_t view = 0; view < spots.size(); ++view)
    for (std::size_t b = 0; b < j.balls.size(); ++b)
      p.sightings.push_back({view, b, spots[view][b].cell, spots[view][b].variance});
  p.free.fill(true);
  p.lengths = {between(j, 0, 11)};  // one length for two unknowns
  EXPECT_EQ(fit_balls(p).unknown, std::vector{pitch});
  p.lengths.clear();
  EXPECT_EQ(fit_balls(p).unknown, (std::vector{pitch, sod}));
}

TEST(Balls, SayWhenTheScanTurnsTheOtherWay) {
  Jig j = wide();
  const auto spots = spots_of(j, errors);
  ConeBeam scan = believed(j);
  EXPECT_FALSE(calibrate_by_balls(spots, scan, {}).reversed);
  for (double& angle : scan.angles) angle = -angle;
  const BallCalibration found = calibrate_by_balls(spots, scan, {});
  EXPECT_TRUE(found.reversed);
  EXPECT_GT(found.other_sense, 10);
  EXPECT_LT(std::abs(error(j, found, axis_bin)), 4 * uncertainty(found, axis_bin));
}

TEST(Balls, LeaveOutSpotsThatAreNoBalls) {
  Jig j = wide();
  auto spots = spots_of(j, errors);
  Random random(5);
  for (std::size_t k = 0; k < spots.size(); ++k) {
    if (k % 5 == 0) spots[k].erase(spots[k].begin() + static_cast<std::ptrdiff_t>(k % 12));
    if (k % 4 == 1) spots[k][k % 12].cell.x() += 0.4;  // disturbed by a neighbour
    spots[k].push_back({{1024 * random.uniform(), 1024 * random.uniform()}, 9});
  }
  const BallCalibration found = calibrate_by_balls(spots, believed(j), {.lengths = {between(j, 0, 11)}});
  ASSERT_EQ(found.fit.balls.size(), j.balls.size());
  for (const Number number : {sod, sdd, axis_bin, midplane_row, roll, yaw})
    EXPECT_LT(std::abs(error(j, found, number)), 4 * uncertainty(found, number)) << name_of(number);
}

TEST(Balls, RefuseWhatIsNoneAndPlacesThatDoNotFit) {
  const Jig j = wide();
  const std::vector<std::vector<Spot>> none(j.angles.size());
  EXPECT_THROW(calibrate_by_balls(none, believed(j), {}), GeometryError);
  auto spots = spots_of(j, errors);
  std::vector<Vector3d> mirrored = j.balls;
  for (Vector3d& ball : mirrored) ball.x() = -ball.x();
  EXPECT_THROW(calibrate_by_balls(spots, believed(j), {.places = mirrored}), GeometryError);
  EXPECT_THROW(calibrate_by_balls(spots, believed(j), {.lengths = {{0, 12, 3.0}}}), GeometryError);
}

/// The shadows of balls in exact line integrals, as means over cells.
std::vector<float> frame_of(const Jig& j, std::size_t view, double more = 0) {
  Phantom phantom;
  for (const Vector3d& b : j.balls)
    phantom.ellipsoids.push_back({1 / j.radius, {j.radius, j.radius, j.radius}, {b.x(), b.y(), b.z()}, 0});
  const Scan one = views_of(j.scanner, j.detector, std::span(&j.angles[view], 1));
  std::vector<float> frame(static_cast<std::size_t>(j.detector.rows * j.detector.bins));
  project(phantom, one, {0, j.detector.rows}, frame, 4);
  for (std::size_t k = 0; k < frame.size(); ++k)  // a holder that absorbs, unevenly
    frame[k] += static_cast<float>(more * (1 + 1e-3 * static_cast<double>(k % 160)));
  return frame;
}

TEST(BallShadows, HaveTheirMiddlesWhereTheConePutsThem) {
  CircularScanner s = off(40, 80, 0.25, 160);  // a wide cone with large balls: a correction of 0.05 cells
  s.yaw = 0;
  Jig j = jig(s, 160, 1, 8);
  j.balls = {{6, 0, 5}, {-7, 2, -6}, {0, 0, 0.5}};
  j.radius = 1;
  const std::vector<Spot> spots = ball_shadows(frame_of(j, 0, 0.1), 160, 160);
  ASSERT_EQ(spots.size(), 3u);
  const Foot nearest = foot(s);
  constexpr double sampling = 3e-3;  // cells: 4 x 4 rays a cell at the rim of a ball
  double moved = 0;
  for (const Vector3d& ball : j.balls) {
    const Vector2d cell = shadow(s, j.angles[0], ball).cell;
    double nearest_spot = 1e9;
    for (const Spot& spot : spots) {
      nearest_spot = std::min(nearest_spot, (spot.cell - moved_out(s, nearest, cell, spot.variance)).norm());
      moved = std::max(moved, (moved_out(s, nearest, cell, spot.variance) - cell).norm());
    }
    EXPECT_LT(nearest_spot, sampling);
  }
  EXPECT_GT(moved, 10 * sampling);
}

TEST(BallShadows, LeaveOutWhatTouchesOrReachesBeyondTheFrame) {
  CircularScanner s = off(40, 80, 0.25, 160);
  Jig j = jig(s, 160, 1, 8);
  j.radius = 1;
  j.balls = {{0, 0, 0}, {5, 0, 5}, {6.2, 0, 5}, {0, 0, -9.6}};  // the second and third overlap
  const std::vector<Spot> spots = ball_shadows(frame_of(j, 0), 160, 160);
  ASSERT_EQ(spots.size(), 1u);
  EXPECT_LT((spots[0].cell - shadow(s, 0, j.balls[0]).cell).norm(), 0.1);
}

TEST(Balls, GiveTheScannerFromFrames) {
  CircularScanner s = off(60, 120, 0.4, 128);
  s.yaw = in_radians(1);
  Jig j = jig(s, 128, 40, 9);
  j.balls = screw(7, 8, 7.5), j.radius = 0.6;
  std::vector<std::vector<Spot>> spots;
  for (std::size_t k = 0; k < j.angles.size(); ++k)
    spots.push_back(ball_shadows(frame_of(j, k, 0.05), 128, 128));
  const BallCalibration found = calibrate_by_balls(spots, believed(j), {.lengths = {between(j, 0, 6)}});
  EXPECT_EQ(found.fit.balls.size(), j.balls.size());
  EXPECT_LT(found.fit.scatter, 0.01);
  EXPECT_LT(std::abs(error(j, found, axis_bin)), 3e-3);
  EXPECT_LT(std::abs(error(j, found, roll)), 3e-3);
  EXPECT_LT(std::abs(error(j, found, sdd)), 1e-3 * s.sdd);
  EXPECT_LT(std::abs(error(j, found, yaw)), 0.1);
}

}  // namespace
}  // namespace tandem::calibration
