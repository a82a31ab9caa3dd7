#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <stdexcept>

#include "../../core/error.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/random.hpp"
#include "../../operators/vector.hpp"
#include "../../solvers/ba_gmres.hpp"
#include "../../solvers/cgls.hpp"
#include "../../solvers/lsmr.hpp"
#include "../../solvers/lsqr.hpp"
#include "../../solvers/sirt.hpp"
#include "../support/dense.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

constexpr Index rows = 5;

/// A scan of five rows whose data are noisy in different degrees, so that their stop rules hold at different
/// steps.
struct NoisyRows {
  ParallelBeam scan = test::scan_of(17, rows, 29);
  VolumeGrid grid = test::grid_of(19, 23, rows);
  Array b;
  std::vector<double> noise;  ///< norm, one a row

  NoisyRows() : b(projection_space(scan)) {
    Random random(3);
    const LinearOperator A = projector(scan, grid, Model::joseph);
    const Array truth = uniform_array(A.domain(), random), errors = sign_array(A.range(), random);
    b = A * truth;
    const float levels[] = {1, 0.2f, 0, 3, 0.5f};
    axpby(std::span(levels), errors, std::vector<float>{1}, b, default_stream(Device::cpu()));
    for (float level : levels) noise.push_back(static_cast<double>(level) * std::sqrt(17.0 * 29.0));
  }

  Array row(Index k) const {
    Array one(projection_space(crop(scan, {0, 17}, {k, k + 1}, {0, 29})));
    for (Index v = 0; v < 17; ++v) std::copy_n(b.data() + (v * rows + k) * 29, 29, one.data() + v * 29);
    return one;
  }
};

struct Outcome {
  Array x;
  Report report;
};

/// Stopped by stagnation where no noise is given.
template <class S>
Outcome solve(const LinearOperator& A, const Array& b, const std::vector<double>& noise) {
  S solver(A, b, Array(A.domain()));
  const Index blocks = A.range().block_count();
  const std::vector<Index> data(static_cast<std::size_t>(blocks), A.range().size() / blocks);
  const StopRule rule = noise.empty() ? stagnation(solver, data) : discrepancy(noise);
  Report report = run(solver, rule || max_iterations(13));
  return {solver.solution().clone(), std::move(report)};
}

template <class S>
void expect_rows_independent() {
  const NoisyRows all;
  const Outcome together = solve<S>(projector(all.scan, all.grid, Model::joseph), all.b, all.noise);
  const auto& steps = together.report.block_iterations;
  EXPECT_GE(std::set<int>(steps.begin(), steps.end()).size(), 3u) << "rows stop alike: nothing is tested";
  EXPECT_EQ(together.report.stopped_by[3], "discrepancy");
  EXPECT_EQ(together.report.stopped_by[2], "max_iterations");
  for (Index k = 0; k < rows; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const ParallelBeam one = crop(all.scan, {0, 17}, {k, k + 1}, {0, 29});
    const LinearOperator A = projector(one, test::with_slices(all.grid, 1), Model::joseph);
    const Outcome alone = solve<S>(A, all.row(k), {all.noise[at]});
    EXPECT_EQ(alone.report.iterations, steps[at]) << k;
    EXPECT_EQ(alone.report.stopped_by[0], together.report.stopped_by[at]) << k;
    const Index slice = 19 * 23;
    EXPECT_EQ(std::memcmp(alone.x.data(), together.x.data() + k * slice, slice * sizeof(float)), 0) << k;
  }
}

TEST(Cgls, SolvesEachSliceAsIfItWereAlone) { expect_rows_independent<Cgls>(); }
TEST(Sirt, SolvesEachSliceAsIfItWereAlone) { expect_rows_independent<Sirt>(); }
TEST(Lsqr, SolvesEachSliceAsIfItWereAlone) { expect_rows_independent<Lsqr>(); }
TEST(Lsmr, SolvesEachSliceAsIfItWereAlone) { expect_rows_independent<Lsmr>(); }
TEST(BaGmres, SolvesEachSliceAsIfItWereAlone) { expect_rows_independent<BaGmres>(); }

template <class S>
void expect_rows_stagnate_independently() {
  const NoisyRows all;
  const Outcome together = solve<S>(projector(all.scan, all.grid, Model::joseph), all.b, {});
  const auto& steps = together.report.block_iterations;
  EXPECT_GE(std::set<int>(steps.begin(), steps.end()).size(), 3u) << "rows stop alike: nothing is tested";
  EXPECT_EQ(together.report.stopped_by[3], "stagnation");
  for (Index k = 0; k < rows; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const LinearOperator A = projector(crop(all.scan, {0, 17}, {k, k + 1}, {0, 29}),
                                       test::with_slices(all.grid, 1), Model::joseph);
    const Outcome alone = solve<S>(A, all.row(k), {});
    EXPECT_EQ(alone.report.iterations, steps[at]) << k;
    const Index slice = 19 * 23;
    EXPECT_EQ(std::memcmp(alone.x.data(), together.x.data() + k * slice, slice * sizeof(float)), 0) << k;
  }
}

