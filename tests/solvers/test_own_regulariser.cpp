// Tikhonov's regulariser, and that of a proximal map.

#include <gtest/gtest.h>

#include <cmath>

#include "../../core/error.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/gradient.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/vector.hpp"
#include "../../solvers/fista.hpp"
#include "../../solvers/pdhg.hpp"
#include "../support/dense.hpp"
#include "../support/operators.hpp"
#include "../support/scans.hpp"

namespace tandem {
namespace {

using test::random_array;

/// 13 views of two slices of 5 x 7 pixels: more equations than unknowns.
const LinearOperator& A() {
  static const LinearOperator all =
      projector(test::scan_of(13, 2, 17), test::grid_of(5, 7, 2), Model::joseph);
  return all;
}

/// The normal equations in double, with data weights. The solvers' floats leave 1e-4 of it.
TEST(Tikhonov, IsThatOfTheNormalEquations) {
  constexpr float weight = 3;
  const Array b = random_array(A().range(), 1);
  Array w = random_array(A().range(), 2);
  for (Index k = 0; k < w.size(); ++k) w.data()[k] = std::max(0.0f, w.data()[k]);
  const Eigen::MatrixXd matrix = test::dense(A());
  const Eigen::MatrixXd normal = matrix.transpose() * test::column(w).asDiagonal() * matrix +
                                 weight * Eigen::MatrixXd::Identity(matrix.cols(), matrix.cols());
  const Eigen::VectorXd wanted =
      normal.ldlt().solve(matrix.transpose() * test::column(w).asDiagonal() * test::column(b));
  const auto expect = [&](auto solver) {
    run(solver, max_iterations(600));
    EXPECT_LT((test::column(solver.solution()) - wanted).norm(), 1e-4 * wanted.norm());
  };
  expect(Pdhg(A(), b.clone(), Array(A().domain()), tikhonov(A().domain()), {weight}, w.clone()));
  expect(Fista(A(), b.clone(), Array(A().domain()), tikhonov(A().domain()), {weight}, w.clone()));
}

/// In double: the objective at the solution of the normal equations, where the gap is zero.
TEST(Tikhonov, TellsItsObjectiveAndGap) {
  const Array b = random_array(A().range(), 1);
  Pdhg solver(A(), b.clone(), Array(A().domain()), tikhonov(A().domain()), {3});
  run(solver, max_iterations(5));
  const std::vector<double> early = solver.gaps();
  run(solver, max_iterations(600));
  for (std::size_t k = 0; k < early.size(); ++k) {
    EXPECT_GT(early[k], 1e-3);
    EXPECT_NEAR(solver.gaps()[k], 0, 1e-5);
  }
  const Eigen::VectorXd x = test::column(solver.solution()), r = test::column(b) - test::dense(A()) * x;
  const std::vector<double> each = solver.objective();
  EXPECT_NEAR(each[0] + each[1], 0.5 * r.squaredNorm() + 1.5 * x.squaredNorm(), 1e-4 * each[0]);
}

/// The proximal map of a sum of lengths shortens each by the step: that of total variation comes out.
TEST(OwnRegulariser, OfLengthsIsTotalVariation) {
  const Regulariser tv = total_variation(A().domain());
  const auto shorten = [](VectorView v, std::span<const float> steps, Stream& stream) {
    Array clamped(v.space, stream);
    axpby(1, v, 0, clamped, stream);
    clamp_lengths(clamped, steps, stream);
    axpby(-1, clamped, 1, v, stream);
  };
  const Regulariser own = regulariser_of(tv.K, tv.norm_squared, shorten, tv.value);
  const Array b = random_array(A().range(), 1);
  const std::vector<float> weights{0.4f, 0.1f};
  const auto solved = [&](const Regulariser& g) {
    Pdhg solver(A(), b.clone(), Array(A().domain()), g, weights);
    run(solver, max_iterations(400));  // steps differ, as only one of them is known to take differences
    return std::pair(solver.solution().clone(), solver.objective());
  };
  const auto [x, objective] = solved(tv);
  const auto [x_own, objective_own] = solved(own);
  EXPECT_LT(test::relative_error(x_own, x), 1e-4);
  for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(objective_own[k], objective[k], 1e-4 * objective[k]);
  Pdhg solver(A(), b.clone(), Array(A().domain()), own, weights);
  EXPECT_THROW(solver.gaps(), GeometryError);
  EXPECT_THROW(regulariser_of(tv.K, 0, shorten, tv.value), GeometryError);
}

}  // namespace
}  // namespace tandem
