#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "../../core/error.hpp"
#include "../../geometry/free_views.hpp"
#include "../../geometry/phantom.hpp"
#include "../support/property.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

constexpr double pi = std::numbers::pi;

ParallelBeam irregular_scan() {
  ParallelBeam scan;
  scan.detector = {.bins = 41, .rows = 7, .bin_pitch = 0.06, .row_pitch = 0.11, .axis_bin = 18.3};
  for (int i = 0; i < 13; ++i) scan.angles.push_back(0.1 + 0.27 * i * (1 + 0.01 * i));
  return scan;
}

VolumeGrid odd_grid() { return {{23, 19, 5}, {0.1, 0.12, 0.3}, {0.02, -0.01, 0.05}}; }

double real(int lowest, int highest) { return 1e-3 * *rc::gen::inRange(lowest * 1000, highest * 1000); }

Ellipsoid any_ellipsoid() {
  const auto axis = [] { return 0.05 + 0.9 * real(0, 1); };
  const std::array<double, 3> axes{axis(), axis(), axis()}, centre{real(-1, 1), real(-1, 1), real(-1, 1)};
  return {real(-2, 2), axes, centre, real(-4, 4)};
}

class EveryPhantom : public testing::TestWithParam<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(Names, EveryPhantom,
                         testing::ValuesIn(phantom_names().begin(), phantom_names().end()),
                         [](const auto& scan_case) {
                           std::string name(scan_case.param);
                           std::erase(name, '-');
                           return name;
                         });

/// Expects that an integral from `from` to `to` is the sum of point values along the way.
void expect_sum(const Phantom& phantom, const std::array<double, 3>& from, const std::array<double, 3>& to,
                double integral) {
  constexpr int steps = 8000;
  const double step = std::hypot(to[0] - from[0], to[1] - from[1], to[2] - from[2]) / steps;
  double sum = 0, jumps = 0, before = 0;
  for (int i = 0; i < steps; ++i) {
    const double t = (i + 0.5) / steps;
    const double here = value_at(phantom, std::lerp(from[0], to[0], t), std::lerp(from[1], to[1], t),
                                 std::lerp(from[2], to[2], t));
    sum += step * here;
    jumps += std::abs(here - before);
    before = here;
  }
  // a step that holds an edge is wrong by at most half its length; one more for chords shorter than a step
  EXPECT_NEAR(integral, sum, (0.5 * jumps + 1) * step);
}

TEST_P(EveryPhantom, LineIntegralIsTheSumOfPointValuesAlongTheRay) {
  const Phantom phantom = named_phantom(GetParam(), 3);
  for (double angle : {0.0, 0.4, 1.9, 4.0})
    for (double u : {-0.63, -0.2, 0.013, 0.31, 0.77})
      for (double z : {0.0, 0.173}) {
        const double c = std::cos(angle), s = std::sin(angle);
        expect_sum(phantom, {u * c + 1.5 * s, u * s - 1.5 * c, z}, {u * c - 1.5 * s, u * s + 1.5 * c, z},
                   line_integral(phantom, angle, u, z));
      }
}

TEST_P(EveryPhantom, LineIntegralIsTheSumOfPointValuesAlongAnObliqueRay) {
  const Phantom phantom = named_phantom(GetParam(), 3);
  for (double angle : {0.3, 1.1, 2.6, 5.0})
    for (double u : {-0.41, 0.07, 0.52})
      for (double slope : {-0.35, 0.2}) {
        const double c = std::cos(angle), s = std::sin(angle);
        const std::array from{u * c + 2 * s, u * s - 2 * c, 0.1 - 2 * slope},
            to{u * c - 2 * s, u * s + 2 * c, 0.1 + 2 * slope};
        expect_sum(phantom, from, to, line_integral(phantom, from, to));
      }
}

TEST(LineIntegral, IsTheSameFromBehind) {
  EXPECT_TRUE(test::holds("a view at a + pi is the mirror image of that at a", [] {
    const Phantom phantom{{any_ellipsoid(), any_ellipsoid()}};
    const double angle = real(-7, 7), at = real(-2, 2), z = real(-1, 1);
    const double front = line_integral(phantom, angle, at, z),
                 back = line_integral(phantom, angle + pi, -at, z);
    RC_ASSERT(std::abs(front - back) <= tolerance::grazing_chord);
  }));
}

TEST(LineIntegral, SumsToTheMassOfTheSlice) {
  EXPECT_TRUE(test::holds("the sum over u is attenuation x area", [] {
    Ellipsoid e = any_ellipsoid();
    e.semi_axes[2] = std::numeric_limits<double>::infinity();
    const double angle = real(-7, 7), pitch = 0.002;
    double sum = 0, peak = 0;
    for (int i = -1300; i <= 1300; ++i) {
      const double p = line_integral({{e}}, angle, (i + 0.3) * pitch, 0.7);
      sum += pitch * p;
      peak = std::max(peak, std::abs(p));
    }
    const double narrow = std::min(e.semi_axes[0], e.semi_axes[1]);
    RC_ASSERT(std::abs(sum - e.attenuation * pi * e.semi_axes[0] * e.semi_axes[1]) <=
              tolerance::half_ellipse_sum * peak * pitch * std::sqrt(pitch / narrow));
  }));
}

