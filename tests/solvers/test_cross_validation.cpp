// Generalised cross-validation against its function in dense double arithmetic.

#include "../../solvers/run.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "../../core/error.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/projector.hpp"
#include "../../solvers/ba_gmres.hpp"
#include "../../solvers/cgls.hpp"
#include "../../solvers/lsmr.hpp"
#include "../../solvers/lsqr.hpp"
#include "../support/dense.hpp"
#include "../support/led.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

/// Some pixels from rather few noisy data, so that degrees of freedom are not few beside these.
struct Small {
  ParallelBeam scan = test::scan_of(17, 1, 19);
  VolumeGrid grid = test::grid_of(13, 15, 1);
  LinearOperator A = projector(scan, grid);
  Eigen::MatrixXd matrix = test::dense(A);
  Array truth{A.domain()}, y{A.range()};

  Small() {
    for (Index i = 0; i < truth.size(); ++i)
      truth.data()[i] = (i / 13 - 7) * (i / 13 - 7) + (i % 13 - 6) * (i % 13 - 6) < 25 ? 1.0f : 0.0f;
    y = A * truth;
    Random random(3);
    for (Index i = 0; i < y.size(); ++i) y.data()[i] += static_cast<float>(0.5 * (random.uniform() - 0.5));
  }
};

/// The Krylov space of AtA from At y, with all vectors made orthogonal twice.
Eigen::MatrixXd krylov_space(const Eigen::MatrixXd& A, const Eigen::VectorXd& y, int steps) {
  Eigen::MatrixXd basis(A.cols(), steps);
  Eigen::VectorXd v = A.transpose() * y;
  for (int k = 0; k < steps; ++k) {
    for (int twice = 0; twice < 2; ++twice)
      v -= (basis.leftCols(k) * (basis.leftCols(k).transpose() * v)).eval();
    basis.col(k) = v.normalized();
    v = A.transpose() * (A * basis.col(k));
  }
  return basis;
}

/// p(s) = product of 1 - s / root, where the roots are the Ritz values of AtA for CGLS and LSQR, and the
/// harmonic ones for LSMR: the exact residual polynomial after as many steps as the basis has columns.
Eigen::VectorXd roots_of(const Eigen::MatrixXd& A, const Eigen::MatrixXd& basis, bool harmonic) {
  const Eigen::MatrixXd of_A = A * basis, of_normal = A.transpose() * of_A;
  const Eigen::MatrixXd once = of_A.transpose() * of_A;
  if (!harmonic) return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(once).eigenvalues();
  const Eigen::MatrixXd twice = of_normal.transpose() * of_normal;
  return Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd>(twice, once).eigenvalues();
}

/// I - p(A At) after some steps, from a singular value decomposition.
Eigen::MatrixXd influence(const Small& small, int steps, bool harmonic) {
  const Eigen::VectorXd roots =
      roots_of(small.matrix, krylov_space(small.matrix, test::column(small.y), steps), harmonic);
  const Eigen::BDCSVD<Eigen::MatrixXd> svd(small.matrix, Eigen::ComputeThinU);
  Eigen::VectorXd filter(svd.singularValues().size());
  for (Eigen::Index i = 0; i < filter.size(); ++i) {
    double p = 1;
    for (const double root : roots) p *= 1 - std::pow(svd.singularValues()(i), 2) / root;
    filter(i) = 1 - p;
  }
  return svd.matrixU() * filter.asDiagonal() * svd.matrixU().transpose();
}

template <class S>
class CrossValidation : public ::testing::Test {
 protected:
  static constexpr bool harmonic = std::is_same_v<S, Lsmr> || std::is_same_v<S, BaGmres>;
};
using KrylovSolvers = ::testing::Types<Cgls, Lsqr, Lsmr, BaGmres>;
TYPED_TEST_SUITE(CrossValidation, KrylovSolvers);

TYPED_TEST(CrossValidation, FollowersTellTheDegreesOfFreedom) {
  const Small small;
  test::Led<TypeParam> pair(small.A, small.y);
  const Eigen::VectorXd signs = test::column(pair.signs);
  for (int k = 1; k <= 6; ++k) {
    pair.step({true});
    const Eigen::MatrixXd exact = influence(small, k, this->harmonic);
    const double told = pair.freedom().front();
    EXPECT_NEAR(told, signs.dot(exact * signs), tolerance::krylov_freedom * told) << k;
    // Hutchinson: the variance of an estimate with signs is twice the sum of squares off the diagonal
    const double variance = 2 * (exact.squaredNorm() - exact.diagonal().squaredNorm());
    EXPECT_NEAR(told, exact.trace(), tolerance::deviations * std::sqrt(variance)) << k;
  }
}

TYPED_TEST(CrossValidation, StopsAStepAfterTheLeastOfItsExactFunction) {
  const Small small;
  TypeParam solver(small.A, small.y, Array(small.A.domain()));
  const auto data = static_cast<double>(small.y.size());
  std::vector<double> exact{INFINITY};  // the start is no candidate
  const auto freedom = [&] {
    const double t = influence(small, static_cast<int>(exact.size()), this->harmonic).trace();
    exact.push_back(std::pow(solver.residual_norms().front() / (data - t), 2));
    return std::vector<double>{t};
  };
  const Report report = run(solver, cross_validation(freedom, {small.y.size()}) || max_iterations(40));
  ASSERT_EQ(report.stopped_by.front(), "gcv");
  EXPECT_GT(report.iterations, 3);
  const auto least = std::min_element(exact.begin(), exact.end());
  EXPECT_EQ(report.iterations, least - exact.begin() + 1);
  EXPECT_EQ(static_cast<std::size_t>(report.iterations), exact.size() - 1);
}

TYPED_TEST(CrossValidation, LeavesTheLeadersStepsAsTheyAre) {
  const Small small;
  test::Led<TypeParam> pair(small.A, small.y);
  TypeParam alone(small.A, small.y, Array(small.A.domain()));
  for (int k = 0; k < 5; ++k) {
    pair.step({true});
    alone.step({true});
  }
  EXPECT_EQ(test::column(pair.solver.solution()), test::column(alone.solution()));
}

TEST(CrossValidationRule, NeedsANumberForEachBlock) {
  const Small small;
  Cgls solver(small.A, small.y, Array(small.A.domain()));
  const auto freedom = [] { return std::vector<double>{1, 2}; };
  EXPECT_THROW(run(solver, cross_validation(freedom, {3, 3})), SpaceError);
}

TEST(Sums, OfAFollowerThatIsAheadAreRefused) {
  auto [leader, follower] = Sums::leader_and_follower();
  const Small small;
  Stream& stream = default_stream(Device::cpu());
  EXPECT_THROW(follower.norm(small.y, stream), SpaceError);
  const std::vector<double> length = leader.norm(small.y, stream);
  EXPECT_EQ(follower.norm(small.truth, stream), length);
}

}  // namespace
}  // namespace tandem
