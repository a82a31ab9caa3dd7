#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "../support/dense.hpp"
#include "../support/property.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"
#include "tandem/core/error.hpp"
#include "tandem/operators/algebra.hpp"
#include "tandem/operators/projector.hpp"
#include "tandem/operators/random.hpp"
#include "tandem/operators/vector.hpp"
#include "tandem/solvers/cgls.hpp"

namespace tandem {
namespace {

static_assert(IterativeSolver<Cgls>);

/// A well conditioned matrix: random, with twice the identity on top.
Eigen::MatrixXf tall_matrix(Index rows, Index columns, unsigned seed) {
  std::srand(seed);
  Eigen::MatrixXf m = Eigen::MatrixXf::Random(rows, columns) / std::sqrt(static_cast<float>(columns));
  m.topRows(columns) += 2 * Eigen::MatrixXf::Identity(columns, columns);
  return m;
}

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

TEST(Cgls, FindsTheLeastSquaresSolution) {
  const LinearOperator A = test::MatrixOperator{tall_matrix(19, 11, 5)};
  const Array b = random_array(A.range(), 1);
  Cgls solver(A, b, Array(A.domain()));
  run(solver, max_iterations(22));
  const Eigen::VectorXd exact = test::dense(A).colPivHouseholderQr().solve(test::column(b));
  EXPECT_LE((test::column(solver.solution()) - exact).norm(), tolerance::solved * exact.norm());
}

TEST(Cgls, StartsFromTheGivenSolution) {
  const LinearOperator A = test::MatrixOperator{tall_matrix(19, 11, 5)};
  const Array b = random_array(A.range(), 1);
  Cgls solver(A, b, random_array(A.domain(), 2));
  run(solver, max_iterations(22));
  const Eigen::VectorXd exact = test::dense(A).colPivHouseholderQr().solve(test::column(b));
  EXPECT_LE((test::column(solver.solution()) - exact).norm(), tolerance::solved * exact.norm());
}

TEST(Cgls, ReachesTheRegularisedSolutionByAStack) {
  const ParallelBeam scan = test::scan_of(11, 2, 17);
  const VolumeGrid grid = test::grid_of(11, 7, 2);
  const LinearOperator A = projector(scan, grid, Model::joseph);
  constexpr float lambda = 3;
  const LinearOperator stacked = vstack({A, lambda * identity(A.domain())});
  const Array y = random_array(A.range(), 7);
  Array b(stacked.range());
  axpby(1, y, 0, View(b).part(0), default_stream(Device::cpu()));
  Cgls solver(stacked, b, Array(A.domain()));
  run(solver, max_iterations(60));
  const Eigen::MatrixXd a = test::dense(A);
  const Eigen::MatrixXd normal = a.transpose() * a + lambda * lambda * Eigen::MatrixXd::Identity(a.cols(), a.cols());
  const Eigen::VectorXd exact = normal.ldlt().solve(a.transpose() * test::column(y));
  EXPECT_LE((test::column(solver.solution()) - exact).norm(), tolerance::solved * exact.norm());
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

TEST(Cgls, StaysFiniteLongAfterItHasConverged) {
  const LinearOperator A = test::MatrixOperator{tall_matrix(19, 11, 5)};
  const Array b = random_array(A.range(), 1);
  Cgls solver(A, b, Array(A.domain()));
  run(solver, max_iterations(500));
  const Eigen::VectorXd exact = test::dense(A).colPivHouseholderQr().solve(test::column(b));
  EXPECT_LE((test::column(solver.solution()) - exact).norm(), tolerance::solved * exact.norm());
}

TEST(Cgls, RefusesVectorsOfAnotherSpace) {
  const ParallelBeam scan = test::scan_of(11, 3, 17);
  const LinearOperator A = projector(scan, fitting_grid(scan));
  EXPECT_THROW(Cgls(A, Array(A.domain()), Array(A.domain())), SpaceError);
  EXPECT_THROW(Cgls(A, Array(A.range()), Array(A.range())), SpaceError);
}

}  // namespace
}  // namespace tandem
