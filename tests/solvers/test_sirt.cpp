#include <gtest/gtest.h>

#include <cmath>

#include "../../core/error.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/random.hpp"
#include "../../solvers/sirt.hpp"
#include "../../solvers/solver_kind.hpp"
#include "../support/dense.hpp"
#include "../support/operators.hpp"
#include "../support/poisoned_memory.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

static_assert(IterativeSolver<Sirt>);

Array random_array(Space space, std::uint64_t seed) {
  Random random(seed);
  return uniform_array(std::move(space), random);
}

/// 13 views of a slice of 5 x 7 pixels: more equations than unknowns.
struct SmallScan {
  ParallelBeam scan = test::scan_of(13, 2, 17);
  LinearOperator A = projector(scan, test::grid_of(5, 7, 2), Model::joseph);
};

TEST(Sirt, TakesTheStepOfItsFormula) {
  const SmallScan small;
  const Array b = random_array(small.A.range(), 1), x0 = random_array(small.A.domain(), 2);
  Sirt solver(small.A, b, x0.clone(), {.relaxation = 1.3f});
  solver.step({true, true});
  const Eigen::MatrixXd a = test::dense(small.A);
  const auto inverse = [](double v) { return v > 1e-5 ? 1 / v : 0; };
  const Eigen::VectorXd rows = a.rowwise().sum().unaryExpr(inverse);
  const Eigen::VectorXd columns = a.colwise().sum().transpose().unaryExpr(inverse);
  const Eigen::VectorXd residual = test::column(b) - a * test::column(x0);
  const Eigen::VectorXd update = columns.cwiseProduct(a.transpose() * rows.cwiseProduct(residual));
  const Eigen::VectorXd expected = test::column(x0) + static_cast<double>(1.3f) * update;
  EXPECT_LE((test::column(solver.solution()) - expected).cwiseAbs().maxCoeff(),
            tolerance::small_sum * expected.cwiseAbs().maxCoeff());
}

TEST(Sirt, IsMadeByItsName) {
  const SmallScan small;
  const Array b = random_array(small.A.range(), 1), x0 = random_array(small.A.domain(), 2);
  for (const SolverNumbers& numbers : {SolverNumbers{{"relaxation", 1.3f}}, SolverNumbers{}}) {
    AnySolver named = solver_kind("sirt").solver(
        {.A = small.A, .b = b.clone(), .x0 = x0.clone(), .bounds = above_zero, .numbers = numbers});
    Sirt solver(small.A, b, x0.clone(), {numbers.empty() ? 1.0f : 1.3f, above_zero});
    run(named, max_iterations(3)), run(solver, max_iterations(3));
    EXPECT_TRUE(test::same_bits(named.solution(), solver.solution())) << numbers.size();
  }
  EXPECT_EQ(solver_kind("Landweber").class_name, "Landweber");  // which the program does not have
  for (const char* unknown : {"", "Sirt", "nothing"})
    EXPECT_THROW(solver_kind(unknown), GeometryError) << unknown;
}

TEST(Sirt, ConvergesToTheSolutionOfConsistentData) {
  const SmallScan small;
  const Array x = random_array(small.A.domain(), 3), b = small.A * x;
  Sirt solver(small.A, b, Array(small.A.domain()), {.relaxation = 1.9f});
  const Report report = run(solver, max_iterations(3000));
  EXPECT_LE((test::column(solver.solution()) - test::column(x)).norm(),
            tolerance::sirt * test::column(x).norm());
  EXPECT_LT(report.residuals.back(), tolerance::sirt * report.residuals.front());
}

TEST(Sirt, OwnsItsData) {
  const SmallScan small;
  const Array x0(small.A.domain());
  Array b = random_array(small.A.range(), 1);
  Sirt one(small.A, b, x0.clone()), two(small.A, b.clone(), x0.clone());
  const Array kept = b.clone();
  std::fill_n(b.data(), b.size(), 0.0f);
  Sirt three(small.A, kept, x0.clone());
  for (Sirt* solver : {&one, &two, &three}) solver->step({true, true}), solver->step({true, true});
  EXPECT_EQ(test::column(one.solution()), test::column(three.solution()));
  EXPECT_EQ(test::column(two.solution()), test::column(three.solution()));
}

