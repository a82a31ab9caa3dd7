// The cone-beam pair: its coefficients against exact mean chords, and against each other.

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <numbers>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../geometry/phantom.hpp"
#include "../../operators/adjointness.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/fbp.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/random.hpp"
#include "../support/cone_scans.hpp"
#include "../support/dense.hpp"
#include "../support/mean_chord.hpp"
#include "../support/operators.hpp"
#include "../support/tolerances.hpp"

namespace tandem::test {
namespace {

constexpr Model models[] = {Model::separable_footprint, Model::joseph, Model::pixel_driven};

/// Cells of 1 mm, their centres at whole mm, a view every 15 degrees.
ConeBeam table_scan() {
  ConeBeam scan{{801, 681, 1, 1, 400}, regular_angles(24, 2 * std::numbers::pi), 541, 949, 340};
  return scan;
}

struct Row {
  std::array<double, 3> centre;  ///< centre of the voxel, mm; that program has y the other way round
  double largest, relative;      ///< errors of SF-TR with A2: maximum in mm, and relative L2
};

/// The expected errors are those that an independent program computed for a flat detector. Its relative
/// errors are against sampled chords, which adds to them.
TEST(ConeProjector, ErrorsAreThoseOfTheFootprint) {
  const ConeBeam scan = table_scan();
  for (const Row& expected : {Row{{0, 0, 0}, 9.8e-5, 1.2e-4}, Row{{100, -150, 15}, 8.5e-3, 4.4e-3},
                              Row{{93, -93, 93}, 4.93e-2, 2.5e-2}, Row{{100, -150, 100}, 0.127, 4.6e-2},
                              Row{{0, 0, 100}, 3.35e-2, 2.9e-2}}) {
    const VolumeGrid voxel{{1, 1, 1}, {1, 1, 1}, expected.centre};
    const LinearOperator A = projector(scan, voxel);
    Array one(A.domain());
    one.data()[0] = 1;
    const Array shadow = A * one;
    const Image<const float> at = image(ConstVectorView(shadow));
    double largest = 0, difference = 0, size = 0, mass = 0, exact_mass = 0;
    for (Index v = 0; v < at.n0; ++v) {
      const double a = scan.angles[static_cast<std::size_t>(v)], c = std::cos(a), s = std::sin(a);
      const double d = scan.sod - expected.centre[0] * s + expected.centre[1] * c;
      const auto bin0 = static_cast<Index>(std::lround(
          scan.detector.axis_bin + scan.sdd * (expected.centre[0] * c + expected.centre[1] * s) / d));
      const auto row0 =
          static_cast<Index>(std::lround(scan.midplane_row + scan.sdd * expected.centre[2] / d));
      for (Index row = row0 - 6; row <= row0 + 6; ++row)
        for (Index bin = bin0 - 6; bin <= bin0 + 6; ++bin) {
          const double exact = mean_chord(scan, a, voxel, static_cast<double>(row), static_cast<double>(bin));
          const double error = at(v, row, bin) - exact;
          largest = std::max(largest, std::abs(error));
          difference += error * error, size += exact * exact;
          mass += at(v, row, bin), exact_mass += exact;
        }
    }
    EXPECT_NEAR(largest, expected.largest, 0.1 * expected.largest) << "z " << expected.centre[2];
    EXPECT_LE(std::sqrt(difference / size), 1.1 * expected.relative) << "z " << expected.centre[2];
    EXPECT_NEAR(mass / exact_mass, 1, tolerance::footprint_mass) << "z " << expected.centre[2];
    double all = 0;
    for (Index i = 0; i < shadow.size(); ++i) all += shadow.data()[i];
    EXPECT_NEAR(all / mass, 1, 1e-6) << "something lies outside the shadow";
  }
}

/// Voxels from a quarter of a cell to eight of them, few rows and many, a fan beam, a single view, a detector
/// that cuts the body.
TEST(ConeProjector, EntriesAreTheSameBothWays) {
  const auto check = [](const ConeBeam& scan, const VolumeGrid& grid) {
    const LinearOperator A = projector(scan, grid);
    const Eigen::MatrixXd forward = dense(A), back = dense(adjoint(A)).transpose();
    EXPECT_GT(forward.maxCoeff(), 0);
    EXPECT_LE((forward - back).cwiseAbs().maxCoeff(), tolerance::entries * forward.maxCoeff());
    EXPECT_TRUE(((forward.array() == 0) == (back.array() == 0)).all()) << "support";
  };
  for (const Index rows : {7, 17})
    for (const double pitch : {0.25, 1.0, 3.0})
      check(odd_cone(3, rows, 11), {{8, 9, 5}, {pitch, pitch, 0.8 * pitch}, {0.3, -0.2, 0.1}});
  check(odd_cone(5, 1, 13), {{7, 6, 1}, {1, 1, 1}, {}});
  check(odd_cone(9, 1, 43), {{19, 18, 1}, {1, 1, 40}, {}});  // more columns than are seen together
  check(odd_cone(1, 5, 5), {{8, 9, 5}, {1, 1, 1}, {}});
}

TEST(ConeProjector, PairsMatch) {
  const ConeBeam scan = odd_cone(29, 31, 47);
  for (const Model model : models)
    for (const double pitch : {0.4, 0.7, 1.5}) {
      const Adjointness a = adjointness(projector(scan, {{23, 19, 21}, {pitch, pitch, pitch}, {}}, model));
      EXPECT_LE(a.mismatch, tolerance::mismatch);
      EXPECT_NEAR(a.coupling, 1, tolerance::coupling);
    }
}

TEST(ConeProjector, BitsDoNotDependOnThreads) {
  for (const Model model : models)
    for (const Index rows : {1, 13, 17}) {
      const LinearOperator A = projector(odd_cone(19, rows, 17), {{9, 18, 11}, {1, 1, 1}, {}}, model);
      Random random(1);
      const Array x = drawn_array(A.domain(), [&] { return static_cast<float>(random.uniform()); });
      const Array y = A * x, z = adjoint(A) * y;
      const ThreadLimit one(1);
      const Array y1 = A * x, z1 = adjoint(A) * y;
      EXPECT_TRUE(std::equal(y.data(), y.data() + y.size(), y1.data()));
      EXPECT_TRUE(std::equal(z.data(), z.data() + z.size(), z1.data()));
    }
}

TEST(ConeProjector, RefusesWhatMakesNoSense) {
  const VolumeGrid grid{{9, 8, 11}, {1, 1, 1}, {}};
  const auto fails = [&](auto&& change, const char* word) {
    ConeBeam scan = odd_cone(3, 5, 7);
    change(scan);
    expect_refused([&] { projector(scan, grid); }, word);
  };
  fails([](ConeBeam& s) { s.sdd = s.sod; }, "sdd");
  fails([](ConeBeam& s) { s.sod = 0; }, "sod");
  fails([](ConeBeam& s) { s.sod = NAN; }, "sod");
  fails([](ConeBeam& s) { s.sod = 6; }, "source would pass through");
  fails([](ConeBeam& s) { s.detector.row_pitch = -1; }, "row_pitch");
  fails([](ConeBeam& s) { s.midplane_row = NAN; }, "midplane_row");
  fails([](ConeBeam& s) { s.angles.clear(); }, "views");
}

/// Two ellipsoids in the unit half-cube, magnification 2, 60 views: the projection of their voxel averages
/// against their exact integrals.
TEST(ConeProjector, ProjectsEllipsoids) {
  const Phantom body{{{1, {0.7, 0.6, 0.6}, {}, 0}, {0.5, {0.2, 0.2, 0.2}, {0.3, 0.1, 0.1}, 0}}};
  for (const auto& [n, bound] : {std::pair<Index, double>{64, 1.1e-2}, {128, 6e-3}}) {
    const double size = static_cast<double>(n);
    const Index bins = 3 * n / 2, rows = 9 * n / 8;
    const ConeBeam scan{{bins, rows, 2, 2, 0.5 * static_cast<double>(bins - 1)},
                        regular_angles(60, whole_turn),
                        2400 * size / 1024,
                        4800 * size / 1024,
                        0.5 * static_cast<double>(rows - 1)};
    const VolumeGrid grid = grid_of(n, n, n);
    const Phantom there = scaled(body, size / 2, 1);
    Array x(cone_volume_space(grid)), exact(projection_space(scan));
    parallel_for(n, [&](Index iz) {
      for (Index i = iz * n * n; i < (iz + 1) * n * n; ++i) {
        double sum = 0;
        for (int k = 0; k < 27; ++k) {
          const auto third = [](int j) { return (j % 3 - 1) / 3.0; };
          sum += value_at(there, grid.x(static_cast<double>(i % n) + third(k)),
                          grid.y(static_cast<double>(i / n % n) + third(k / 3)),
                          grid.z(static_cast<double>(iz) + third(k / 9)));
        }
        x.data()[i] = static_cast<float>(sum / 27);
      }
    });
    project(there, scan, {0, rows}, {exact.data(), static_cast<std::size_t>(exact.size())}, 3);
    const Eigen::VectorXd truth = column(exact);
    for (const Model model : {Model::separable_footprint, Model::joseph}) {
      const Eigen::VectorXd seen = column(projector(scan, grid, model) * x);
      EXPECT_LE((seen - truth).norm() / truth.norm(), bound)
          << n << (model == Model::joseph ? ", Joseph" : "");
    }
  }
}

/// A ball's means by FDK, over its attenuation: inside, and well outside.
struct Means {
  double inside, outside;
};
Means fdk_of_a_ball(const ConeBeam& scan, Model model) {
  const Phantom ball{{{0.02, {9, 9, 9}, {3, -2, 1}, 0}}};
  Array y(projection_space(scan));
  project(ball, scan, {0, scan.detector.rows}, {y.data(), static_cast<std::size_t>(y.size())}, 3);
  const VolumeGrid grid = {{40, 40, 30}, {0.8, 0.8, 0.8}, {1, -1, 0.5}};
  const Array x = fdk(scan, grid, {}, model) * y;
  const Image<const float> at = image(ConstVectorView(x));
  Means sum{0, 0};
  Index inside = 0, outside = 0;
  for (Index iz = 0; iz < at.n0; ++iz)
    for (Index iy = 0; iy < at.n1; ++iy)
      for (Index ix = 0; ix < at.n2; ++ix) {
        const double r = std::hypot(grid.x(static_cast<double>(ix)) - 3, grid.y(static_cast<double>(iy)) + 2,
                                    grid.z(static_cast<double>(iz)) - 1);
        if (r < 6) sum.inside += at(iz, iy, ix), ++inside;
        if (r > 12) sum.outside += at(iz, iy, ix), ++outside;
      }
  return {sum.inside / static_cast<double>(inside) / 0.02, sum.outside / static_cast<double>(outside) / 0.02};
}

void expect_plateau(const ConeBeam& scan, const std::string& name, Model model = Model::separable_footprint) {
  const Means means = fdk_of_a_ball(scan, model);
  EXPECT_NEAR(means.inside, 1, tolerance::fdk_plateau) << name;
  EXPECT_NEAR(means.outside, 0, tolerance::fdk_plateau) << name;
}

ConeBeam scan_of_a_ball(double cell, double arc, Index views) {
  const auto bins = static_cast<Index>(100 / cell), rows = static_cast<Index>(70 / cell);
  return {{bins, rows, cell, 1.1 * cell, 0.5 * static_cast<double>(bins - 1) + 2.3},
          regular_angles(views, arc),
          200,
          350,
          0.5 * static_cast<double>(rows - 1) - 1.2};
}

/// A ball of attenuation mu reads mu, wherever the principal point and however large the cells.
TEST(ConeFbp, ABallReadsItsAttenuation) {
  for (const Model model : models)
    for (const double cell : {0.8, 1.6})
      expect_plateau(scan_of_a_ball(cell, whole_turn, 180), "cells of " + std::to_string(cell), model);
}

TEST(ConeFbp, ADetectorToOneSideIsWeighted) {
  for (const double beyond : {45.0, -45.0}) {  // so that most of the ball is seen from one side alone
    ConeBeam scan = scan_of_a_ball(0.8, whole_turn, 360);
    scan.detector.axis_bin += beyond;
    expect_plateau(scan, "axis moved by " + std::to_string(beyond));
  }
}

TEST(ConeFbp, IsALinearMapWithItsTranspose) {
  for (const double beyond : {0.0, 45.0}) {
    ConeBeam scan = scan_of_a_ball(3, whole_turn, 20);
    scan.detector.axis_bin += beyond / 4;
    const Adjointness a = adjointness(fdk(scan, {{10, 9, 8}, {3, 3, 3}, {}}));
    EXPECT_LE(a.mismatch, tolerance::composed_mismatch);
  }
}

TEST(ConeFbp, AnArcIsWeighted) {
  for (const double start : {0.0, 1.0, -2.5}) {
    ConeBeam scan = scan_of_a_ball(0.8, 3.6, 200);
    for (double& a : scan.angles) a += start;
    ASSERT_EQ(missing_arc(scan), 0);
    expect_plateau(scan, "arc from " + std::to_string(start));
    std::reverse(scan.angles.begin(), scan.angles.end());
    expect_plateau(scan, "backwards from " + std::to_string(start));
  }
  EXPECT_NEAR(missing_arc(scan_of_a_ball(0.8, half_turn, 200)), 0.3, 0.1);
}

/// One row and one slice too, which a fan beam would be: tiles rely on it. The block has few rows, and the
/// whole has many, which are computed in another way.
TEST(ConeProjector, OfRowsAndSlicesCutOutIsTheirBlock) {
  constexpr Index n = 19;
  const ConeBeam scan = odd_cone(7, n, 23);
  const VolumeGrid grid = {{11, 12, n}, {0.8, 0.8, 0.7}, {0.3, -0.2, 0.1}};
  for (const Range slices : {Range{9, 10}, Range{8, 11}, Range{3, 17}}) {
    const Range rows = slices;
    const VolumeGrid slab = region(grid, {0, 11}, {0, 12}, slices);
    const LinearOperator A = projector(scan, grid), block = projector(crop(scan, {0, 7}, rows), slab);
    const Array part = random_array(block.domain(), 3);
    Array whole(A.domain());
    std::copy_n(part.data(), part.size(), whole.data() + slices.first * 11 * 12);
    const Array seen = A * whole;
    Array expected(block.range());
    for (Index v = 0; v < 7; ++v)
      std::copy_n(seen.data() + (v * n + rows.first) * 23, rows.size() * 23,
                  expected.data() + v * rows.size() * 23);
    EXPECT_LE(relative_error(block * part, expected), tolerance::tiles);
  }
}

TEST(ConeProjector, FittingGridSeesCellsAsTheyAreAtTheAxis) {
  const ConeBeam scan{{64, 48, 2, 3, 31.5}, {0}, 100, 200, 23.5};
  const VolumeGrid grid = fitting_grid(scan);
  EXPECT_EQ(grid.shape(), (Shape{48, 64, 64}));
  EXPECT_EQ(grid.pitch, (std::array<double, 3>{1, 1, 1.5}));
}

}  // namespace
}  // namespace tandem::test
