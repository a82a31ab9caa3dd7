// LSQR, LSMR and BA-GMRES.

#include <gtest/gtest.h>

#include <cmath>

#include "../../core/error.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/random.hpp"
#include "../../operators/vector.hpp"
#include "../../solvers/ba_gmres.hpp"
#include "../../solvers/cgls.hpp"
#include "../../solvers/lsmr.hpp"
#include "../../solvers/lsqr.hpp"
#include "../support/dense.hpp"
#include "../support/krylov.hpp"
#include "../support/poisoned_memory.hpp"
#include "../support/property.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

Array random_array(Space space, std::uint64_t seed) {
  Random random(seed);
  return uniform_array(std::move(space), random);
}

template <class S>
class Krylov : public ::testing::Test {
  static_assert(IterativeSolver<S> && TellsItsReach<S> && ShowsItsResidual<S>);
};
using Solvers = ::testing::Types<Lsqr, Lsmr, BaGmres>;
TYPED_TEST_SUITE(Krylov, Solvers);

/// |b - Ax| is least for LSQR; |At (b - Ax)| for the others.
template <class S>
Eigen::MatrixXd norm_of(const Eigen::MatrixXd& a) {
  if (std::is_same_v<S, Lsqr>) return Eigen::MatrixXd::Identity(a.rows(), a.rows());
  return a.transpose();
}

TYPED_TEST(Krylov, TakesTheBestPointOfEachKrylovSpace) {
  const LinearOperator A = test::MatrixOperator{test::tall_matrix(19, 11, 5)};
  const Eigen::MatrixXd a = test::dense(A);
  const Array b = random_array(A.range(), 1), x0 = random_array(A.domain(), 2);
  TypeParam solver(A, b, x0.clone());
  for (int k = 1; k <= 8; ++k) {
    solver.step({true});
    const Eigen::VectorXd best =
        test::krylov_point(a, a.transpose(), norm_of<TypeParam>(a), test::column(b), test::column(x0), k);
    EXPECT_LE((test::column(solver.solution()) - best).norm(), tolerance::solver_steps * best.norm()) << k;
  }
}

TYPED_TEST(Krylov, ResidualIsThatOfItsSolutionForLong) {
  const ParallelBeam scan = test::scan_of(23, 2, 31);
  const LinearOperator A = projector(scan, test::grid_of(19, 23, 2));
  const Array b = random_array(A.range(), 1);
  TypeParam solver(A, b, random_array(A.domain(), 2));
  for (int k = 0; k <= 60; ++k) {
    const Eigen::VectorXd r = test::column(b) - test::column(A * solver.solution());
    ASSERT_LE((test::column(*solver.residual()) - r).norm(), tolerance::krylov_residual * r.norm()) << k;
    ASSERT_NEAR(joint_norm(solver.residual_norms()), r.norm(), tolerance::krylov_residual * r.norm()) << k;
    solver.step({true, true});
  }
}

TYPED_TEST(Krylov, FindsTheLeastSquaresSolutionFromAnyStartAndStaysThere) {
  const LinearOperator A = test::MatrixOperator{test::tall_matrix(19, 11, 5)};
  const Array b = random_array(A.range(), 1);
  const Eigen::MatrixXd a = test::dense(A);
  const Eigen::VectorXd exact = a.colPivHouseholderQr().solve(test::column(b));
  for (const int steps : {22, 100}) {
    TypeParam solver(A, b, random_array(A.domain(), 2));
    run(solver, max_iterations(steps));
    EXPECT_LE((test::column(solver.solution()) - exact).norm(), tolerance::solver_steps * exact.norm());
  }
}

TYPED_TEST(Krylov, StaysBoundedLongAfterItHasConverged) {
  EXPECT_TRUE(test::holds("a solution does not run away, even along the null space", [] {
    const Index rows = *rc::gen::inRange<Index>(1, 9), columns = *rc::gen::inRange<Index>(1, 14);
    std::srand(*rc::gen::arbitrary<unsigned>());
    const LinearOperator A = test::MatrixOperator{Eigen::MatrixXf::Random(rows, columns)};
    const Array b = random_array(A.range(), *rc::gen::arbitrary<std::uint64_t>());
    TypeParam solver(A, b, Array(A.domain()));
    run(solver, max_iterations(100));
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(test::dense(A), Eigen::ComputeThinU | Eigen::ComputeThinV);
    const double shortest = svd.solve(test::column(b)).norm();
    RC_ASSERT(test::column(solver.solution()).norm() <= tolerance::cgls_bounded * shortest);
  }));
}

