#include <gtest/gtest.h>

#include <cmath>

#include "../../core/error.hpp"
#include "../../geometry/phantom.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/random.hpp"
#include "../../solvers/os_sirt.hpp"
#include "../support/cone_scans.hpp"
#include "../support/dense.hpp"
#include "../support/poisoned_memory.hpp"
#include "../support/subsets.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

static_assert(IterativeSolver<OsSirt>);

Array random_array(Space space, std::uint64_t seed) {
  Random random(seed);
  return uniform_array(std::move(space), random);
}

double inverse(double v) { return v > 1e-5 ? 1 / v : 0; }

/// A step in double, subset by subset, from the matrices of the subsets.
Eigen::VectorXd step_of_formula(const Subsets& A, const Array& sorted, Eigen::VectorXd x, double relaxation,
                                bool nonnegative) {
  Eigen::VectorXd most = Eigen::VectorXd::Zero(x.size());
  std::vector<Eigen::MatrixXd> matrices;
  for (std::size_t i = 0; i < A.count(); ++i) {
    matrices.push_back(test::dense(A[i]));
    most = most.cwiseMax(matrices[i].colwise().sum().transpose() / static_cast<double>(A.views(i)));
  }
  for (std::size_t i = 0; i < A.count(); ++i) {
    const Eigen::MatrixXd& a = matrices[i];
    const ConstVectorView part = A.part(ConstVectorView(sorted), i);
    const Eigen::VectorXd b = Eigen::Map<const Eigen::VectorXf>(part.data, part.space.size()).cast<double>();
    const Eigen::VectorXd rows = a.rowwise().sum().unaryExpr(&inverse);
    const Eigen::VectorXd columns = (static_cast<double>(A.views(i)) * most).unaryExpr(&inverse);
    x += relaxation * columns.cwiseProduct(a.transpose() * rows.cwiseProduct(b - a * x));
    if (nonnegative) x = x.cwiseMax(0);
  }
  return x;
}

template <class Beam>
void expect_formula(const Beam& scan, const VolumeGrid& grid, Index count) {
  const Subsets A = test::subsets_of(scan, grid, count);
  const Array b = random_array(projection_space(scan), 1), x0 = random_array(A.domain(), 2);
  OsSirt solver(A, b, x0.clone(), {.relaxation = 0.7f, .bounds = above_zero});
  Eigen::VectorXd exact = test::column(x0);
  for (int k = 0; k < 2; ++k) {
    solver.step(ActiveBlocks(solver.residual_norms().size(), true));
    exact = step_of_formula(A, A.ordered(b), exact, static_cast<double>(0.7f), true);
  }
  EXPECT_LE((test::column(solver.solution()) - exact).cwiseAbs().maxCoeff(),
            tolerance::solver_steps * exact.cwiseAbs().maxCoeff())
      << Beam::kind << ' ' << count;
}

TEST(OsSirt, TakesTheStepsOfItsFormulaForEachBeamAndAnyNumberOfSubsets) {
  for (const Index count : {1, 3, 4, 11}) {  // subsets of 11 views, of 3 and 4, of 2 and 3, of one
    expect_formula(test::scan_of(11, 2, 17), test::grid_of(5, 7, 2), count);
    expect_formula(test::far_cone(11, 3, 13), test::box(5, 7, 3, 0.9), count);
    expect_formula(FanBeam{test::far_cone(11, 1, 13)}, test::box(5, 7, 1, 0.9), count);
  }
}