TEST(Cgls, StagnatesInEachSliceAsIfItWereAlone) { expect_rows_stagnate_independently<Cgls>(); }
TEST(Sirt, StagnatesInEachSliceAsIfItWereAlone) { expect_rows_stagnate_independently<Sirt>(); }
TEST(Lsqr, StagnatesInEachSliceAsIfItWereAlone) { expect_rows_stagnate_independently<Lsqr>(); }
TEST(Lsmr, StagnatesInEachSliceAsIfItWereAlone) { expect_rows_stagnate_independently<Lsmr>(); }
TEST(BaGmres, StagnatesInEachSliceAsIfItWereAlone) { expect_rows_stagnate_independently<BaGmres>(); }

template <class S>
void expect_nan_contained() {
  NoisyRows all;
  const LinearOperator A = projector(all.scan, all.grid, Model::joseph);
  const Outcome clean = solve<S>(A, all.b, all.noise);
  for (Index v = 0; v < 17; ++v)
    std::fill_n(all.b.data() + (v * rows + 2) * 29, 29, std::numeric_limits<float>::quiet_NaN());
  const Outcome spoilt = solve<S>(A, all.b, all.noise);
  const Index slice = 19 * 23;
  for (Index k : {0, 1, 3, 4})
    EXPECT_EQ(std::memcmp(clean.x.data() + k * slice, spoilt.x.data() + k * slice, slice * sizeof(float)), 0)
        << k;
}

TEST(Cgls, KeepsANanInItsSlice) { expect_nan_contained<Cgls>(); }
TEST(Sirt, KeepsANanInItsSlice) { expect_nan_contained<Sirt>(); }
TEST(Lsqr, KeepsANanInItsSlice) { expect_nan_contained<Lsqr>(); }
TEST(Lsmr, KeepsANanInItsSlice) { expect_nan_contained<Lsmr>(); }
TEST(BaGmres, KeepsANanInItsSlice) { expect_nan_contained<BaGmres>(); }

/// Rows of which each is weighted with a number of its own: blocks that are not alike.
TEST(Sirt, WeighsEachSliceByItsOwnSums) {
  const NoisyRows all;
  const LinearOperator A = projector(all.scan, all.grid, Model::joseph);
  const auto weighted = [&](float first) {
    Array weights(A.range());
    const std::vector<float> scale{first, 1, 1, 1, 1}, keep{0};
    Array ones(A.range());
    fill(ones, 1, default_stream(Device::cpu()));
    axpby(scale, ones, keep, weights, default_stream(Device::cpu()));
    Sirt solver(diagonal(std::move(weights)) * A, all.b, Array(A.domain()));
    run(solver, max_iterations(3));
    return solver.solution().clone();
  };
  const Array usual = weighted(1), large = weighted(1e9f);
  const Index slice = 19 * 23;
  for (Index k = 1; k < rows; ++k)
    EXPECT_EQ(std::memcmp(usual.data() + k * slice, large.data() + k * slice, slice * sizeof(float)), 0) << k;
}

/// A solver whose residuals halve at each step, in each of two blocks.
class Halving {
 public:
  Halving(double first, double second) : norms_{first, second} {}
  void step(const ActiveBlocks& active) {
    asked.push_back(active);
    for (std::size_t k = 0; k < 2; ++k)
      if (active[k]) norms_[k] /= 2;
  }
  const Array& solution() const { return x_; }
  const std::vector<double>& residual_norms() const { return norms_; }
  std::vector<ActiveBlocks> asked;

 private:
  std::vector<double> norms_;
  Array x_{Space({2, 1, 1}, Blocks::slices)};
};
static_assert(IterativeSolver<Halving>);

TEST(Run, StopsAfterSoManyIterations) {
  Halving solver(1, 1);
  const Report report = run(solver, max_iterations(7));
  EXPECT_EQ(report.iterations, 7);
  EXPECT_EQ(report.block_iterations, (std::vector<int>{7, 7}));
  EXPECT_EQ(report.stopped_by, (std::vector<std::string>{"max_iterations", "max_iterations"}));
  ASSERT_EQ(report.residuals.size(), 8u);
  for (int i = 0; i <= 7; ++i)
    EXPECT_DOUBLE_EQ(report.residuals[static_cast<std::size_t>(i)], std::sqrt(2.0) / (1 << i));
}

TEST(Run, DoesNotStepWhereARuleHoldsAtTheStart) {
  Halving solver(1, 1);
  EXPECT_EQ(run(solver, max_iterations(0)).iterations, 0);
  EXPECT_TRUE(solver.asked.empty());
}

TEST(Run, StopsEachBlockByItsOwnRule) {
  Halving solver(1, 1);
  const Report report = run(solver, discrepancy({0.3, 0.01}) || max_iterations(4));
  EXPECT_EQ(report.block_iterations, (std::vector<int>{2, 4}));
  EXPECT_EQ(report.stopped_by, (std::vector<std::string>{"discrepancy", "max_iterations"}));
  EXPECT_EQ(report.iterations, 4);
  EXPECT_EQ(solver.asked[1], (ActiveBlocks{true, true}));
  EXPECT_EQ(solver.asked[2], (ActiveBlocks{false, true}));
  EXPECT_EQ(solver.residual_norms(), (std::vector<double>{0.25, 0.0625}));
}

