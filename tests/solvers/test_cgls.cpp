#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "../../core/error.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/random.hpp"
#include "../../operators/vector.hpp"
#include "../../solvers/cgls.hpp"
#include "../support/dense.hpp"
#include "../support/krylov.hpp"
#include "../support/poisoned_memory.hpp"
#include "../support/property.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

static_assert(IterativeSolver<Cgls>);

Array random_array(Space space, std::uint64_t seed) {
  Random random(seed);
  return uniform_array(std::move(space), random);
}

TEST(Cgls, ResidualNeverGrows) {
  EXPECT_TRUE(test::holds("|b - Ax| never grows by more than its rounding", [] {
    const Index rows = *rc::gen::inRange<Index>(1, 14), columns = *rc::gen::inRange<Index>(1, 14);
    std::srand(*rc::gen::arbitrary<unsigned>());
    const LinearOperator A = test::MatrixOperator{Eigen::MatrixXf::Random(rows, columns)};
    const Array b = random_array(A.range(), *rc::gen::arbitrary<std::uint64_t>());
    Cgls solver(A, b, random_array(A.domain(), 3));
    const double start = solver.residual_norms()[0];
    for (int i = 0; i < 20; ++i) {
      const double before = solver.residual_norms()[0];
      solver.step({true});
      RC_ASSERT(solver.residual_norms()[0] <= before + tolerance::cgls_growth * start);
    }
  }));
}

TEST(Cgls, ReadsNoMemoryThatNobodyHasSet) {
  if (!test::PoisonedMemory::works()) GTEST_SKIP() << "this allocator cannot fill what it gives";
  const LinearOperator A = projector(test::scan_of(13, 2, 17), test::grid_of(5, 7, 2));
  const Array b = random_array(A.range(), 1);
  const auto solution = [&] {
    Cgls solver(A, b, Array(A.domain()));
    solver.step({true, true});
    solver.traces();
    solver.step({true, true});
    return test::column(solver.solution());
  };
  const Eigen::VectorXd clean = solution();
  const test::PoisonedMemory poisoned;
  EXPECT_EQ(solution(), clean);
}

/// Expects that a run of `steps` from x0 ends at the least-squares solution of A x = b.
void expect_solution(const LinearOperator& A, const Array& b, Array x0, int steps) {
  Cgls solver(A, b, std::move(x0));
  run(solver, max_iterations(steps));
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(test::dense(A), Eigen::ComputeThinU | Eigen::ComputeThinV);
  const Eigen::VectorXd exact = svd.solve(test::column(b)), values = svd.singularValues();
  const double smallest = values(values.size() - 1) * values(values.size() - 1);
  EXPECT_LE((test::column(solver.solution()) - exact).norm(),
            tolerance::least_squares(values(0), test::column(b).norm(), smallest, steps));
}

TEST(Cgls, FindsTheLeastSquaresSolution) {
  const LinearOperator A = test::MatrixOperator{test::tall_matrix(19, 11, 5)};
  expect_solution(A, random_array(A.range(), 1), Array(A.domain()), 22);
}

TEST(Cgls, FindsItFromAnyStart) {
  const LinearOperator A = test::MatrixOperator{test::tall_matrix(19, 11, 5)};
  expect_solution(A, random_array(A.range(), 1), random_array(A.domain(), 2), 22);
}

TEST(Cgls, StaysThereLongAfterItHasConverged) {
  const LinearOperator A = test::MatrixOperator{test::tall_matrix(19, 11, 5)};
  expect_solution(A, random_array(A.range(), 1), Array(A.domain()), 500);
}