TEST(Sirt, ReadsNoMemoryThatNobodyHasSet) {
  if (!test::PoisonedMemory::works()) GTEST_SKIP() << "this allocator cannot fill what it gives";
  const SmallScan small;
  const Array b = random_array(small.A.range(), 1);
  const auto solution = [&] {
    Sirt solver(small.A, b, Array(small.A.domain()));
    solver.step({true, true});
    solver.traces();
    solver.step({true, true});
    return test::column(solver.solution());
  };
  const Eigen::VectorXd clean = solution();
  const test::PoisonedMemory poisoned;
  EXPECT_EQ(solution(), clean);
}

TEST(Sirt, StaysAtAFixedPoint) {
  const SmallScan small;
  const Array x = random_array(small.A.domain(), 3), b = small.A * x;
  Sirt solver(small.A, b, x.clone(), {.bounds = above_zero});
  run(solver, max_iterations(5));
  EXPECT_EQ(test::column(solver.solution()), test::column(x));
}

TEST(Sirt, IsNeverNegativeWhereAskedToBe) {
  const SmallScan small;
  Array b = random_array(small.A.range(), 5);
  for (Index i = 0; i < b.size(); i += 2) b.data()[i] -= 1;
  Array x0 = random_array(small.A.domain(), 6);
  x0.data()[3] = -1;
  Sirt bounded(small.A, b, x0.clone(), {.bounds = above_zero}), free(small.A, b, x0.clone());
  EXPECT_EQ(bounded.solution().data()[3], 0);
  bool went_below = false;
  for (int i = 0; i < 20; ++i) {
    bounded.step({true, true});
    free.step({true, true});
    EXPECT_GE(test::column(bounded.solution()).minCoeff(), 0);
    went_below = went_below || test::column(free.solution()).minCoeff() < 0;
  }
  EXPECT_TRUE(went_below);
}

TEST(Sirt, KeepsVoxelsThatNoRayMeets) {
  ParallelBeam scan = test::scan_of(3, 1, 5);
  scan.angles = {0.1, 0.2, 0.3};  // 5 bins over a slice of 31: most of it is not seen
  const LinearOperator A = projector(scan, test::grid_of(31, 31, 1));
  const Array b = random_array(A.range(), 1), x0 = random_array(A.domain(), 2);
  const Eigen::VectorXd seen = test::dense(A).colwise().sum();
  ASSERT_EQ(seen.minCoeff(), 0);
  Sirt solver(A, b, x0.clone());
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

TEST(Sirt, StaysFiniteWithoutData) {
  const SmallScan small;
  const Array b(small.A.range());
  Sirt solver(small.A, b, Array(small.A.domain()));
  run(solver, max_iterations(5));
  EXPECT_EQ(test::column(solver.solution()).cwiseAbs().maxCoeff(), 0);
}

TEST(Sirt, BearsAnUnmatchedPair) {
  const ParallelBeam scan = test::scan_of(23, 1, 31);
  const VolumeGrid grid = test::grid_of(19, 17, 1);
  const LinearOperator J = projector(scan, grid, Model::joseph), B = projector(scan, grid);
  const Array x = random_array(J.domain(), 3), b = J * x;
  Sirt solver(unmatched_pair(J, adjoint(B)), b, Array(J.domain()));
  const Report report = run(solver, max_iterations(100));
  EXPECT_LT(report.residuals.back(), 0.1 * report.residuals.front());
}

TEST(Sirt, RefusesARelaxationOutsideItsBoundsAndVectorsOfAnotherSpace) {
  const SmallScan small;
  const Array b(small.A.range());
  for (float relaxation : {0.0f, -1.0f, 2.0f, std::nanf("")})
    EXPECT_THROW(Sirt(small.A, b, Array(small.A.domain()), {.relaxation = relaxation}), GeometryError)
        << relaxation;
  EXPECT_THROW(Sirt(small.A, b, Array(small.A.range())), SpaceError);
  const Array wrong(small.A.domain());
  EXPECT_THROW(Sirt(small.A, wrong, Array(small.A.domain())), SpaceError);
}

}  // namespace
}  // namespace tandem
