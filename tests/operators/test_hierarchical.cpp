// The hierarchical pair: against the sum that it stands for, in double, against exact projections, and
// against its transpose.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "../../core/parallel.hpp"
#include "../../geometry/phantom.hpp"
#include "../../kernels/hierarchical.hpp"
#include "../../operators/adjointness.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/fbp.hpp"
#include "../../operators/hierarchical.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/random.hpp"
#include "../support/hierarchical_sum.hpp"
#include "../support/operators.hpp"
#include "../support/tolerances.hpp"

namespace tandem::test {
namespace {

using kernels::HierarchicalViews;

/// Uneven steps, in no order, from -20 degrees to `arc` behind that.
std::vector<double> shaken(Index views, double arc) {
  Random random(5);
  std::vector<double> angles = regular_angles(views, arc);
  for (double& a : angles) a += -0.35 + 0.9 * arc / static_cast<double>(views) * (random.uniform() - 0.5);
  for (std::size_t k = angles.size(); k > 1; --k) std::swap(angles[k - 1], angles[below(random, k)]);
  return angles;
}

std::vector<double> with_gaps(Index views) {
  std::vector<double> angles;
  for (const double a : regular_angles(views, whole_turn))
    if (!(a > 1 && a < 1.9) && !(a > 4 && a < 4.2)) angles.push_back(a);
  angles.push_back(1.45);  // alone
  return angles;
}

Array signs(const Space& space, std::uint64_t seed) {
  Random random(seed);
  return drawn_array(space, [&] { return random.uniform() < 0.5 ? -1.0f : 1.0f; });
}

struct Case {
  std::string name;
  ConeBeam scan;
  VolumeGrid grid;
};

std::vector<Case> cases() {
  constexpr Index n = 24;
  std::vector<Case> all{
      {"circle", cone_case(n, 150), cube(n, n)},
      {"shaken", wide_cone(n, 30, shaken(100, whole_turn)), cube(n, n)},
      {"short scan", wide_cone(n, 30, shaken(60, 3.6)), cube(n, n)},
      {"gaps", wide_cone(n, 30, with_gaps(90)), cube(n, n)},
      {"few", cone_case(n, 5), cube(n, n)},
      {"one view", wide_cone(n, 30, {0.4}), cube(n, n)},
      {"the same angle", wide_cone(n, 30, std::vector<double>(40, 2.1)), cube(n, n)},
      {"slab", cone_case(n, 70), {{n, n, 5}, {1, 1, 0.9}, {0, 0, 6.3}}},
      {"off the axis", cone_case(n, 70), {{13, 9, n}, {0.7, 0.7, 0.8}, {4, -6, 1}}},
      {"wide voxels", cone_case(n, 70), {{9, 10, 11}, {2.3, 2.3, 1.7}, {}}},
      {"one voxel", cone_case(n, 70), {{1, 1, 1}, {1, 1, 1}, {2, 3, 1}}},
      {"fan", fan_case(n, 150), cube(n, 1)},
      {"shaken fan", wide_cone(n, 1, shaken(90, 4)), {{17, 20, 1}, {0.9, 0.9, 30}, {1, 2, 0}}},
      {"fan, wide voxels", fan_case(n, 60), {{11, 12, 1}, {2, 2, 1}, {}}}};
  all.push_back({"detector aside", all[0].scan, all[0].grid});
  all.back().scan.detector.axis_bin += 9;
  return all;
}

double dot(const Array& a, const Array& b) {
  double sum = 0;
  for (Index i = 0; i < a.size(); ++i)
    sum += static_cast<double>(a.data()[i]) * static_cast<double>(b.data()[i]);
  return sum;
}

/// Some views are on the borders between groups, and their angles round to either side.
TEST(Hierarchical, HasEveryViewOnce) {
  for (Index views = 1; views <= 1200; views = views * 17 / 16 + 1) {
    const auto n = kernels::pack_hierarchical(fan_case(8, views), cube(4, 1));
    std::vector<int> seen;
    for (const kernels::ViewGroup& group : n->groups)
      if (group.is_view()) seen.push_back(group.view);
    std::ranges::sort(seen);
    ASSERT_EQ(seen.size(), static_cast<std::size_t>(views));
    for (std::size_t k = 0; k < seen.size(); ++k) EXPECT_EQ(seen[k], static_cast<int>(k)) << views;
  }
}

/// |<A x, y> - <x, A'y>| over the norms of A x and y, whose samples have random signs.
double mismatch_of_signs(const LinearOperator& A) {
  const Array x = signs(A.domain(), 3), y = signs(A.range(), 4), seen = A * x, back = adjoint(A) * y;
  return std::abs(dot(seen, y) - dot(x, back)) / std::sqrt(dot(seen, seen) * dot(y, y));
}

TEST(Hierarchical, PairsMatch) {
  for (const Case& c : cases()) {
    const LinearOperator A = projector(c.scan, c.grid, Model::hierarchical);
    const Adjointness a = adjointness(A, 2);
    EXPECT_LE(a.mismatch, tolerance::hierarchical_mismatch) << c.name;
    EXPECT_NEAR(a.coupling, 1, tolerance::coupling) << c.name;
    EXPECT_LE(mismatch_of_signs(A), tolerance::hierarchical_products) << c.name;
  }
}

TEST(Hierarchical, BitsDoNotDependOnThreads) {
  for (const Case& c : cases()) {
    const LinearOperator A = projector(c.scan, c.grid, Model::hierarchical);
    const Array x = random_array(A.domain(), 1), y = A * x, z = adjoint(A) * y;
    const ThreadLimit one(1);
    EXPECT_TRUE(same_bits(A * x, y)) << c.name;
    EXPECT_TRUE(same_bits(adjoint(A) * y, z)) << c.name;
  }
}

/// Relative L2 of a back-projection at some voxels.
double error_of_sum(const ConeBeam& scan, const VolumeGrid& grid, const Array& q, Index points) {
  return test::error_of_sum(scan, *kernels::pack_hierarchical(scan, grid), grid, q,
                            adjoint(projector(scan, grid, Model::hierarchical)) * q, points);
}

/// Each row becomes a mean of itself and its neighbours, as Hann's window makes it of bins.
Array smooth_along_rows(const Array& y) {
  Array smooth(y.space());
  const Image<const float> from = image(ConstVectorView(y));
  const Image<float> to = image(VectorView(smooth));
  for (Index v = 0; v < from.n0; ++v)
    for (Index row = 0; row < from.n1; ++row)
      for (Index bin = 0; bin < from.n2; ++bin) {
        const auto at = [&](Index r) { return from(v, std::clamp<Index>(r, 0, from.n1 - 1), bin); };
        to(v, row, bin) = 0.25f * at(row - 1) + 0.5f * at(row) + 0.25f * at(row + 1);
      }
  return smooth;
}

/// Projections of ellipsoids behind the filter of FDK with Hann's window, also along rows.
Array filtered_ellipsoids(const ConeBeam& scan, double radius) {
  Array y(projection_space(scan));
  project(scaled(ellipsoids(), radius, 0.02), scan, {0, scan.detector.rows},
          {y.data(), static_cast<std::size_t>(y.size())}, 3);
  return smooth_along_rows(own_rows(scan, ramp_filter(scan, {Window::hann, {}}) * y));
}

TEST(Hierarchical, IsTheSumOverViewsOfACone) {
  for (const Index views : {100, 280}) {  // without merges of groups, and with
    const ConeBeam scan = cone_case(72, views);
    EXPECT_LE(error_of_sum(scan, cube(72, 72), filtered_ellipsoids(scan, 36), 400),
              tolerance::hierarchical_sum)
        << views;
  }
}

TEST(Hierarchical, IsTheSumOverViewsOfAFan) {
  for (const Index views : {200, 700}) {
    const ConeBeam scan = fan_case(96, views);
    EXPECT_LE(error_of_sum(scan, cube(96, 1), filtered_ellipsoids(scan, 48), 400),
              tolerance::hierarchical_sum)
        << views;
  }
}

TEST(Hierarchical, IsTheSumOverAnyViews) {
  for (const Case& c : cases()) {
    if (c.name == "one voxel" || c.name.ends_with("wide voxels")) continue;
    Array q = filtered_ellipsoids(c.scan, 12);
    if (q.space() != projection_space(c.scan)) continue;  // a detector aside is filtered beyond its end
    EXPECT_LE(error_of_sum(c.scan, c.grid, q, 200), tolerance::hierarchical_sum_of_few) << c.name;
  }
}

struct Blob {
  std::array<double, 3> centre;
  double height;
};
constexpr double blob_width = 2;

double squared(double a) { return a * a; }

Array blobs_in(const VolumeGrid& grid, const std::vector<Blob>& blobs) {
  Array x(cone_volume_space(grid));
  const Index n = grid.size[0];
  parallel_for(x.size(), [&](Index i) {
    const double at[] = {grid.x(static_cast<double>(i % n)), grid.y(static_cast<double>(i / n % n)),
                         grid.size[2] == 1 ? 0 : grid.z(static_cast<double>(i / n / n))};
    double sum = 0;
    for (const auto& [c, height] : blobs)
      sum +=
          height * std::exp(-0.5 * (squared(at[0] - c[0]) + squared(at[1] - c[1]) + squared(at[2] - c[2])) /
                            squared(blob_width));
    x.data()[i] = static_cast<float>(sum);
  });
  return x;
}

/// Exact, along the rays to the middles of all cells.
Array projected_blobs(const ConeBeam& scan, const std::vector<Blob>& blobs) {
  Array exact(projection_space(scan));
  const Detector& d = scan.detector;
  parallel_for(exact.size(), [&](Index i) {
    const double a = scan.angles[static_cast<std::size_t>(i / d.bins / d.rows)], c = std::cos(a),
                 s = std::sin(a);
    const double u = (static_cast<double>(i % d.bins) - d.axis_bin) * d.bin_pitch,
                 v = d.rows == 1
                         ? 0
                         : (static_cast<double>(i / d.bins % d.rows) - scan.midplane_row) * d.row_pitch;
    const double ray[] = {u * c - scan.sdd * s, u * s + scan.sdd * c, v}, length = std::hypot(u, v, scan.sdd);
    double sum = 0;
    for (const auto& [centre, height] : blobs) {
      const double to[] = {centre[0] - scan.sod * s, centre[1] + scan.sod * c, centre[2]};
      const double along = (to[0] * ray[0] + to[1] * ray[1] + to[2] * ray[2]) / length,
                   away = squared(to[0]) + squared(to[1]) + squared(to[2]) - along * along;
      sum +=
          height * std::exp(-0.5 * away / squared(blob_width)) * blob_width * std::sqrt(2 * std::numbers::pi);
    }
    exact.data()[i] = static_cast<float>(sum);
  });
  return exact;
}

/// Relative L2 of projections of blobs in a cone, or in a fan if there is one row.
double error_of_blobs(Index n, Index rows) {
  const bool fan = rows == 1;
  const ConeBeam scan = wide_cone(n, rows, regular_angles(200, whole_turn));
  const VolumeGrid grid = {{n, n, fan ? 1 : n}, {1, 1, fan ? 1000.0 : 1}, {}};
  Random random(9);
  std::vector<Blob> blobs;
  const auto place = [&] { return 0.76 * static_cast<double>(n) * (random.uniform() - 0.5); };
  for (int k = 0; k < 40; ++k) {
    const double x = place(), y = place(), z = fan ? 0 : place();
    blobs.push_back({{x, y, z}, 0.5 + random.uniform()});
  }
  const Array seen = projector(scan, grid, Model::hierarchical) * blobs_in(grid, blobs);
  return relative_error(seen, projected_blobs(scan, blobs));
}

TEST(Hierarchical, ProjectsGaussians) {
  EXPECT_LE(error_of_blobs(48, 60), tolerance::hierarchical_blobs);
  EXPECT_LE(error_of_blobs(96, 1), tolerance::hierarchical_blobs_of_a_fan);
}

/// The same at 256^3, which takes a minute of CPU time: --gtest_also_run_disabled_tests.
TEST(Hierarchical, DISABLED_HoldsForManyVoxels) {
  EXPECT_LE(error_of_blobs(256, 320), tolerance::hierarchical_blobs);
  EXPECT_LE(mismatch_of_signs(projector(cone_case(256, 256), cube(256, 256), Model::hierarchical)),
            tolerance::hierarchical_products);
}

/// A ball with a soft rim, where rays pass well within: the lattice of voxels does not show.
TEST(Hierarchical, ProjectsAPlateauFlat) {
  for (const Index rows : {60, 1}) {
    const Index n = rows == 1 ? 96 : 48;
    const double radius = 0.38 * static_cast<double>(n), soft = 2.5;
    const ConeBeam scan = wide_cone(n, rows, regular_angles(200, whole_turn));
    const VolumeGrid grid = {{n, n, rows == 1 ? 1 : n}, {1, 1, rows == 1 ? 1000.0 : 1}, {}};
    const auto value = [&](double r) { return 0.5 * std::erfc((r - radius) / soft); };
    Array x(cone_volume_space(grid));
    for (Index i = 0; i < x.size(); ++i)
      x.data()[i] = static_cast<float>(
          value(std::hypot(grid.x(static_cast<double>(i % n)), grid.y(static_cast<double>(i / n % n)),
                           rows == 1 ? 0 : grid.z(static_cast<double>(i / n / n)))));
    const Array y = projector(scan, grid, Model::hierarchical) * x;
    const Image<const float> seen = image(ConstVectorView(y));
    double sum = 0, rays = 0;
    for (Index v = 0; v < seen.n0; ++v)
      for (Index row = 0; row < seen.n1; ++row)
        for (Index bin = 0; bin < seen.n2; ++bin) {
          const double u = (static_cast<double>(bin) - scan.detector.axis_bin) * scan.detector.bin_pitch,
                       w = rows == 1
                               ? 0
                               : (static_cast<double>(row) - scan.midplane_row) * scan.detector.row_pitch;
          const double beside = std::hypot(u, w), away = scan.sod * beside / std::hypot(beside, scan.sdd);
          if (away > 0.6 * radius) continue;
          double exact = 0;
          constexpr double step = 0.1;
          for (double s = 0.5 * step; s < 2 * radius; s += step)
            exact += 2 * step * value(std::hypot(s, away));
          sum += std::pow(seen(v, row, bin) / exact - 1, 2), ++rays;
        }
    EXPECT_LE(std::sqrt(sum / rays), tolerance::hierarchical_plateau) << rows;
  }
}

/// Back-projections of ones are smooth.
TEST(Hierarchical, BackProjectsOnesFlat) {
  const ConeBeam scan = cone_case(48, 150);
  Array ones(projection_space(scan));
  std::fill_n(ones.data(), ones.size(), 1.0f);
  EXPECT_LE(error_of_sum(scan, {{30, 30, 20}, {1, 1, 1}, {}}, ones, 400), tolerance::hierarchical_plateau);
}

/// Relative L2 of what a part differs by from the whole.
double difference_of_part(const ConeBeam& scan, const VolumeGrid& grid, const Array& q, const Array& whole,
                          const std::array<Range, 3>& part) {
  const auto& [x, y, z] = part;
  const Array own = adjoint(projector(scan, region(grid, x, y, z), Model::hierarchical)) * q;
  const Image<const float> all = image(ConstVectorView(whole)), some = image(ConstVectorView(own));
  double difference = 0, size = 0;
  for (Index iz = 0; iz < z.size(); ++iz)
    for (Index iy = 0; iy < y.size(); ++iy)
      for (Index ix = 0; ix < x.size(); ++ix) {
        const double value = all(z.first + iz, y.first + iy, x.first + ix);
        difference += squared(some(iz, iy, ix) - value), size += squared(value);
      }
  return std::sqrt(difference / size);
}

/// Planes, their rows and their columns lie alike for any part. Only slices count from the first one of a
/// slab, 16 at a time.
TEST(Hierarchical, SlabsAndTilesAreParts) {
  constexpr Index n = 40;
  for (const Index rows : {50, 1})
    for (const Index views : {90, 300}) {  // without merges of groups, and with
      const ConeBeam scan = wide_cone(n, rows, regular_angles(views, whole_turn));
      const Range all{0, n}, slices{0, rows == 1 ? 1 : n};
      const VolumeGrid grid = cube(n, slices.size());
      const Array q = filtered_ellipsoids(scan, 20);
      const Array whole = adjoint(projector(scan, grid, Model::hierarchical)) * q;
      EXPECT_EQ(difference_of_part(scan, grid, q, whole, {Range{10, n}, {3, 27}, slices}), 0);
      EXPECT_EQ(difference_of_part(scan, grid, q, whole, {Range{20, 30}, {21, 26}, slices}), 0);
      if (rows == 1) continue;
      EXPECT_EQ(difference_of_part(scan, grid, q, whole, {all, all, {16, 33}}), 0);
      EXPECT_LE(difference_of_part(scan, grid, q, whole, {all, all, {11, 24}}), tolerance::hierarchical_slab);
    }
}

/// Measured crossings, docs/kernels/hierarchical.md: by edge, and by views, of a device.
TEST(Hierarchical, IsFasterFromSomeVoxelsAndViewsOn) {
  const auto faster = [](Index n, Index views, Device device) {
    return hierarchical_is_faster(cone_case(n, views), cube(n, n), device);
  };
  const Device cpu = Device::cpu(), gpu = Device::cuda(0);  // none need be there
  EXPECT_TRUE(faster(96, 96, cpu));
  EXPECT_FALSE(faster(95, 96, cpu));
  EXPECT_FALSE(faster(96, 95, cpu));
  EXPECT_TRUE(faster(432, 432, gpu));
  EXPECT_FALSE(faster(431, 432, gpu));
  EXPECT_FALSE(faster(432, 431, gpu));
  EXPECT_TRUE(hierarchical_is_faster(cone_case(864, 864), cube(864, 864), gpu, 2));
  EXPECT_FALSE(hierarchical_is_faster(cone_case(863, 864), cube(863, 863), gpu, 2));
  ConeBeam fan = cone_case(768, 768);
  fan.detector.rows = 1, fan.midplane_row = 0;
  EXPECT_TRUE(hierarchical_is_faster(fan, cube(768, 1), cpu));
  EXPECT_FALSE(hierarchical_is_faster(fan, cube(768, 1), gpu));
  fan.sod = 400;  // a corner is too far aside
  EXPECT_FALSE(hierarchical_is_faster(fan, cube(768, 1), cpu));
}

TEST(Hierarchical, RefusesWhatItDoesNotHoldFor) {
  const auto refused = [](const ConeBeam& scan, const VolumeGrid& grid, const char* word) {
    expect_refused([&] { projector(scan, grid, Model::hierarchical); }, word);
  };
  refused(wide_cone(24, 5, {0, 1, 2}), cube(24, 3), "5 detector rows");
  refused(wide_cone(24, 1, {0, 1, 2}), cube(24, 3), "1 detector rows for 3 slices");
  ConeBeam near = cone_case(24, 9);
  near.sod = 25, near.sdd = 37.5;
  refused(near, cube(24, 24), "more than 0.6 of sod");
  expect_refused([] { projector(scan_of(5, 1, 11), grid_of(7, 7, 1), Model::hierarchical); }, "cone beams");
}

}  // namespace
}  // namespace tandem::test