TEST(LineIntegral, ScalesWithLengthAndAttenuation) {
  EXPECT_TRUE(test::holds("lengths times L and attenuations times 3 give 3 L times the integral", [] {
    const Phantom phantom{{any_ellipsoid()}};
    const double angle = real(-7, 7), at = real(-1, 1), z = real(-1, 1), length = 0.1 + real(0, 9);
    const double one = line_integral(phantom, angle, at, z);
    const double other = line_integral(scaled(phantom, length, 3), angle, at * length, z * length);
    RC_ASSERT(std::abs(other - 3 * length * one) <= 3 * length * tolerance::grazing_chord);
  }));
}

TEST(SheppLogan, HasTheValuesOfTheModifiedPhantom) {
  const Phantom p = shepp_logan();
  EXPECT_DOUBLE_EQ(value_at(p, 0, 0.9, 5), 1.0);
  EXPECT_NEAR(value_at(p, 0, -0.3, 0), 0.2, tolerance::double_rounding);
  EXPECT_NEAR(value_at(p, 0, 0.35, -2), 0.3, tolerance::double_rounding);
  EXPECT_NEAR(value_at(p, -0.22, 0, 0), 0.0, tolerance::double_rounding);
  EXPECT_EQ(value_at(p, 0.8, 0, 0), 0.0);
}

TEST(Foam, HoldsBubblesThatDoNotMeetInsideItsCylinder) {
  const std::vector<Ellipsoid> all = foam(7).ellipsoids;
  ASSERT_GT(all.size(), 100u);
  for (std::size_t i = 1; i < all.size(); ++i) {
    const auto& a = all[i];
    EXPECT_LT(std::hypot(a.centre[0], a.centre[1]) + a.semi_axes[0], all[0].semi_axes[0]);
    for (std::size_t j = 1; j < i; ++j) {
      const auto& b = all[j];
      EXPECT_GT(std::hypot(a.centre[0] - b.centre[0], a.centre[1] - b.centre[1], a.centre[2] - b.centre[2]),
                a.semi_axes[0] + b.semi_axes[0]);
    }
  }
}

TEST(Foam, FollowsFromItsSeed) {
  const auto place = [](std::uint64_t seed) { return foam(seed).ellipsoids[1].centre; };
  EXPECT_EQ(place(7), place(7));
  EXPECT_NE(place(7), place(8));
}

TEST(Project, WritesTheIntegralThroughEachCellCentre) {
  const ParallelBeam scan = irregular_scan();
  const Phantom phantom = ellipsoids();
  std::vector<float> out(13 * 3 * 41);
  project(phantom, scan, {2, 5}, out);
  std::size_t at = 0;
  for (double angle : scan.angles)
    for (int row = 2; row < 5; ++row)
      for (int bin = 0; bin < 41; ++bin) {
        const double exact = line_integral(phantom, angle, (bin - 18.3) * 0.06, (row - 3) * 0.11);
        EXPECT_NEAR(out[at++], exact, tolerance::float_rounding * 3);
      }
}

TEST_P(EveryPhantom, IsProjectedTheSameInAnyRowRanges) {
  const ParallelBeam scan = irregular_scan();
  const Phantom phantom = named_phantom(GetParam(), 3);
  std::vector<float> whole(13 * 7 * 41), part(13 * 2 * 41);
  project(phantom, scan, {0, 7}, whole);
  project(phantom, scan, {4, 6}, part);
  for (std::size_t view = 0; view < 13; ++view)
    for (std::size_t i = 0; i < 2 * 41; ++i) ASSERT_EQ(part[view * 82 + i], whole[(view * 7 + 4) * 41 + i]);
  EXPECT_EQ(static_cast<float>(largest_line_integral(phantom, scan)),
            *std::max_element(whole.begin(), whole.end()));
}

TEST(Project, FollowsAnAxisThatDiffersFromRowToRow) {
  ParallelBeam scan = irregular_scan();
  scan.row_axis_bins = {18.3, 18.3, 18.3, 20.3, 18.3, 18.3, 18.3};
  std::vector<float> out(13 * 2 * 41);
  project(shepp_logan(), scan, {2, 4}, out);
  for (std::size_t bin = 0; bin + 2 < 41; ++bin)
    EXPECT_NEAR(out[bin], out[41 + bin + 2], tolerance::float_rounding * 3);
}

