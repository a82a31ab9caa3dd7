#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "../../geometry/phantom.hpp"
#include "../support/dense.hpp"
#include "../support/operators.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

constexpr double pi = std::numbers::pi;

Array shadows(const Phantom& phantom, const ParallelBeam& scan) {
  Array rows(projection_space(scan));
  project(phantom, scan, {0, scan.detector.rows}, {rows.data(), static_cast<std::size_t>(rows.size())});
  return rows;
}

/// The mean over the voxels of slice 0 whose distance from (x, y) is below the radius; all in mm.
double patch_mean(const Array& volume, const VolumeGrid& grid, double x, double y, double radius) {
  double sum = 0, count = 0;
  for (Index iy = 0; iy < grid.size[1]; ++iy)
    for (Index ix = 0; ix < grid.size[0]; ++ix)
      if (std::hypot(grid.x(static_cast<double>(ix)) - x, grid.y(static_cast<double>(iy)) - y) < radius) {
        sum += static_cast<double>(volume.data()[iy * grid.size[0] + ix]);
        ++count;
      }
  return sum / count;
}

struct Arc {
  std::string name;
  std::vector<double> angles;
};

std::vector<Arc> arcs() {
  std::vector<Arc> all{{"half a turn", test::regular_angles(199)},
                       {"a full turn", test::regular_angles(397, 2 * pi)},
                       {"a full turn of opposite views", test::regular_angles(398, 2 * pi)},
                       {"both ends", test::regular_angles(200, pi, true)},
                       {"both ends of a full turn", test::regular_angles(399, 2 * pi, true)},
                       {"backwards from 1 rad", test::regular_angles(199, -pi)}};
  for (double& a : all.back().angles) a += 1;
  Random random(3);
  all.push_back({"irregular and unsorted", test::irregular_angles(211, random)});
  return all;
}

/// A disc of attenuation mu in mm, off the middle, over a detector whose axis is off its middle too.
void expect_disc_value(const Arc& arc, Model model, Window window) {
  constexpr double pitch = 0.37, mu = 0.021;
  ParallelBeam scan = test::scan_of(1, 1, 127, pitch);
  scan.angles = arc.angles;
  const VolumeGrid grid = fitting_grid(scan);
  const double size = half_width(grid) * 0.9;
  const Array y = shadows(scaled(disc(), size, mu), scan);
  const LinearOperator A = projector(scan, grid, model);
  const double mean =
      patch_mean(fbp(A, scan, grid, {.window = window}) * y, grid, 0.2 * size, 0.1 * size, 0.25 * size);
  EXPECT_NEAR(mean / mu, 1, tolerance::fbp_patch)
      << arc.name << ", window " << static_cast<int>(window) << ", "
      << (model == Model::joseph ? "Joseph" : "pixel-driven");
}

TEST(Fbp, OfADiscReadsItsValueForEachWindowAndModel) {
  for (Model model : {Model::pixel_driven, Model::joseph})
    for (Window window : test::windows)
      if (window != Window::none) expect_disc_value(arcs().front(), model, window);
}

TEST(Fbp, OfADiscReadsItsValueForEachArc) {
  for (Model model : {Model::pixel_driven, Model::joseph})
    for (const Arc& arc : arcs()) expect_disc_value(arc, model, Window::ramp);
}

TEST(Fbp, OfADiscReadsItsValueInVoxelsOfAnySize) {
  const ParallelBeam scan = [] {
    ParallelBeam s = test::scan_of(1, 1, 127, 0.37);
    s.angles = test::regular_angles(199);
    return s;
  }();
  const double size = 20;
  const Array y = shadows(scaled(disc(), size, 1), scan);
  for (Model model : {Model::pixel_driven, Model::joseph})
    for (double ratio : {0.5, 2.3}) {
      const Index n = static_cast<Index>(120 / ratio);
      const VolumeGrid grid = test::grid_of(n, n + 2, 1, 0.37 * ratio);
      const Array image = fbp(projector(scan, grid, model), scan, grid) * y;
      EXPECT_NEAR(patch_mean(image, grid, 0.2 * size, 0.1 * size, 0.25 * size), 1, tolerance::fbp_patch)
          << ratio;
    }
}

