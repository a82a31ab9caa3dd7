// The primal-dual gap of PDHG, and the rule that stops by it.

#include <gtest/gtest.h>

#include <cmath>

#include "../../operators/algebra.hpp"
#include "../../operators/gradient.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/vector.hpp"
#include "../../solvers/pdhg.hpp"
#include "../support/dense.hpp"
#include "../support/operators.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

using test::random_array;

static_assert(TellsItsGap<Pdhg>);

constexpr int blocks = 2;
constexpr float weight = 0.3f, threshold = 0.2f;

/// 13 views of two slices of 5 x 7 pixels.
struct Case {
  bool weighted, huber;
  Bounds bounds;
  LinearOperator A = projector(test::scan_of(13, blocks, 17), test::grid_of(5, 7, blocks), Model::joseph);
  Array b = random_array(A.range(), 1), w = random_array(A.range(), 5);
  Regulariser tv = huber ? huber_total_variation(A.domain(), threshold) : total_variation(A.domain());

  Case(bool has_weights, bool is_huber, const Bounds& box)
      : weighted(has_weights), huber(is_huber), bounds(box) {
    for (Index i = 0; i < w.size(); ++i) w.data()[i] = weighted ? std::max(0.0f, w.data()[i]) : 1;
  }
  Pdhg solver() const {
    return Pdhg(A, b.clone(), random_array(A.domain(), 3), tv, {weight},
                weighted ? std::optional(w.clone()) : std::nullopt, {.bounds = bounds});
  }
  Index block_of_voxel(Index i) const { return i / 35; }
  Index block_of_datum(Index i) const { return i / 17 % blocks; }
};

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const bool weighted : {false, true})
    for (const bool huber : {false, true})
      for (const Bounds& bounds : {Bounds{}, above_zero, Bounds{-0.1f, 0.2f}, Bounds{.highest = 0.1f}})
        all.emplace_back(weighted, huber, bounds);
  return all;
}

const VectorView& vector_in(const SolverState& state, const std::string& name) {
  for (const StatePart& part : state)
    if (part.name == name) return std::get<VectorView>(part.value);
  throw std::runtime_error("no " + name);
}

/// The dual objective in double, by its definition, with the adjoints as matrices.
std::array<double, blocks> dual_of(const Case& c, const Pdhg& solver, const SolverState& state) {
  Array q = random_array(c.tv.K.range(), 1), p = random_array(c.A.range(), 1);
  std::copy_n(vector_in(state, "q").data, q.size(), q.data());
  std::copy_n(vector_in(state, "p").data, p.size(), p.data());
  clamp_lengths(q, weight, default_stream(Device::cpu()));
  const Eigen::VectorXd z =
      test::dense(c.A).transpose() * test::column(p) + test::dense(c.tv.K).transpose() * test::column(q);
  const Eigen::VectorXd x = test::column(solver.solution());
  std::array<double, blocks> dual{}, lengths{}, free{};
  for (Index i = 0; i < x.size(); ++i) lengths[c.block_of_voxel(i)] += 4 * x(i) * x(i);
  for (Index i = 0; i < z.size(); ++i) {
    const double bound = static_cast<double>(z(i) > 0 ? c.bounds.lowest : c.bounds.highest);
    if (std::isfinite(bound))
      dual[c.block_of_voxel(i)] += bound * z(i);
    else
      free[c.block_of_voxel(i)] += z(i) * z(i);
  }
  for (Index i = 0; i < p.size(); ++i) {
    const double of_p = p.data()[i], of_b = c.b.data()[i], of_w = c.w.data()[i];
    dual[c.block_of_datum(i)] -= of_b * of_p + (of_w > 0 ? of_p * of_p / (2 * of_w) : 0);
  }
  if (c.huber)
    for (std::size_t k = 0; k < blocks; ++k)
      dual[k] -= dot(q, q, default_stream(Device::cpu()))[k] * static_cast<double>(threshold / (2 * weight));
  for (std::size_t k = 0; k < blocks; ++k) dual[k] -= std::sqrt(lengths[k] * free[k]);
  return dual;
}