TEST(Cgls, TakesTheBestPointOfEachKrylovSpace) {
  const LinearOperator A = test::MatrixOperator{test::tall_matrix(19, 11, 5)};
  const Eigen::MatrixXd a = test::dense(A);
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(19, 19);
  const Eigen::VectorXd values = a.jacobiSvd().singularValues();
  const Array b = random_array(A.range(), 1), x0 = random_array(A.domain(), 2);
  Cgls solver(A, b, x0.clone());
  for (int k = 1; k <= 5; ++k) {
    solver.step({true});
    EXPECT_LE((test::column(solver.solution()) -
               test::krylov_point(a, a.transpose(), one, test::column(b), test::column(x0), k))
                  .norm(),
              tolerance::least_squares(values(0), test::column(b).norm(), std::pow(values(10), 2), k));
  }
}

TEST(Cgls, ReachesTheRegularisedSolutionByAStack) {
  const ParallelBeam scan = test::scan_of(11, 2, 17);
  const LinearOperator A = projector(scan, test::grid_of(11, 7, 2), Model::joseph);
  constexpr float lambda = 3;
  const LinearOperator stacked = vstack({A, lambda * identity(A.domain())});
  const Array y = random_array(A.range(), 7);
  Array b(stacked.range());
  axpby(1, y, 0, VectorView(b).part(0), default_stream(Device::cpu()));
  const Eigen::MatrixXd a = test::dense(A);
  const Eigen::MatrixXd damping = lambda * lambda * Eigen::MatrixXd::Identity(a.cols(), a.cols());
  const Eigen::VectorXd exact = (a.transpose() * a + damping).ldlt().solve(a.transpose() * test::column(y));
  Cgls solver(stacked, b, Array(A.domain()));
  run(solver, max_iterations(60));
  EXPECT_LE((test::column(solver.solution()) - exact).norm(),
            tolerance::least_squares(a.operatorNorm(), test::column(y).norm(), lambda * lambda, 60));
}

TEST(Cgls, StaysAtAFixedPoint) {
  const ParallelBeam scan = test::scan_of(11, 3, 17);
  const LinearOperator A = projector(scan, fitting_grid(scan));
  const Array x = random_array(A.domain(), 1), b = A * x;
  Cgls solver(A, b, x.clone());
  const Report report = run(solver, max_iterations(5));
  EXPECT_EQ(test::column(solver.solution()), test::column(x));
  EXPECT_EQ(report.residuals, std::vector<double>(6, 0.0));
}

TEST(Cgls, StaysFiniteWithoutData) {
  const ParallelBeam scan = test::scan_of(11, 3, 17);
  const LinearOperator A = projector(scan, fitting_grid(scan));
  Cgls solver(A, Array(A.range()), Array(A.domain()));
  run(solver, max_iterations(5));
  EXPECT_EQ(test::column(solver.solution()).cwiseAbs().maxCoeff(), 0);
}

TEST(Cgls, StaysBoundedLongAfterItHasConverged) {
  EXPECT_TRUE(test::holds("a solution does not run away, even along the null space", [] {
    const Index rows = *rc::gen::inRange<Index>(1, 9), columns = *rc::gen::inRange<Index>(1, 14);
    std::srand(*rc::gen::arbitrary<unsigned>());
    const LinearOperator A = test::MatrixOperator{Eigen::MatrixXf::Random(rows, columns)};
    const Array b = random_array(A.range(), *rc::gen::arbitrary<std::uint64_t>());
    Cgls solver(A, b, Array(A.domain()));
    run(solver, max_iterations(300));
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(test::dense(A), Eigen::ComputeThinU | Eigen::ComputeThinV);
    const double shortest = svd.solve(test::column(b)).norm();
    RC_ASSERT(test::column(solver.solution()).norm() <= tolerance::cgls_bounded * shortest);
  }));
}

TEST(Cgls, RefusesVectorsOfAnotherSpace) {
  const ParallelBeam scan = test::scan_of(11, 3, 17);
  const LinearOperator A = projector(scan, fitting_grid(scan));
  EXPECT_THROW(Cgls(A, Array(A.domain()), Array(A.domain())), SpaceError);
  EXPECT_THROW(Cgls(A, Array(A.range()), Array(A.range())), SpaceError);
}

}  // namespace
}  // namespace tandem