/// With the signs by which the solver estimates it.
TEST(OsSirt, TellsTheTraceOfItsSubsets) {
  const ParallelBeam scan = test::scan_of(11, 1, 17);
  const Subsets A = test::subsets_of(scan, test::grid_of(5, 7, 1), 4);
  OsSirt solver(A, random_array(projection_space(scan), 1), Array(A.domain()));
  EXPECT_EQ(solver.falls()[0], INFINITY);
  Array signs(A.range());
  fill_with_signs(signs, 1, default_stream(Device::cpu()));
  Eigen::VectorXd most = Eigen::VectorXd::Zero(35);
  for (std::size_t i = 0; i < A.count(); ++i)
    most = most.cwiseMax(test::dense(A[i]).colwise().sum().transpose() / static_cast<double>(A.views(i)));
  double exact = 0;
  for (std::size_t i = 0; i < A.count(); ++i) {
    const Eigen::MatrixXd a = test::dense(A[i]);
    const ConstVectorView part = A.part(ConstVectorView(signs), i);
    const Eigen::VectorXd w = Eigen::Map<const Eigen::VectorXf>(part.data, part.space.size()).cast<double>();
    const Eigen::VectorXd rows = a.rowwise().sum().unaryExpr(&inverse),
                          columns = (static_cast<double>(A.views(i)) * most).unaryExpr(&inverse);
    exact += w.dot(a * columns.cwiseProduct(a.transpose() * rows.cwiseProduct(w)));
  }
  EXPECT_NEAR(solver.traces()[0], exact, tolerance::solver_steps * exact);
  const double before = solver.residual_norms()[0];
  solver.step({true});
  const double fall = before * before - std::pow(solver.residual_norms()[0], 2);
  EXPECT_NEAR(solver.falls()[0], fall, tolerance::small_sum * before * before);
}

TEST(OsSirt, IsSirtWithOneSubset) {
  const ParallelBeam scan = test::scan_of(13, 2, 17);
  const VolumeGrid grid = test::grid_of(5, 7, 2);
  const LinearOperator A = projector(scan, grid);
  const Array b = random_array(A.range(), 1);
  OsSirt one(test::subsets_of(scan, grid, 1), b, Array(A.domain()));
  Sirt sirt(A, b, Array(A.domain()));
  for (int k = 0; k < 4; ++k) {
    one.step({true, true});
    sirt.step({true, true});
  }
  const Eigen::VectorXd x = test::column(sirt.solution());
  EXPECT_LE((test::column(one.solution()) - x).norm(), tolerance::solver_steps * x.norm());
  EXPECT_NEAR(one.residual_norms()[1], sirt.residual_norms()[1],
              tolerance::solver_steps * sirt.residual_norms()[1]);
}

/// A phantom of 64 x 64 pixels in 90 views.
struct Seen {
  ParallelBeam scan;
  VolumeGrid grid;
  Array b;
};

Seen phantom_seen(Index views) {
  ParallelBeam scan{.detector = {.bins = 64, .axis_bin = 31.5}, .angles = test::regular_angles(views)};
  const VolumeGrid grid = fitting_grid(scan);
  const Phantom phantom = scaled(shepp_logan(), half_width(grid), 0.02);
  Array b(projection_space(scan));
  project(phantom, scan, {0, 1}, {b.data(), static_cast<std::size_t>(b.size())});
  return {scan, grid, std::move(b)};
}

TEST(OsSirt, ReachesTheResidualOf100StepsOfSirtIn15) {
  for (const auto& [views, count] : {std::pair<Index, Index>{90, 10}, {97, 10}, {90, 16}}) {
    const auto [scan, grid, b] = phantom_seen(views);
    const LinearOperator A = projector(scan, grid);
    Sirt sirt(A, b, Array(A.domain()));
    run(sirt, max_iterations(100));
    OsSirt subsets(test::subsets_of(scan, grid, count), b, Array(A.domain()));
    run(subsets, max_iterations(15));
    EXPECT_LE(subsets.residual_norms()[0], sirt.residual_norms()[0]) << views << ' ' << count;
  }
}

TEST(OsSirt, ConvergesToTheSolutionOfConsistentDataWithOneViewASubset) {
  const ParallelBeam scan = test::scan_of(13, 2, 17);
  const Subsets A = test::subsets_of(scan, test::grid_of(5, 7, 2), 13);
  const Array x = random_array(A.domain(), 3), b = projector(scan, test::grid_of(5, 7, 2)) * x;
  OsSirt solver(A, b, Array(A.domain()));
  const Report report = run(solver, max_iterations(3000));
  EXPECT_LE((test::column(solver.solution()) - test::column(x)).norm(),
            tolerance::sirt * test::column(x).norm());
  EXPECT_LT(report.residuals.back(), tolerance::sirt * report.residuals.front());
}

