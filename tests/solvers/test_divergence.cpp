// Solvers that run away are stopped, and their best solution is kept.
#include <gtest/gtest.h>

#include <cmath>

#include "../../core/error.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/vector.hpp"
#include "../../solvers/landweber.hpp"
#include "../../solvers/stopping/best_so_far.hpp"
#include "../support/operators.hpp"
#include "../support/scans.hpp"

namespace tandem {
namespace {

/// A pair whose way back turns the sign where x grows: every step leads away. The second slice has no data.
struct RunsAway {
  LinearOperator A = projector(test::scan_of(13, 2, 17), test::grid_of(5, 7, 2), Model::joseph);
  LinearOperator pair = unmatched_pair(A, -1.0f * adjoint(A));
  Array b{A.range()};

  RunsAway() {
    const Array random = test::random_array(A.range(), 1);
    for (Index i = 0; i < b.size(); ++i) b.data()[i] = i / 17 % 2 == 0 ? random.data()[i] : 0;
  }
};

TEST(Divergence, IsSeenInItsBlockAndLeavesTheBestSolution) {
  const RunsAway away;
  Stream& stream = default_stream(Device::cpu());
  Landweber solver(away.pair, away.b, Array(away.A.domain()));
  BestSoFar best(away.A.domain());
  const double at_start = solver.residual_norms()[0];
  const Report report = run(solver, divergence(norm(away.b, stream)) || max_iterations(200),
                            [&](const Progress& now) { best.look_at(now); });
  EXPECT_EQ(report.stopped_by, (std::vector<std::string>{"divergence", "max_iterations"}));
  EXPECT_LT(report.block_iterations[0], 200);
  EXPECT_GT(solver.residual_norms()[0], 10 * at_start);
  Array x = std::move(solver).solution();
  best.replace(x, {true, false});
  EXPECT_EQ(norm(x, stream)[0], 0);  // the beginning: each step made it worse
}

/// One block gets better and then not finite; the other only gets worse.
TEST(Divergence, BestSolutionsAreThoseOfEachBlock) {
  Array x(Space({2, 1, 3}, Blocks::slices));
  BestSoFar best(x.space());
  const std::vector<double> first{4, 4};
  const auto look = [&](float value, std::vector<double> residuals) {
    fill(x, value, default_stream(Device::cpu()));
    best.look_at({0, residuals, first, 0, x});
  };
  look(1, {4, 4});
  look(2, {3, 5});
  look(NAN, {NAN, 6});
  look(INFINITY, {7, 7});
  best.replace(x, {true, false});
  EXPECT_EQ(x.data()[2], 2);
  EXPECT_EQ(x.data()[3], INFINITY);
  best.replace(x, {false, true});
  EXPECT_EQ(x.data()[2], 2);
  EXPECT_EQ(x.data()[3], 1);
}

TEST(Divergence, IsBeyondTenTimesTheDataOrNotFinite) {
  const StopRule rule = divergence({2});
  const Array x(Space({1, 1, 1}));
  const auto holds = [&](double residual, double first) {
    const std::vector<double> now{residual}, then{first};
    return !held(rule, {3, now, then, 0, x}, 0).empty();
  };
  EXPECT_FALSE(holds(20, 1));
  EXPECT_TRUE(holds(20.1, 1));
  EXPECT_FALSE(holds(30, 3));
  EXPECT_TRUE(holds(NAN, 3));
  EXPECT_FALSE(holds(0, 0));
  const std::vector<double> two{1, 1};
  EXPECT_THROW(static_cast<void>(held(rule, {0, two, two, 0, x}, 1)), SpaceError);
}

}  // namespace
}  // namespace tandem