TEST(StopRules, AreAskedInTheirOrder) {
  Halving solver(1, 4);
  const Report report = run(solver, max_iterations(2) || relative_residual(0.25) || discrepancy({1, 1}));
  EXPECT_EQ(report.stopped_by[0], "discrepancy");  // holds at once; the others do not yet
  EXPECT_EQ(report.stopped_by[1], "max_iterations");
}

TEST(StopRules, DiscrepancyHoldsAtTheNoiseAndNotAboveIt) {
  const auto steps = [](double residual) {
    Halving solver(residual, residual);
    return run(solver, discrepancy({1, 1}) || max_iterations(9)).iterations;
  };
  EXPECT_EQ(steps(1), 0);
  EXPECT_EQ(steps(1.001), 1);
  EXPECT_EQ(steps(2), 1);
  EXPECT_EQ(steps(2.001), 2);
}

TEST(StopRules, RelativeResidualMeasuresFromTheStart) {
  Halving solver(8, 1);
  const Report report = run(solver, relative_residual(0.1) || max_iterations(99));
  EXPECT_EQ(report.block_iterations, (std::vector<int>{4, 4}));
  EXPECT_EQ(report.stopped_by[0], "relative_residual");
}

TEST(StopRules, DiscrepancyTakesItsFactorAndANormForEachBlock) {
  Halving solver(1, 1), other(1, 1);
  EXPECT_EQ(run(solver, discrepancy({0.1, 0.1}, 2.5)).iterations, 2);
  EXPECT_THROW(run(other, discrepancy({2})), SpaceError);
}

TEST(StopRules, RefuseNumbersBelowZeroAndNone) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(max_iterations(-1), GeometryError);
  EXPECT_NO_THROW(max_iterations(0));
  for (const double wrong : {-1.0, none}) {
    EXPECT_THROW(relative_residual(wrong), GeometryError);
    EXPECT_THROW(discrepancy({1, wrong}), GeometryError);
    EXPECT_THROW(discrepancy({1}, wrong), GeometryError);
    EXPECT_THROW(time_limit(wrong), GeometryError);
    EXPECT_THROW(divergence({1, wrong}), GeometryError);
    EXPECT_THROW(duality_gap([] { return std::vector<double>{}; }, wrong), GeometryError);
    EXPECT_THROW(settled([] { return std::vector<double>{}; }, wrong), GeometryError);
    EXPECT_THROW(cross_validation([] { return std::vector<double>{}; }, {1}, wrong), GeometryError);
  }
  EXPECT_THROW(stagnation({1}, {0}), GeometryError);
}

/// The start may be anything, also better than the first steps.
TEST(StopRules, TheStartIsNoLeast) {
  Halving solver(1, 1);
  const double freedom[] = {0, 8, 8, 9.9};
  const auto now = [&] { return std::vector<double>(2, freedom[solver.asked.size()]); };
  const Report report = run(solver, cross_validation(now, {10, 10}) || max_iterations(3));
  EXPECT_EQ(report.block_iterations, (std::vector<int>{3, 3}));
  EXPECT_EQ(report.stopped_by[0], "gcv");
}

TEST(StopRules, WatchedOnesStopNothingAndKeepWhereTheyHeld) {
  Halving solver(1, 1);
  const StopRule watch = watched(discrepancy({0.3, 0.01}));
  const Report report = run(solver, watch || max_iterations(4));
  EXPECT_EQ(report.block_iterations, (std::vector<int>{4, 4}));
  EXPECT_EQ(*watch.kept, (std::vector<double>{2, -1}));
}

TEST(StopRules, TimeLimitStops) {
  Halving solver(1, 1);
  const Report report = run(solver, time_limit(0) || max_iterations(99));
  EXPECT_EQ(report.stopped_by[0], "time_limit");
  EXPECT_EQ(report.iterations, 0);
}

TEST(Run, ShowsEachStateToTheObserver) {
  Halving solver(1, 1);
  std::vector<int> iterations;
  std::vector<double> residuals;
  run(solver, max_iterations(3), [&](const Progress& now) {
    iterations.push_back(now.iteration);
    residuals.push_back(now.residuals[0]);
    EXPECT_EQ(now.first[0], 1);
    EXPECT_GE(now.seconds, 0);
    EXPECT_EQ(&now.solution, &solver.solution());
  });
  EXPECT_EQ(iterations, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(residuals, (std::vector<double>{1, 0.5, 0.25, 0.125}));
}

TEST(Run, IsCancelledByAnObserverThatThrows) {
  Halving solver(1, 1);
  const auto cancel = [](const Progress& now) {
    if (now.iteration == 2) throw std::domain_error("cancelled");
  };
  EXPECT_THROW(run(solver, max_iterations(9), cancel), std::domain_error);
  EXPECT_EQ(solver.asked.size(), 2u);
}

}  // namespace
}  // namespace tandem