TEST(OsSirt, ResidualIsThatOfItsSolution) {
  const ParallelBeam scan = test::scan_of(11, 3, 17);
  const VolumeGrid grid = test::grid_of(5, 7, 3);
  const LinearOperator A = projector(scan, grid);
  const Array b = random_array(A.range(), 1);
  OsSirt solver(test::subsets_of(scan, grid, 4), b, Array(A.domain()));
  solver.step({true, true, true});
  const Eigen::VectorXd r = test::column(b) - test::column(A * solver.solution());
  EXPECT_NEAR(joint_norm(solver.residual_norms()), r.norm(), tolerance::solver_steps * r.norm());
}

TEST(OsSirt, LeavesAStoppedSliceAlone) {
  const ParallelBeam scan = test::scan_of(11, 2, 17);
  const Subsets A = test::subsets_of(scan, test::grid_of(5, 7, 2), 4);
  const Array b = random_array(projection_space(scan), 1), x0 = random_array(A.domain(), 2);
  OsSirt one(A, b, x0.clone()), both(A, b, x0.clone());
  for (int k = 0; k < 3; ++k) {
    one.step({false, true});
    both.step({true, true});
  }
  for (Index i = 0; i < 35; ++i) {
    EXPECT_EQ(one.solution().data()[i], x0.data()[i]);
    EXPECT_EQ(one.solution().data()[35 + i], both.solution().data()[35 + i]);
  }
}

TEST(OsSirt, KeepsVoxelsThatNoRayMeets) {
  ParallelBeam scan = test::scan_of(3, 1, 5);
  scan.angles = {0.1, 0.2, 0.3};  // 5 bins over a slice of 31: most of it is not seen
  const VolumeGrid grid = test::grid_of(31, 31, 1);
  const LinearOperator A = projector(scan, grid);
  const Array b = random_array(A.range(), 1), x0 = random_array(A.domain(), 2);
  const Eigen::VectorXd seen = test::dense(A).colwise().sum();
  ASSERT_EQ(seen.minCoeff(), 0);
  for (const Index count : {2, 3}) {
    OsSirt solver(test::subsets_of(scan, grid, count), b, x0.clone());
    run(solver, max_iterations(10));
    Index moved = 0;
    for (Index i = 0; i < x0.size(); ++i) {
      const bool same = solver.solution().data()[i] == x0.data()[i];
      EXPECT_TRUE(same || seen[i] > 0) << i;
      moved += !same;
    }
    EXPECT_GT(moved, 0);
    EXPECT_TRUE(test::column(solver.solution()).allFinite());
  }
}

TEST(OsSirt, ReadsNoMemoryThatNobodyHasSet) {
  if (!test::PoisonedMemory::works()) GTEST_SKIP() << "this allocator cannot fill what it gives";
  const ParallelBeam scan = test::scan_of(13, 2, 17);
  const Subsets A = test::subsets_of(scan, test::grid_of(5, 7, 2), 4);
  const Array b = random_array(projection_space(scan), 1);
  const auto solution = [&] {
    OsSirt solver(A, b, Array(A.domain()));
    solver.step({true, true});
    return test::column(solver.solution());
  };
  const Eigen::VectorXd clean = solution();
  const test::PoisonedMemory poisoned;
  EXPECT_EQ(solution(), clean);
}

TEST(OsSirt, RefusesARelaxationOutsideItsBoundsAndDataOfAnotherScan) {
  const ParallelBeam scan = test::scan_of(13, 2, 17);
  const Subsets A = test::subsets_of(scan, test::grid_of(5, 7, 2), 4);
  const Array b(projection_space(scan));
  for (float relaxation : {0.0f, -1.0f, 2.0f, std::nanf("")})
    EXPECT_THROW(OsSirt(A, b, Array(A.domain()), {.relaxation = relaxation}), GeometryError) << relaxation;
  EXPECT_THROW(OsSirt(A, b, Array(A.range())), SpaceError);
  EXPECT_THROW(OsSirt(A, Array(A.domain()), Array(A.domain())), SpaceError);
}

}  // namespace
}  // namespace tandem