TEST(Fbp, IsFlatFromTheMiddleToTheEdgeOfABodyThatFillsTheView) {
  // without padding the row would be convolved with its neighbour's copy: cupping of some per cent
  ParallelBeam scan = test::scan_of(1, 1, 127);
  scan.detector.axis_bin = 63;
  scan.angles = test::regular_angles(199);
  const VolumeGrid grid = fitting_grid(scan);
  const Phantom body{{{1, {0.97 * 63, 0.97 * 63, INFINITY}, {0, 0, 0}, 0}}};
  const Array image = fbp(projector(scan, grid), scan, grid) * shadows(body, scan);
  EXPECT_NEAR(patch_mean(image, grid, 0, 0, 10), 1, tolerance::fbp_patch);
  for (double angle : {0.3, 2.0, 4.4})
    EXPECT_NEAR(patch_mean(image, grid, 50 * std::cos(angle), 50 * std::sin(angle), 6), 1,
                tolerance::fbp_patch);
}

TEST(Fbp, OfRowsWithAxesOfTheirOwnIsThatOfTheCommonAxis) {
  ParallelBeam scan = test::scan_of(1, 3, 127);
  scan.angles = test::regular_angles(199);
  const double axis = scan.detector.axis_bin;
  scan.row_axis_bins = {axis - 0.4, axis + 2, axis + 3.27};
  const VolumeGrid grid = fitting_grid(scan);
  const Array y = shadows(scaled(disc(), 55, 1), scan);
  const Array volume = fbp(projector(scan, grid), scan, grid) * y;
  const Index slice = 127 * 127;
  for (Index z = 0; z < 3; ++z) {
    Array one(volume_space(test::with_slices(grid, 1)));
    std::copy_n(volume.data() + z * slice, slice, one.data());
    EXPECT_NEAR(patch_mean(one, grid, 11, 5.5, 14), 1, tolerance::fbp_patch) << z;
    EXPECT_NEAR(patch_mean(one, grid, 11 - 40, 5.5, 6), 0, tolerance::fbp_patch) << z;
  }
}

TEST(Fbp, ScalesWithThePitch) {
  const ParallelBeam unit = test::scan_of(53, 1, 47), fine = test::scan_of(53, 1, 47, 0.25);
  Random random(5);
  const Array y = sign_array(projection_space(unit), random);
  Array same(projection_space(fine));
  std::copy_n(y.data(), y.size(), same.data());
  for (Model model : {Model::pixel_driven, Model::joseph}) {
    const VolumeGrid a = fitting_grid(unit), b = fitting_grid(fine);
    const Eigen::VectorXd in_bins = test::column(fbp(projector(unit, a, model), unit, a) * y);
    const Eigen::VectorXd in_mm = test::column(fbp(projector(fine, b, model), fine, b) * same);
    EXPECT_EQ((4 * in_bins - in_mm).cwiseAbs().maxCoeff(), 0);  // a power of two: no rounding
  }
}

TEST(Fbp, OfWhiteNoiseHasTheVarianceOfTheFormula) {
  constexpr Index rows = 24, views = 181, n = 127;
  ParallelBeam scan = test::scan_of(1, rows, n);
  scan.angles = test::regular_angles(views);
  const VolumeGrid grid = fitting_grid(scan);
  Random random(17);
  const Array noise = sign_array(projection_space(scan), random);  // variance 1
  const Array volume = fbp(projector(scan, grid), scan, grid) * noise;
  double sum = 0, count = 0;
  for (Index z = 0; z < rows; ++z)
    for (Index y = 0; y < n; ++y)
      for (Index x = 0; x < n; ++x) {
        const double radius = std::hypot(static_cast<double>(x) - 63, static_cast<double>(y) - 63);
        if (radius < 10 || radius > 50) continue;  // near the axis offsets are not all met; beyond, rows end
        const double v = static_cast<double>(volume.data()[(z * n + y) * n + x]);
        sum += v * v;
        ++count;
      }
  EXPECT_NEAR(static_cast<double>(views) * sum / count, tolerance::fbp_noise, tolerance::fbp_noise_within);
}

}  // namespace
}  // namespace tandem