TEST(Gap, IsThatOfThePrimalAndTheDualObjective) {
  for (const Case& c : all_cases()) {
    Pdhg solver = c.solver();
    for (const int steps : {0, 1, 6, 60}) {
      for (int k = 0; k < steps; ++k) solver.step({true, true});
      const std::vector<double> primal = solver.objective(), gaps = solver.gaps();
      const std::array<double, blocks> dual = dual_of(c, solver, solver.state());
      for (std::size_t k = 0; k < blocks; ++k)
        EXPECT_NEAR(gaps[k], 1 - dual[k] / primal[k], tolerance::gap * std::max(1.0, gaps[k])) << steps;
    }
  }
}

/// The least objective is that of a long run.
TEST(Gap, IsNoLessThanTheWayToTheLeastObjectiveAndVanishes) {
  for (const Case& c : all_cases()) {
    Pdhg exact = c.solver(), solver = c.solver();
    run(exact, max_iterations(4000));
    const std::vector<double> least = exact.objective(), last = exact.gaps();
    for (int k = 1; k <= 300; ++k) {
      solver.step({true, true});
      if (k % 20 != 0) continue;
      const std::vector<double> now = solver.objective(), gaps = solver.gaps();
      for (std::size_t i = 0; i < blocks; ++i)
        ASSERT_GE(gaps[i], 1 - least[i] / now[i] - tolerance::gap) << "step " << k;
    }
    for (const double gap : last) EXPECT_LE(std::abs(gap), 10 * tolerance::gap);
  }
}

/// Without a regulariser the least point is that of dense algebra.
TEST(Gap, StopsNearTheLeastSquaresOfDenseAlgebra) {
  Case c(true, false, {});
  const Eigen::MatrixXd a = test::dense(c.A);
  const Eigen::VectorXd w = test::column(c.w), b = test::column(c.b);
  const Eigen::VectorXd exact =
      (a.transpose() * w.asDiagonal() * a).ldlt().solve(a.transpose() * w.cwiseProduct(b));
  const double least = 0.5 * (a * exact - b).cwiseAbs2().dot(w);
  for (const double epsilon : {1e-1, 1e-2, 1e-3}) {
    Pdhg solver(c.A, c.b.clone(), Array(c.A.domain()), c.tv, {0}, c.w.clone());
    const Report report = run(solver, duality_gap(solver, epsilon) || max_iterations(10000));
    const std::vector<double> reached = solver.objective();
    EXPECT_LE(reached[0] + reached[1], least / (1 - epsilon));
    for (std::size_t k = 0; k < blocks; ++k) {
      EXPECT_EQ(report.stopped_by[k], "gap") << epsilon;
      EXPECT_EQ(report.block_iterations[k] % 10, 0) << "gaps are asked for at each tenth step";
    }
  }
}

/// What steps to come add, against where many steps end: within a factor, and near enough where the rule
/// stops.
TEST(Distance, TellsTheWayToTheEnd) {
  for (const Case& c : all_cases()) {
    Pdhg end = c.solver(), solver = c.solver();
    run(end, max_iterations(3000));
    EXPECT_EQ(solver.distances(), std::vector<double>(blocks, INFINITY)) << "before the first step";
    const Report report = run(solver, settled(solver, 1e-3) || max_iterations(3000));
    EXPECT_LE(test::relative_error(solver.solution(), end.solution()), 0.02);
    for (std::size_t k = 0; k < blocks; ++k) {
      EXPECT_EQ(report.stopped_by[k], "settled");
      EXPECT_EQ(report.block_iterations[k] % 5, 0);
      EXPECT_GE(report.block_iterations[k], 20);
    }
  }
}

TEST(Gap, AskingForItChangesNoStep) {
  const Case c(true, true, above_zero);
  Pdhg asked = c.solver(), silent = c.solver();
  for (int k = 0; k < 12; ++k) {
    asked.gaps();
    asked.step({true, true}), silent.step({true, true});
  }
  for (Index i = 0; i < asked.solution().size(); ++i)
    ASSERT_EQ(asked.solution().data()[i], silent.solution().data()[i]);
}

}  // namespace
}  // namespace tandem