TYPED_TEST(Krylov, ReachesTheRegularisedSolutionByAStack) {
  const LinearOperator A = projector(test::scan_of(11, 2, 17), test::grid_of(11, 7, 2), Model::joseph);
  constexpr float lambda = 3;
  const LinearOperator stacked = vstack({A, lambda * identity(A.domain())});
  const Array y = random_array(A.range(), 7);
  Array b(stacked.range());
  axpby(1, y, 0, VectorView(b).part(0), default_stream(Device::cpu()));
  const Eigen::MatrixXd a = test::dense(A);
  const Eigen::MatrixXd damping = lambda * lambda * Eigen::MatrixXd::Identity(a.cols(), a.cols());
  const Eigen::VectorXd exact = (a.transpose() * a + damping).ldlt().solve(a.transpose() * test::column(y));
  TypeParam solver(stacked, b, Array(A.domain()));
  run(solver, max_iterations(60));
  EXPECT_LE((test::column(solver.solution()) - exact).norm(),
            tolerance::least_squares(a.operatorNorm(), test::column(y).norm(), lambda * lambda, 60));
}

TYPED_TEST(Krylov, StaysAtAFixedPointAndFiniteWithoutData) {
  const ParallelBeam scan = test::scan_of(11, 3, 17);
  const LinearOperator A = projector(scan, fitting_grid(scan));
  const Array x = random_array(A.domain(), 1), b = A * x;
  TypeParam solver(A, b, x.clone()), empty(A, Array(A.range()), Array(A.domain()));
  const Report report = run(solver, max_iterations(5));
  EXPECT_EQ(test::column(solver.solution()), test::column(x));
  EXPECT_EQ(report.residuals, std::vector<double>(6, 0.0));
  run(empty, max_iterations(5));
  EXPECT_EQ(test::column(empty.solution()).cwiseAbs().maxCoeff(), 0);
}

TYPED_TEST(Krylov, LeavesAStoppedSliceAlone) {
  const LinearOperator A = projector(test::scan_of(11, 2, 17), test::grid_of(5, 7, 2));
  const Array b = random_array(A.range(), 1), x0 = random_array(A.domain(), 2);
  TypeParam solver(A, b, x0.clone()), both(A, b, x0.clone());
  solver.step({true, true});
  const Array stopped = solver.solution().clone();
  const double residual = solver.residual_norms()[0];
  both.step({true, true});
  for (int k = 0; k < 3; ++k) {
    solver.step({false, true});
    both.step({true, true});
  }
  EXPECT_EQ(solver.residual_norms()[0], residual);
  for (Index i = 0; i < 35; ++i) {
    EXPECT_EQ(solver.solution().data()[i], stopped.data()[i]);
    EXPECT_EQ(solver.solution().data()[35 + i], both.solution().data()[35 + i]);
  }
}

TYPED_TEST(Krylov, ReadsNoMemoryThatNobodyHasSet) {
  if (!test::PoisonedMemory::works()) GTEST_SKIP() << "this allocator cannot fill what it gives";
  const LinearOperator A = projector(test::scan_of(13, 2, 17), test::grid_of(5, 7, 2));
  const Array b = random_array(A.range(), 1);
  const auto solution = [&] {
    TypeParam solver(A, b, Array(A.domain()));
    solver.traces();
    for (int k = 0; k < 3; ++k) solver.step({true, true});
    return test::column(solver.solution());
  };
  const Eigen::VectorXd clean = solution();
  const test::PoisonedMemory poisoned;
  EXPECT_EQ(solution(), clean);
}

TYPED_TEST(Krylov, RefusesVectorsOfAnotherSpace) {
  const ParallelBeam scan = test::scan_of(11, 3, 17);
  const LinearOperator A = projector(scan, fitting_grid(scan));
  EXPECT_THROW(TypeParam(A, Array(A.domain()), Array(A.domain())), SpaceError);
  EXPECT_THROW(TypeParam(A, Array(A.range()), Array(A.range())), SpaceError);
}

