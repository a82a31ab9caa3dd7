// Filters of views of any geometry: nearly circles, helices, laminography.

#include "../../operators/orbit_fbp.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

#include "../../geometry/free_views.hpp"
#include "../../geometry/level_scan.hpp"
#include "../../geometry/phantom.hpp"
#include "../../geometry/trajectories.hpp"
#include "../../operators/adjointness.hpp"
#include "../support/flexible_scans.hpp"
#include "../support/operators.hpp"
#include "../support/tolerances.hpp"

namespace tandem::test {
namespace {

constexpr double degree = std::numbers::pi / 180;
constexpr double field = 20, sod = 60, sdd = 90;  // mm; the radius of what is seen

std::vector<double> turns(Index views, double count = 1) {
  std::vector<double> angles;
  for (Index k = 0; k < views; ++k)
    angles.push_back((static_cast<double>(k) + 0.13) * count * whole_turn / static_cast<double>(views));
  return angles;
}

/// `bins` bins over the field, with a margin, and three quarters as many rows.
ConeBeam cone_of(Index bins, Index views) {
  const double cell = 1.15 * 2 * field * sdd / sod / static_cast<double>(bins);
  return {.detector = {bins, bins * 3 / 4, cell, cell, 0.5 * static_cast<double>(bins - 1)},
          .angles = turns(views),
          .sod = sod,
          .sdd = sdd,
          .midplane_row = 0.5 * static_cast<double>(bins * 3 / 4 - 1)};
}

struct Ball {
  Vector3 centre;
  double radius = 0.2 * field;
};

/// Balls of attenuation 1 in the midplane, or near it.
const Ball middle{{0, 0, 0}}, aside{{0.6 * field * std::cos(0.3), 0.6 * field*std::sin(0.3), 0}};

Array data_of(const Ball& ball, const FlexibleBeam& scan, const FlexibleBeam& taken_for) {
  const double r = ball.radius;
  Array y(projection_space(taken_for));
  project({{{1, {r, r, r}, ball.centre, 0}}}, scan, {0, scan.detector.rows},
          {y.data(), static_cast<std::size_t>(y.size())}, 2);
  return y;
}

/// A cube of voxels about a ball that holds this part of it.
VolumeGrid grid_about(const Ball& ball, double pitch, double part) {
  const auto n = 2 * static_cast<Index>(std::ceil(part * ball.radius / pitch)) + 1;
  return {{n, n, n}, {pitch, pitch, pitch}, ball.centre};
}

template <class Use>
void for_voxels(const Array& volume, const VolumeGrid& grid, const Ball& ball, const Use& use) {
  const auto at = [](Index i) { return static_cast<double>(i); };
  for (Index z = 0; z < grid.size[2]; ++z)
    for (Index y = 0; y < grid.size[1]; ++y)
      for (Index x = 0; x < grid.size[0]; ++x)
        use(static_cast<double>(volume.data()[(z * grid.size[1] + y) * grid.size[0] + x]),
            length(Vector3{grid.x(at(x)), grid.y(at(y)), grid.z(at(z))} - ball.centre) / ball.radius);
}

/// The mean of the inner half of a ball.
double mean_of(const Ball& ball, const FlexibleBeam& scan) {
  constexpr double half = 0.5;
  const VolumeGrid grid = grid_about(ball, 2 * field / static_cast<double>(scan.detector.bins), half);
  const Array volume = fbp(scan, grid) * data_of(ball, scan, scan);
  double sum = 0, count = 0;
  for_voxels(volume, grid, ball, [&](double value, double away) {
    if (away < half) sum += value, ++count;
  });
  return sum / count;
}

/// The root mean square of what is wrong in and about a ball, but for its surface.
double error_of(const Ball& ball, const FlexibleBeam& scan, const FlexibleBeam& taken_for) {
  const double pitch = 2 * field / static_cast<double>(scan.detector.bins),
               surface = 0.5 * pitch / ball.radius;
  const VolumeGrid grid = grid_about(ball, pitch, 1.5);
  const Array volume = fbp(taken_for, grid) * data_of(ball, scan, taken_for);
  double sum = 0, count = 0;
  for_voxels(volume, grid, ball, [&](double value, double away) {
    if (std::abs(away - 1) > surface) sum += std::pow(value - (away < 1), 2), ++count;
  });
  return std::sqrt(sum / count);
}

FlexibleBeam changed(const ConeBeam& cone, const std::function<void(FlexibleView&)>& change) {
  FlexibleBeam scan = as_free_views(cone);
  for (FlexibleView& view : scan.views) change(view);
  return flexible_beam(scan.detector.rows, scan.detector.bins, scan.views, false);
}

void roll(FlexibleView& view, double angle) {
  const Vector3 ray = view.detector - view.source, about = 1 / length(ray) * ray;
  view.bin_step = turned(view.bin_step, about, angle), view.row_step = turned(view.row_step, about, angle);
}

/// Balls in the midplane read their attenuation, on all orbits that are nearly a circle.
TEST(OrbitFbp, BallsReadTheirAttenuation) {
  const ConeBeam cone = cone_of(96, 240);
  const double pitch = 2 * field / 96;
  Random random(3);
  const auto within = [&](double most) { return most * (2 * random.uniform() - 1); };
  const std::pair<const char*, FlexibleBeam> all[] = {
      {"circle", as_free_views(cone)},
      {"source aside",
       changed(cone, [](FlexibleView& v) { v.source = v.source + 3 / length(v.bin_step) * v.bin_step; })},
      {"yaw", changed(cone,
                      [](FlexibleView& v) {
                        v.bin_step = turned(v.bin_step, {0, 0, 1}, 5 * degree);
                      })},
      {"roll", changed(cone, [](FlexibleView& v) { roll(v, 2 * degree); })},
      {"axis that leans", changed(cone,
                                  [](FlexibleView& v) {
                                    for (Vector3* each : {&v.source, &v.detector, &v.bin_step, &v.row_step})
                                      *each = turned(*each, {0.6, 0.8, 0}, 3 * degree);
                                  })},
      {"wobble", changed(cone,
                         [&](FlexibleView& v) {
                           v.source = (1 + within(0.01)) * v.source;
                           v.source[2] += within(2 * pitch);
                         })},
      {"ellipse", changed(cone, [](FlexibleView& v) {
         v.source = (1 + 0.08 * std::cos(2 * std::atan2(v.source[1], v.source[0]) + 0.4)) * v.source;
       })}};
  for (const auto& [name, scan] : all)
    for (const Ball& ball : {middle, aside})
      EXPECT_NEAR(mean_of(ball, scan), 1, tolerance::ball_on_orbit) << name << ", " << ball.centre[0];
}

/// A detector that is not level blurs along z and moves across, away from the midplane.
TEST(OrbitFbp, RollThatIsLeftOutShows) {
  const ConeBeam cone = cone_of(96, 120);
  const FlexibleBeam circle = as_free_views(cone),
                     rolled = changed(cone, [](FlexibleView&v) { roll(v, 2 * degree); });
  const Ball high{{12, 0, 0.3 * field}, 3};
  const double still = error_of(high, circle, circle);
  EXPECT_LE(error_of(high, rolled, rolled), 1.4 * still);  // interpolated
  EXPECT_GE(error_of(high, rolled, circle), 2 * still);
}

/// The pairs have other footprints.
TEST(OrbitFbp, ACircleIsFdk) {
  ConeBeam cone = cone_of(48, 90);
  const VolumeGrid grid{{31, 29, 17}, {0.8, 0.8, 0.8}, {1, -2, 0.5}};
  const auto agrees = [&](const char* name) {
    const FlexibleBeam views = as_free_views(cone);
    const Array y = data_of(aside, views, views);
    Array same(projection_space(cone));
    std::copy_n(y.data(), y.size(), same.data());
    for (const Filter& filter : {Filter{}, Filter{.window = Window::hann, .padding = Padding::cosine}})
      EXPECT_LE(relative_error(fbp(views, grid, filter) * y, fdk(cone, grid, filter) * same),
                tolerance::other_footprint)
          << name;
  };
  agrees("circle");
  cone.detector.axis_bin = 15;
  agrees("aside");
  cone.detector.axis_bin = 23;
  cone.angles.resize(61);
  agrees("arc");
}

/// A circle of parallel rays is FBP.
TEST(OrbitFbp, AParallelCircleIsFbp) {
  const VolumeGrid grid{{31, 29, 9}, {1, 1, 1}, {}};
  for (const Index views : {45, 90}) {  // half a turn and a turn
    ParallelBeam beam{{41, 9, 1, 1, 19.3}, turns(90)};
    beam.angles.resize(static_cast<std::size_t>(views));
    const FlexibleBeam free = as_free_views(beam);
    const Phantom body = scaled(ellipsoids(), 14, 1);
    Array y(projection_space(free)), same(projection_space(beam));
    project(body, free, {0, 9}, {y.data(), static_cast<std::size_t>(y.size())}, 2);
    std::copy_n(y.data(), y.size(), same.data());
    const Filter smooth{.window = Window::hann};
    EXPECT_LE(relative_error(fbp(free, grid, smooth) * y, fbp(beam, grid, smooth) * same),
              tolerance::other_interpolation)
        << views;
  }
}

/// The value at the middle of a scan with 100 bins along a radius of 1, 256 views.
double centre_of(const Trajectory& way, const std::array<double, 3>& semi_axes) {
  constexpr double cell = 0.01;
  const FlexibleBeam scan = as_free_views(views_along(way, {256, 5, cell, cell, 127.5}));
  Array y(projection_space(scan));
  project({{{1, semi_axes, {}, 0}}}, scan, {0, 5}, {y.data(), static_cast<std::size_t>(y.size())});
  return static_cast<double>((fbp(scan, {{3, 3, 3}, {cell, cell, cell}, {}}) * y).data()[13]);
}

/// Spheroids read 1 / sqrt(1 + (a / c)^2 cot^2 phi) in their middle, if rays have the angle phi with the axis
/// (a ball: sin phi): the transform of a spheroid is that of a ball, stretched, and the filter leaves out a
/// double cone of half angle 90 degrees - phi. From far away a source has parallel rays.
TEST(OrbitFbp, LaminographyReadsWhatItsConeLeaves) {
  struct Row {
    double a, c, phi;
  };
  for (const Row& row : {Row{1, 1, 45}, Row{1, 1, 60}, Row{1, 1, 30}, Row{1, 0.5, 45}, Row{1, 0.1, 60},
                         Row{1, 3, 45}, Row{1, 1, 90}})
    for (const bool parallel : {true, false}) {
      Trajectory way;
      way.name = "laminography", way.angles = turns(256), way.parallel = parallel;
      way.elevation = (90 - row.phi) * degree, way.sod = 1e6, way.sdd = 1.0001e6, way.midplane_row = 2;
      const double ratio = row.a / row.c / std::tan(row.phi * degree);
      EXPECT_NEAR(centre_of(way, {row.a, row.a, row.c}), 1 / std::hypot(1, ratio), tolerance::laminography)
          << row.a << ' ' << row.c << ' ' << row.phi;
    }
}

/// An arc of 2 Theta sees this share of the half turn of a ball. The detector lies flat.
TEST(OrbitFbp, AnArcReadsItsShareOfHalfATurn) {
  for (const double theta : {30.0, 60.0}) {
    Trajectory way;
    way.name = "tomosynthesis", way.parallel = true, way.midplane_row = 2;
    for (double k = -127.5; k < 128; ++k) way.angles.push_back(k * 2 * theta * degree / 256);
    EXPECT_NEAR(centre_of(way, {0.5, 0.5, 0.5}), 2 * theta / 180, tolerance::laminography);
  }
}

FlexibleBeam helix_of(Index bins, Index views_a_turn, double count, double pitch, bool parallel = false) {
  const ConeBeam cone = cone_of(bins, 3);
  Trajectory way;
  way.name = "helix", way.pitch = pitch, way.sod = sod, way.sdd = sdd, way.midplane_row = cone.midplane_row;
  way.angles = turns(static_cast<Index>(static_cast<double>(views_a_turn) * count), count);
  way.parallel = parallel;
  return as_free_views(views_along(way, cone.detector));
}

/// The turn of a slice has sources up to half a pitch, kappa of their distance, above and below it: their
/// rays are longer by kappa^2 / 2 and FDK misses what that is squared over.
TEST(OrbitFbp, BallsInAHelixReadTheirAttenuation) {
  for (const double pitch : {2.0, 8.0, -16.0}) {  // the detector is 34.5 mm high at the axis
    const FlexibleBeam scan = helix_of(64, 180, std::ceil(16 / std::abs(pitch)) + 2, pitch);
    const double kappa = 0.5 * pitch / sod;
    for (const Ball& ball : {middle, aside, Ball{{-8, -8, 1.7}}})
      EXPECT_NEAR(mean_of(ball, scan), 1, tolerance::ball_on_orbit + 0.25 * kappa * kappa) << pitch;
  }
  const FlexibleBeam level = helix_of(64, 180, 4, 8, true);
  EXPECT_NEAR(mean_of({{-8, -8, 1.7}}, level), 1, tolerance::ball_on_orbit);
}

/// Discs as thick as the gaps between them (Defrise, IEEE Transactions on Medical Imaging 10, 1991). A circle
/// hardly sees the gaps that lie off its plane. In a helix all are alike, and come out if rays of a turn rise
/// by less than a disc is wide.
TEST(OrbitFbp, AHelixOfLittlePitchSeparatesDiscs) {
  Phantom discs;
  for (const double z : {-15.0, -10.0, -5.0, 0.0, 5.0, 10.0, 15.0})
    discs.ellipsoids.push_back({1, {14, 14, 1.25}, {0, 0, z}, 0});
  const double pitch = 2 * field / 64;
  const auto seen_by = [&](const FlexibleBeam& scan) {
    Array y(projection_space(scan));
    project(discs, scan, {0, scan.detector.rows}, {y.data(), static_cast<std::size_t>(y.size())}, 2);
    return y;
  };
  const auto mean_at = [&](const FlexibleBeam& scan, const Array& y, double z) {
    const Array x = fbp(scan, {{17, 17, 1}, {pitch, pitch, pitch}, {0, 0, z}}) * y;
    return std::accumulate(x.data(), x.data() + x.size(), 0.0) / static_cast<double>(x.size());
  };
  const FlexibleBeam helix = helix_of(64, 120, 5, 4), circle = as_free_views(cone_of(64, 120));
  const Array of_helix = seen_by(helix), of_circle = seen_by(circle);
  for (const double z : {0.0, 5.0}) {
    EXPECT_NEAR(mean_at(helix, of_helix, z), 1, tolerance::discs);
    EXPECT_NEAR(mean_at(helix, of_helix, z + 2.5), 0, tolerance::discs);
  }
  EXPECT_LE(mean_at(circle, of_circle, 5), 0.85);
  EXPECT_GE(mean_at(circle, of_circle, 7.5), 0.15);
}

TEST(OrbitFbp, AHelixOfNoPitchIsTheCircle) {
  const VolumeGrid grid{{31, 29, 9}, {1, 1, 1}, {1, -2, 0}};
  const FlexibleBeam circle = as_free_views(cone_of(48, 90));
  const Array x = fbp(circle, grid) * data_of(aside, circle, circle);
  for (const double pitch : {0.0, 1e-3}) {
    const FlexibleBeam helix = helix_of(48, 90, 3, pitch);
    EXPECT_EQ(level_scan(helix).orbit.goes_on, pitch > 0);
    EXPECT_LE(relative_error(fbp(helix, grid) * data_of(aside, helix, helix), x), tolerance::turns_alike)
        << pitch;
  }
}

/// Slices near the ends have the last turn, so that all of the volume is there.
TEST(OrbitFbp, AHelixHasEndsAndHardlyMoreThanATurn) {
  const FlexibleBeam scan = helix_of(48, 90, 1.2, 6);
  EXPECT_TRUE(level_scan(scan).orbit.goes_on);
  for (const double z : {-3.0, 0.0, 3.0}) EXPECT_NEAR(mean_of({{5, 0, z}}, scan), 1, 0.01) << z;
}

/// Block by block, as a pipeline adds them.
TEST(OrbitFbp, PartsOfTheViewsAddUp) {
  const VolumeGrid grid{{11, 9, 7}, {1.5, 1.5, 1.5}, {}};
  const Filter filter{.padding = Padding::edge};
  for (const FlexibleBeam& scan :
       {standing(19, 15, 21, sod, sdd, {0, 0.2, 0.1}), standing(19, 15, 21, sod, sdd, {0.5, 0, 0}, true),
        helix_of(20, 12, 4, 8)}) {
    const Interpolation interpolation = interpolation_of(scan, grid);
    const FilterOfViews F = ramp_filter_of_views(scan, filter, Device::cpu(), interpolation);
    const BackprojectorOfViews B = fdk_backprojector_of_views(scan, grid);
    const Array y = random_array(projection_space(scan), 3);
    const Index count = views_of(scan), view = scan.detector.rows * scan.detector.bins;
    Array sum(cone_volume_space(grid));
    for (const Range views : {Range{0, 5}, Range{5, 6}, Range{6, count}}) {
      const LinearOperator some = F(views);
      Array own(some.domain());
      std::copy_n(y.data() + views_behind_filtered(scan)(views).first * view, own.size(), own.data());
      B(views).apply(1, some * own, 1, sum, default_stream(Device::cpu()));
    }
    EXPECT_LE(relative_error(sum, fbp(scan, grid, filter) * y), tolerance::devices);
  }
}

TEST(OrbitFbp, TransposesAreExact) {
  const VolumeGrid grid{{11, 9, 7}, {1.5, 1.5, 1.5}, {}};
  const Filter filter{.padding = Padding::edge};
  for (const FlexibleBeam& scan :
       {standing(9, 15, 21, sod, sdd, {}), standing(9, 15, 21, sod, sdd, {0, 0.2, 0.1}),
        standing(9, 15, 21, sod, sdd, {0.5, 0.1, 0}, true), helix_of(20, 12, 3, 8)}) {
    EXPECT_LE(adjointness(ramp_filter(scan, grid, filter)).mismatch, tolerance::mismatch);
    EXPECT_LE(adjointness(backprojector(scan, grid)).mismatch, tolerance::mismatch);
  }
}

TEST(OrbitFbp, ReadsNothingThatItReplaces) {
  const FlexibleBeam scan = standing(9, 15, 21, sod, sdd, {0, 0.2, 0.1});
  const LinearOperator F = ramp_filter(scan);
  Stream& stream = default_stream(Device::cpu());
  const Array y = random_array(F.domain(), 1), q = F * y;
  Array out(F.range());
  std::fill_n(out.data(), out.size(), NAN);
  F.apply(1, y, 0, out, stream);
  EXPECT_TRUE(same_bits(out, q));
  F.apply(1, y, 1, out, stream);
  F.apply(0.5f, y, 1, out, stream);
  Array wanted(F.range());
  F.apply(2.5f, y, 0, wanted, stream);
  EXPECT_LE(relative_error(out, wanted), tolerance::devices);
}

}  // namespace
}  // namespace tandem::test
