// The pair for any geometry: its coefficients against exact mean chords, and against each other.

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <numbers>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../geometry/phantom.hpp"
#include "../../operators/adjointness.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/random.hpp"
#include "../support/cone_scans.hpp"
#include "../support/dense.hpp"
#include "../support/flexible_scans.hpp"
#include "../support/operators.hpp"
#include "../support/tolerances.hpp"

namespace tandem::test {
namespace {

constexpr double degree = std::numbers::pi / 180;

struct Errors {
  double relative, mass;  ///< L2 over that of the exact; 1 - the sum over the exact sum
};

/// The errors of the coefficients of one voxel of 1 mm, in 12 views.
Errors errors_of(const FlexibleBeam& scan, const Vector3& centre) {
  constexpr int samples = 4000;
  const VolumeGrid voxel{{1, 1, 1}, {1, 1, 1}, centre};
  const LinearOperator A = projector(scan, voxel);
  Array one(A.domain());
  one.data()[0] = 1;
  const Array shadow = A * one;
  const Image<const float> at = image(ConstVectorView(shadow));
  double difference = 0, size = 0, mass = 0, exact_mass = 0;
  for (Index v = 0; v < at.n0; ++v) {
    const auto [row, bin] = shadow_of(scan, v, centre);
    const auto row0 = static_cast<Index>(std::lround(row)), bin0 = static_cast<Index>(std::lround(bin));
    for (Index r = row0 - 4; r <= row0 + 4; ++r)
      for (Index b = bin0 - 4; b <= bin0 + 4; ++b) {
        const double exact = mean_chord(scan, v, r, b, voxel, samples);
        difference += std::pow(at(v, r, b) - exact, 2), size += exact * exact;
        mass += at(v, r, b), exact_mass += exact;
      }
  }
  return {std::sqrt(difference / size), 1 - mass / exact_mass};
}

/// The scan with the pair for any geometry, even if all views are upright.
FlexibleBeam as_leaning(FlexibleBeam scan) {
  scan.leaning = true;
  return scan;
}

/// Views of a cell as large as the shadow of a voxel at the origin.
FlexibleBeam table_views(const Stand& stand, bool parallel = false) {
  return as_leaning(standing(12, 701, 701, 541, 949, stand, parallel, parallel ? 1 : 949.0 / 541));
}

/// Relative errors that an independent program computed for this footprint. Its cells were sampled, which
/// adds to what it says.
TEST(FlexibleProjector, ErrorsAreThoseOfTheFootprint) {
  constexpr double sampling = 1e-3;  // error of 4000 rays a cell, where chords jump
  struct Row {
    const char* name;
    Stand stand;
    bool parallel;
    Vector3 centre;
    double expected;
  };
  for (const Row& row : {Row{"circle, middle", {}, false, {0.3, -0.2, 0.1}, 6e-3},
                         Row{"circle, aside", {}, false, {100, 150, 100}, 1.8e-2},
                         Row{"roll 2", {0, 2 * degree, 0}, false, {0.3, -0.2, 0.1}, 3.5e-3},
                         Row{"roll 10", {0, 10 * degree, 0}, false, {0.3, -0.2, 0.1}, 1.7e-2},
                         Row{"roll 45", {0, 45 * degree, 0}, false, {0.3, -0.2, 0.1}, 4.1e-2},
                         Row{"pitch 5", {0, 0, 5 * degree}, false, {0.3, -0.2, 0.1}, 2.5e-3},
                         Row{"laminography 30", {30 * degree, 0, 0}, true, {0, 0, 0}, 7e-3},
                         Row{"laminography 45", {45 * degree, 0, 0}, true, {0, 0, 0}, 1.2e-2},
                         Row{"laminography 60", {60 * degree, 0, 0}, true, {0, 0, 0}, 2.2e-2},
                         Row{"laminography 45, cone", {45 * degree, 0, 0}, false, {0, 0, 0}, 1.8e-2}}) {
    const Errors found = errors_of(table_views(row.stand, row.parallel), row.centre);
    EXPECT_LE(found.relative, 1.2 * row.expected + sampling) << row.name;
    EXPECT_NEAR(found.mass, 0, 1e-3) << row.name;
  }
}

TEST(FlexibleProjector, EntriesAreTheSameBothWays) {
  Random random(5);
  for (const bool parallel : {false, true})
    for (const double pitch : {0.3, 1.0, 4.0}) {
      const LinearOperator A = projector(random_views(3, 9, 11, 9 * pitch, random, parallel),
                                         {{9, 8, 10}, {pitch, pitch, 1.1 * pitch}, {0.3, -0.2, 0.1}});
      const Eigen::MatrixXd forward = dense(A), back = dense(adjoint(A)).transpose();
      EXPECT_GT(forward.maxCoeff(), 0);
      EXPECT_LE((forward - back).cwiseAbs().maxCoeff(), tolerance::entries * forward.maxCoeff());
    }
}

TEST(FlexibleProjector, BitsDoNotDependOnThreads) {
  Random random(7);
  const LinearOperator A = projector(random_views(5, 13, 17, 9, random, false), {{9, 18, 11}, {1, 1, 1}, {}});
  const Array x = random_array(A.domain(), 1), y = A * x, z = adjoint(A) * y;
  const ThreadLimit one(1);
  EXPECT_TRUE(same_bits(y, A * x));
  EXPECT_TRUE(same_bits(z, adjoint(A) * y));
}

/// A blob of 1.5 voxels.
Array blob(const VolumeGrid& grid, const Vector3& centre) {
  Array x(cone_volume_space(grid));
  const Index nx = grid.size[0], ny = grid.size[1];
  for (Index i = 0; i < x.size(); ++i) {
    const Vector3 from =
        Vector3{grid.x(static_cast<double>(i % nx)), grid.y(static_cast<double>(i / nx % ny)),
                grid.z(static_cast<double>(i / nx / ny))} -
        centre;
    x.data()[i] =
        static_cast<float>(std::exp(-dot(from, from) / (2 * 1.5 * 1.5 * grid.pitch[0] * grid.pitch[0])));
  }
  return x;
}

TEST(FlexibleProjector, ACircleIsThatOfTheConeBeam) {
  ConeBeam scan{{67, 61, 1.7, 1.6, 33.4}, regular_angles(20, whole_turn), 541, 949, 29.3};
  const VolumeGrid grid = box(30, 30, 30, 1);
  const Array x = blob(grid, {3, -4, 5});
  EXPECT_LE(relative_error(projector(as_leaning(as_flexible(scan)), grid) * x, projector(scan, grid) * x),
            1e-3);
}

/// The volume with its axes in another order, or one of them turned round.
TEST(FlexibleProjector, TurnsWithTheScanner) {
  Random random(8);
  const FlexibleBeam scan = random_views(7, 19, 23, 20, random, false);
  const VolumeGrid grid{{16, 16, 16}, {1, 1, 1}, {}};  // two bricks
  const Array x = random_array(cone_volume_space(grid), 3), y = projector(scan, grid) * x;
  for (std::size_t about = 0; about < 3; ++about) {  // by 90 degrees
    const std::size_t a = (about + 1) % 3, b = (about + 2) % 3;
    const auto turn = [&](const Vector3& p) {
      Vector3 q = p;
      q[a] = -p[b], q[b] = p[a];
      return q;
    };
    FlexibleBeam other = scan;
    for (FlexibleView& view : other.views)
      for (Vector3* each : {&view.source, &view.detector, &view.bin_step, &view.row_step})
        *each = turn(*each);
    Array moved(x.space());
    for (Index i = 0; i < x.size(); ++i) {
      const Vector3 at{static_cast<double>(i % 16) - 7.5, static_cast<double>(i / 16 % 16) - 7.5,
                       static_cast<double>(i / 256) - 7.5};
      const Vector3 to = turn(at);
      const auto index = [](double p) { return static_cast<Index>(std::lround(p + 7.5)); };
      moved.data()[(index(to[2]) * 16 + index(to[1])) * 16 + index(to[0])] = x.data()[i];
    }
    EXPECT_LE(relative_error(projector(other, grid) * moved, y), 1e-6) << about;
  }
}

/// Views of n x n cells, as large as the shadows of the voxels of n^3 in a cube of 40 mm.
FlexibleBeam oblique(Index n, bool parallel) {
  return standing(5, n, n, 90, 160, {35 * degree, 20 * degree, 4 * degree}, parallel,
                  (parallel ? 1.1 : 2.0) * 40 / static_cast<double>(n));
}

VolumeGrid cube(Index n) {
  const double pitch = 40.0 / static_cast<double>(n);
  return {{n, n, n}, {pitch, pitch, pitch}, {}};
}

/// The integral of exp(-|x - c|^2 / 2 s^2) along a line is sqrt(2 pi) s exp(-d^2 / 2 s^2), where d is the
/// distance of the line from c. Errors fall as the square of the pitch.
TEST(FlexibleProjector, ProjectsWhatIsSmooth) {
  const Vector3 centre{2, -3, 1.5};
  constexpr double width = 4;
  for (const bool parallel : {false, true}) {
    std::vector<double> errors;
    for (const Index n : {16, 32, 64}) {
      const FlexibleBeam scan = oblique(n, parallel);
      Array exact(projection_space(scan));
      for (Index i = 0; i < exact.size(); ++i) {
        const Index view = i / n / n;
        const FlexibleView& at = scan.views[static_cast<std::size_t>(view)];
        const auto integral = [&](double row, double bin) {
          const Vector3 place = place_of(scan, view, row, bin),
                        way = parallel ? at.source : place - at.source;
          const double d = length(cross(place - centre, way)) / length(way);
          return std::sqrt(2 * std::numbers::pi) * width * std::exp(-d * d / (2 * width * width));
        };
        double sum = 0;
        for (int k = 0; k < 16; ++k)
          sum += integral(static_cast<double>(i / n % n) + (k / 4 - 1.5) / 4,
                          static_cast<double>(i % n) + (k % 4 - 1.5) / 4);
        exact.data()[i] = static_cast<float>(sum / 16);
      }
      const Array x = means_of(cube(n), [&](const Vector3& p) {
        const Vector3 from = p - centre;
        return std::exp(-dot(from, from) / (2 * width * width));
      });
      errors.push_back(relative_error(projector(scan, cube(n)) * x, exact));
    }
    EXPECT_LE(errors[1], errors[0] / 3.5);
    EXPECT_LE(errors[2], errors[1] / 3.5) << errors[0] << " " << errors[1] << " " << errors[2];
  }
}

/// At sharp edges errors fall as the pitch.
TEST(FlexibleProjector, ProjectsEllipsoids) {
  const Phantom body{{{1, {14, 12, 13}, {1, -1, 0.5}, 0.3}, {0.5, {5, 6, 4}, {6, 3, -2}, 0}}};
  for (const bool parallel : {false, true})
    for (const auto& [n, bound] : {std::pair<Index, double>{24, 3.1e-2}, {48, 1.55e-2}}) {
      const FlexibleBeam scan = oblique(n, parallel);
      Array exact(projection_space(scan));
      project(body, scan, {0, n}, {exact.data(), static_cast<std::size_t>(exact.size())}, 4);
      const Array x = means_of(cube(n), [&](const Vector3& p) { return value_at(body, p[0], p[1], p[2]); });
      EXPECT_LE(relative_error(projector(scan, cube(n)) * x, exact), bound) << n;
    }
}

TEST(FlexibleProjector, RefusesWhatMakesNoSense) {
  const VolumeGrid grid{{9, 8, 11}, {1, 1, 1}, {}};
  const auto fails = [&](auto&& change, const char* word) {
    FlexibleBeam scan = standing(3, 5, 7, 40, 75, {});
    change(scan);
    expect_refused([&] { projector(scan, grid); }, word);
  };
  fails([](FlexibleBeam& s) { s.views.clear(); }, "no views");
  fails([](FlexibleBeam& s) { s.views[2].source[1] = NAN; }, "view 2: source is not finite");
  fails([](FlexibleBeam& s) { s.views[1].row_step = {}; }, "view 1: bin_step or row_step has no length");
  fails([](FlexibleBeam& s) { s.views[1].row_step = 2 * s.views[1].bin_step; }, "along one line");
  fails([](FlexibleBeam& s) { s.views[1].row_step = 2 * s.views[1].bin_step + 0.1 * s.views[1].row_step; },
        "view 1: bin_step and row_step are along one line, or nearly so, at ");
  fails([](FlexibleBeam& s) { s.views[0].source = s.views[0].detector + s.views[0].bin_step; },
        "in the plane of the detector");
  fails(
      [](FlexibleBeam& s) {
        const Vector3 ray = s.views[2].source - s.views[2].detector;
        s.views[2].source = s.views[2].detector + 50.0 * s.views[2].bin_step + 0.05 * ray;
      },
      "view 2: the source lies in the plane of the detector, or nearly so, at ");
  fails([](FlexibleBeam& s) { s.views[2].source = 0.2 * s.views[2].source; }, "view 2: the grid reaches to");
  EXPECT_THROW(projector(standing(3, 5, 7, 40, 75, {}), grid, Model::joseph), GeometryError);
}

}  // namespace
}  // namespace tandem::test