TEST(Lsqr, TakesTheStepsOfCgls) {
  const ParallelBeam scan = test::scan_of(23, 3, 31);
  const LinearOperator A = projector(scan, test::grid_of(19, 23, 3));
  const Array b = random_array(A.range(), 1), x0 = random_array(A.domain(), 2);
  Lsqr lsqr(A, b, x0.clone());
  Cgls cgls(A, b, x0.clone());
  for (int k = 0; k < 4; ++k) {
    lsqr.step({true, true, true});
    cgls.step({true, true, true});
    const Eigen::VectorXd x = test::column(cgls.solution());
    EXPECT_LE((test::column(lsqr.solution()) - x).norm(), tolerance::solver_steps * x.norm()) << k;
    EXPECT_NEAR(lsqr.residual_norms()[1], cgls.residual_norms()[1],
                tolerance::solver_steps * cgls.residual_norms()[1]);
    EXPECT_NEAR(lsqr.falls()[1], cgls.falls()[1], tolerance::falls * cgls.falls()[1]) << k;
  }
}

/// In float the gradient cannot come nearer to zero than its rounding.
TEST(Lsmr, GradientNeverGrowsNorDoesTheResidual) {
  const ParallelBeam scan = test::scan_of(23, 1, 31);
  const LinearOperator A = projector(scan, test::grid_of(19, 23, 1));
  const Eigen::MatrixXd a = test::dense(A);
  const Array b = random_array(A.range(), 1);
  Lsmr solver(A, b, Array(A.domain()));
  const auto gradient = [&] {
    return (a.transpose() * (test::column(b) - a * test::column(solver.solution()))).norm();
  };
  const double first = gradient();
  double before = first, residual = solver.residual_norms()[0];
  for (int k = 0; k < 40; ++k) {
    solver.step({true});
    const double now = gradient();
    EXPECT_LE(now, before + tolerance::cgls_growth * first) << k;
    EXPECT_LE(solver.residual_norms()[0], residual * (1 + tolerance::cgls_growth)) << k;
    before = now, residual = solver.residual_norms()[0];
  }
  EXPECT_LT(before, 0.01 * first);
}

TEST(BaGmres, IsLsmrWithAMatchedPair) {
  const LinearOperator A = projector(test::scan_of(23, 3, 31), test::grid_of(19, 23, 3));
  const Array b = random_array(A.range(), 1), x0 = random_array(A.domain(), 2);
  Lsmr lsmr(A, b, x0.clone());
  BaGmres gmres(A, b, x0.clone());
  for (int k = 0; k < 6; ++k) {
    lsmr.step({true, true, true});
    gmres.step({true, true, true});
    const Eigen::VectorXd x = test::column(lsmr.solution());
    EXPECT_LE((test::column(gmres.solution()) - x).norm(), tolerance::normal_steps * x.norm()) << k;
    EXPECT_NEAR(gmres.falls()[1], lsmr.falls()[1], tolerance::falls * lsmr.falls()[1]) << k;
  }
}

TEST(BaGmres, TakesTheBestPointOfEachKrylovSpaceOfAnUnmatchedPair) {
  const ParallelBeam scan = test::scan_of(23, 1, 31);
  const VolumeGrid grid = test::grid_of(11, 13, 1);
  const LinearOperator J = projector(scan, grid, Model::joseph), P = projector(scan, grid);
  const Eigen::MatrixXd a = test::dense(J), back = test::dense(P).transpose();
  const Array b = random_array(J.range(), 1), x0 = random_array(J.domain(), 2);
  BaGmres solver(unmatched_pair(J, adjoint(P)), b, x0.clone());
  for (int k = 1; k <= 10; ++k) {
    solver.step({true});
    const Eigen::VectorXd best = test::krylov_point(a, back, back, test::column(b), test::column(x0), k);
    EXPECT_LE((test::column(solver.solution()) - best).norm(), tolerance::normal_steps * best.norm()) << k;
  }
}

}  // namespace
}  // namespace tandem
