#include "../../solvers/landweber.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../../core/error.hpp"
#include "../../operators/projector.hpp"
#include "../support/dense.hpp"
#include "../support/operators.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

static_assert(TellsItsReach<Landweber>);

using test::random_array;

/// 13 views of two slices of 5 x 7 pixels.
struct SmallScan {
  LinearOperator A = projector(test::scan_of(13, 2, 17), test::grid_of(5, 7, 2), Model::joseph);
  Eigen::MatrixXd matrix = test::block_matrix(A);  ///< matrix of either slice
  Eigen::JacobiSVD<Eigen::MatrixXd> svd{matrix, Eigen::ComputeThinU | Eigen::ComputeThinV};
};

Eigen::VectorXd block(const Array& x, Index k) {
  Eigen::VectorXd values(x.size() / x.space().block_count());
  for (Index e = 0; e < values.size(); ++e) values(e) = x.data()[test::element(x.space(), k, e)];
  return values;
}

/// How much too small |A|^2 may come out, relatively: power iteration that begins at an angle t to the first
/// singular vector has (s2 / s1)^(2 m) tan t of it left after m steps, and the quotient is of second order.
double short_of_norm(const SmallScan& small) {
  const Eigen::VectorXd s = small.svd.singularValues();
  const Eigen::Index n = small.matrix.cols();
  const double cosine = std::abs(small.svd.matrixV().col(0).sum()) / std::sqrt(static_cast<double>(n));
  const double tangent = std::sqrt(1 - cosine * cosine) / cosine;
  return std::pow(tangent * std::pow(s(1) / s(0), 2 * 9), 2);
}

/// x_k = x_0 + V diag((1 - (1 - a s^2)^k) / s) Ut (b - A x_0), with a = lambda / s_1^2. An a that is off by a
/// share d moves a factor by k a s^2 (1 - a s^2)^(k - 1) d, at most d for a s^2 up to 1 and k d beyond.
TEST(Landweber, HasTheFilterFactorsOfItsClosedForm) {
  const SmallScan small;
  const Array b = random_array(small.A.range(), 1), x0 = random_array(small.A.domain(), 2);
  const Eigen::VectorXd s = small.svd.singularValues();
  ASSERT_GT(s.minCoeff(), 1e-3 * s.maxCoeff());
  for (const float relaxation : {0.4f, 1.0f, 1.9f}) {
    Landweber solver(small.A, b, x0.clone(), {.relaxation = relaxation});
    constexpr int steps = 12;
    run(solver, max_iterations(steps));
    const double a = static_cast<double>(relaxation) / (s(0) * s(0));
    for (Index k = 0; k < 2; ++k) {
      const Eigen::VectorXd first = block(x0, k), residual = block(b, k) - small.matrix * first;
      const auto factor = [&](double v) { return (1 - std::pow(1 - a * v * v, steps)) / v; };
      const Eigen::VectorXd part =
          s.unaryExpr(factor).cwiseProduct(small.svd.matrixU().transpose() * residual);
      const Eigen::VectorXd expected = first + small.svd.matrixV() * part;
      const double share = steps * (tolerance::small_sum + short_of_norm(small));
      EXPECT_LE((block(solver.solution(), k) - expected).norm(), share * (expected.norm() + part.norm()))
          << relaxation << ", slice " << k;
    }
  }
}

TEST(Landweber, GivesASliceTheSameBitsAloneAndBesideOthers) {
  const ParallelBeam three = test::scan_of(13, 3, 17), alone = test::scan_of(13, 1, 17);
  const LinearOperator A = projector(three, test::grid_of(5, 7, 3)),
                       one = projector(alone, test::grid_of(5, 7, 1));
  const Array b = random_array(A.range(), 1);
  Array of_one(one.range());
  for (Index e = 0; e < of_one.size(); ++e)
    of_one.data()[test::element(of_one.space(), 0, e)] = b.data()[test::element(b.space(), 1, e)];
  Landweber all(A, b, Array(A.domain())), lone(one, of_one, Array(one.domain()));
  run(all, max_iterations(6));
  run(lone, max_iterations(6));
  EXPECT_EQ(block(all.solution(), 1), block(lone.solution(), 0));
}

TEST(Landweber, IsNeverNegativeWhereAskedToBe) {
  const SmallScan small;
  const Array b = random_array(small.A.range(), 5);
  Landweber bounded(small.A, b, Array(small.A.domain()), {.bounds = above_zero}),
      free(small.A, b, Array(small.A.domain()));
  run(bounded, max_iterations(8));
  run(free, max_iterations(8));
  EXPECT_GE(block(bounded.solution(), 0).minCoeff(), 0);
  EXPECT_LT(block(free.solution(), 0).minCoeff(), 0);
}

/// The residual's polynomial is (1 - a s)^k: |r|^2 falls in a step by what it tells, times a.
TEST(Landweber, TellsTracesAndFallsOfItsPolynomial) {
  const SmallScan small;
  Landweber solver(small.A, random_array(small.A.range(), 1), Array(small.A.domain()));
  Array signs(small.A.range());
  fill_with_signs(signs, 1, default_stream(Device::cpu()));
  const double trace = (small.matrix.transpose() * block(signs, 0)).squaredNorm();
  EXPECT_NEAR(solver.traces()[0], trace, tolerance::small_sum * trace);
  const double before = std::pow(solver.residual_norms()[0], 2);
  solver.step({true, false});
  const double fall = before - std::pow(solver.residual_norms()[0], 2);
  const double unit = std::pow(small.svd.singularValues()(0), 2);
  EXPECT_NEAR(solver.falls()[0], fall * unit, (tolerance::small_sum + short_of_norm(small)) * fall * unit);
  EXPECT_EQ(block(solver.solution(), 1).norm(), 0);
}

TEST(Landweber, StaysWhereNoRayPasses) {
  const LinearOperator nothing = 0 * projector(test::scan_of(3, 1, 5), test::grid_of(5, 5, 1));
  const Array x0 = random_array(nothing.domain(), 2);
  Landweber solver(nothing, random_array(nothing.range(), 1), x0.clone());
  run(solver, max_iterations(3));
  EXPECT_EQ(block(solver.solution(), 0), block(x0, 0));
}

TEST(Landweber, RefusesARelaxationOutsideItsBoundsAndVectorsOfAnotherSpace) {
  const SmallScan small;
  const Array b(small.A.range()), wrong(small.A.domain());
  for (const float relaxation : {0.0f, 2.0f, -1.0f, NAN})
    EXPECT_THROW(Landweber(small.A, b, Array(small.A.domain()), {.relaxation = relaxation}), GeometryError);
  EXPECT_THROW(Landweber(small.A, wrong, Array(small.A.domain())), SpaceError);
  EXPECT_THROW(Landweber(small.A, b, Array(small.A.range())), SpaceError);
}

}  // namespace
}  // namespace tandem