TEST(ProjectDense, IsTheChordOfWhatIsDenserInEveryBeam) {
  const Ellipsoid big{1, {0.9, 0.7, 0.8}, {0.1, 0, 0}, 0.3},
      core{0.7, {0.3, 0.2, 0.25}, {0.2, 0.1, 0.05}, -0.5}, hole{-1, {0.2, 0.2, 0.2}, {-0.4, 0, 0}, 0};
  const Phantom phantom{{big, core, hole}};
  Ellipsoid core_alone = core;
  core_alone.attenuation = 1.7;
  const ConeBeam cone{{.bins = 41, .rows = 7, .bin_pitch = 0.1, .row_pitch = 0.2, .axis_bin = 18.3},
                      {0.1, 1.0, 2.2},
                      4,
                      6,
                      3.2};
  for (const Scan& scan : {Scan(irregular_scan()), Scan(cone), Scan(as_free_views(cone))}) {
    const Index count = views_of(scan) * 2 * 41;
    std::vector<float> dense(count), denser(count), none(count), all(count), of_core(count);
    project_dense(phantom, 0.5, scan, {2, 4}, dense);
    project_dense(phantom, 1.5, scan, {2, 4}, denser);
    project_dense(phantom, 1.8, scan, {2, 4}, none);
    project(phantom, scan, {2, 4}, all);
    project(Phantom{{core_alone}}, scan, {2, 4}, of_core);
    for (Index k = 0; k < count; ++k) {
      EXPECT_NEAR(dense[k], all[k], tolerance::float_rounding * 3) << kind_of(scan);
      EXPECT_NEAR(denser[k], of_core[k], tolerance::float_rounding * 3) << kind_of(scan);
      EXPECT_EQ(none[k], 0);
    }
    EXPECT_GT(*std::ranges::max_element(denser), 0.5);
  }
}

TEST(ProjectDense, IsTheLengthThatTwoChordsHaveInCommon) {
  const ParallelBeam scan = irregular_scan();
  const double r = 0.6, x = 0.3, y = -0.1;
  const double infinite = std::numeric_limits<double>::infinity();
  const Phantom pair{{{1, {r, r, infinite}, {-x, 0, 0}, 0}, {1, {r, r, infinite}, {x, y, 0}, 0}}};
  std::vector<float> dense(13 * 41);
  project_dense(pair, 1.5, scan, {3, 4}, dense);
  std::size_t at = 0, met = 0;
  for (const double a : scan.angles)
    for (int bin = 0; bin < 41; ++bin) {
      const double c = std::cos(a), s = std::sin(a), u = (bin - 18.3) * 0.06;
      const auto half = [&](double px, double py) {
        return std::sqrt(std::max(0.0, r * r - std::pow(u - px * c - py * s, 2)));
      };
      const double one = half(-x, 0), two = half(x, y), of_one = x * s, of_two = -x * s + y * c;
      const double common =
          std::max(0.0, std::min(of_one + one, of_two + two) - std::max(of_one - one, of_two - two));
      EXPECT_NEAR(dense[at++], one > 0 && two > 0 ? 2 * common : 0, tolerance::float_rounding * 3);
      met += common > 0.1;
    }
  EXPECT_GT(met, 50u);
}

TEST_P(EveryPhantom, IsVoxelisedByTheMeanOfItsPointValues) {
  const VolumeGrid grid = odd_grid();
  const Phantom phantom = named_phantom(GetParam(), 3);
  std::vector<float> out(2 * 19 * 23);
  voxelise(phantom, grid, {1, 3}, out, 4);
  std::size_t at = 0;
  for (int iz = 1; iz < 3; ++iz)
    for (int iy = 0; iy < 19; ++iy)
      for (int ix = 0; ix < 23; ++ix) {
        double sum = 0;
        for (int j = 0; j < 16; ++j)
          sum += value_at(phantom, grid.x(ix + (j % 4 + 0.5) / 4 - 0.5), grid.y(iy + (j / 4 + 0.5) / 4 - 0.5),
                          grid.z(iz)) /
                 16;
        ASSERT_NEAR(out[at++], sum, tolerance::float_rounding * 2) << ix << ' ' << iy << ' ' << iz;
      }
}

TEST(Phantom, RefusesUnknownNamesAndWrongSizes) {
  EXPECT_THROW(named_phantom("sheplogan"), GeometryError);
  std::vector<float> out(7);
  EXPECT_THROW(project(disc(), irregular_scan(), {0, 1}, out), SpaceError);
  EXPECT_THROW(project(disc(), irregular_scan(), {6, 8}, out), GeometryError);
  const ConeBeam cone{{.bins = 5, .rows = 3}, {0.0, 1.0}, 50, 80};
  EXPECT_THROW(project(disc(), cone, {0, 1}, out, 1), SpaceError);
  EXPECT_THROW(project(disc(), cone, {2, 4}, out, 1), GeometryError);
  EXPECT_THROW(voxelise(disc(), odd_grid(), {0, 1}, out), SpaceError);
  EXPECT_THROW(voxelise(disc(), odd_grid(), {-1, 1}, out), GeometryError);
}

}  // namespace
}  // namespace tandem
