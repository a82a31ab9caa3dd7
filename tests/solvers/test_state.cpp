// A run that stops anywhere goes on, in another solver, with the same bits.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <optional>

#include "../../operators/algebra.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/random.hpp"
#include "../../operators/vector.hpp"
#include "../../solvers/ba_gmres.hpp"
#include "../../solvers/cgls.hpp"
#include "../../solvers/landweber.hpp"
#include "../../solvers/lsmr.hpp"
#include "../../solvers/lsqr.hpp"
#include "../../solvers/mltr.hpp"
#include "../../solvers/pdhg.hpp"
#include "../../solvers/sirt.hpp"
#include "../support/scans.hpp"

namespace tandem {
namespace {

constexpr Index rows = 3;
constexpr int steps = 9;

/// A copy of a state that outlives its solver.
struct Kept {
  std::vector<std::vector<float>> vectors;
  std::vector<std::vector<std::byte>> numbers;
  RunState run;

  Kept(const SolverState& state, const RunState& at) : run(at) {
    for (const StatePart& part : state) {
      if (const auto* vector = std::get_if<VectorView>(&part.value))
        vectors.emplace_back(vector->data, vector->data + vector->space.size());
      else
        numbers.emplace_back(std::get<1>(part.value).begin(), std::get<1>(part.value).end());
    }
  }
  void put_into(const SolverState& state) const {
    std::size_t v = 0, n = 0;
    ASSERT_EQ(vectors.size() + numbers.size(), state.size());
    for (const StatePart& part : state) {
      if (const auto* vector = std::get_if<VectorView>(&part.value)) {
        ASSERT_EQ(static_cast<Index>(vectors[v].size()), vector->space.size()) << part.name;
        std::copy(vectors[v].begin(), vectors[v].end(), vector->data), ++v;
      } else {
        ASSERT_EQ(numbers[n].size(), std::get<1>(part.value).size()) << part.name;
        std::copy(numbers[n].begin(), numbers[n].end(), std::get<1>(part.value).begin()), ++n;
      }
    }
  }
};

struct Equation {
  ParallelBeam scan = test::scan_of(11, rows, 19);
  LinearOperator A = projector(scan, test::grid_of(13, 17, rows), Model::joseph);
  Array b{A.range()};
  std::vector<double> noise;  ///< so that rows stop at different steps

  Equation() {
    Random random(7);
    b = A * uniform_array(A.domain(), random);
    axpby(std::vector<float>{0.3f, 0.02f, 1}, sign_array(A.range(), random), std::vector<float>{1}, b,
          default_stream(Device::cpu()));
    for (const double level : {0.3, 0.02, 1.0}) noise.push_back(level * 2 * std::sqrt(11.0 * 19.0));
  }
};

void expect_same(const Array& a, const Array& b, const char* what) {
  EXPECT_EQ(std::memcmp(a.data(), b.data(), sizeof(float) * static_cast<std::size_t>(a.size())), 0) << what;
}

/// `make` makes the same solver each time.
template <class Make>
void expect_goes_on(const Equation& equation, const Make& make) {
  const StopRule rule = discrepancy(equation.noise) || max_iterations(steps);
  std::vector<Kept> kept;
  auto whole = make();
  RunState state;
  const Report report = run(
      whole, rule, [&](const Progress&) { kept.emplace_back(whole.state(), state); }, state);
  ASSERT_GT(report.iterations, 2);
  ASSERT_EQ(kept.size(), static_cast<std::size_t>(report.iterations) + 1);
  for (const Kept& at : kept) {
    auto other = make();
    if (at.run.report.iterations == 4) other.step(ActiveBlocks(rows, true));  // its own state is overwritten
    if constexpr (GrowsWithSteps<decltype(other)>) other.make_room(at.run.report.iterations);
    at.put_into(other.state());
    RunState from = at.run;
    const Report rest = run(other, rule, {}, from);
    const std::string where = "from iteration " + std::to_string(at.run.report.iterations);
    expect_same(other.solution(), whole.solution(), where.c_str());
    EXPECT_EQ(other.residual_norms(), whole.residual_norms()) << where;
    EXPECT_EQ(rest.residuals, report.residuals) << where;
    EXPECT_EQ(rest.block_iterations, report.block_iterations) << where;
    EXPECT_EQ(rest.stopped_by, report.stopped_by) << where;
    EXPECT_EQ(rest.iterations, report.iterations) << where;
  }
}

template <class S>
class StateOfKrylov : public ::testing::Test {};
using Krylov = ::testing::Types<Cgls, Lsqr, Lsmr, BaGmres>;
TYPED_TEST_SUITE(StateOfKrylov, Krylov);

TYPED_TEST(StateOfKrylov, IsWhole) {
  const Equation e;
  expect_goes_on(e, [&] { return TypeParam(e.A, e.b, Array(e.A.domain())); });
}

TEST(State, OfSirtIsWhole) {
  const Equation e;
  for (const Bounds& bounds : {Bounds{}, above_zero})
    expect_goes_on(e, [&] { return Sirt(e.A, e.b, Array(e.A.domain()), {1.3f, bounds}); });
}

TEST(State, OfLandweberIsWhole) {
  const Equation e;
  expect_goes_on(e, [&] { return Landweber(e.A, e.b, Array(e.A.domain()), {0.9f, above_zero}); });
}

TEST(State, OfMltrIsWhole) {
  const Equation e;
  Array blank(e.A.range());
  fill(blank, 30, default_stream(Device::cpu()));
  Array counts = blank.clone();
  attenuate(e.b, counts, default_stream(Device::cpu()));
  expect_goes_on(e, [&] { return Mltr(e.A, counts, blank, Array(e.A.domain())); });
}

TEST(State, OfPdhgIsWhole) {
  const Equation e;
  Array weights(e.A.range());
  for (Index i = 0; i < weights.size(); ++i) weights.data()[i] = 0.25f * static_cast<float>(i % 9);
  for (const bool weighted : {false, true})
    expect_goes_on(e, [&] {
      return Pdhg(e.A, e.b.clone(), Array(e.A.domain()), total_variation(e.A.domain()), {0.1f},
                  weighted ? std::optional(weights.clone()) : std::nullopt, {.bounds = above_zero});
    });
  const Levels levels{.low = 0, .high = 0.5f, .first_steps = 2, .steps_a_stage = 1};
  expect_goes_on(e, [&] {
    return Pdhg(e.A, e.b.clone(), Array(e.A.domain()), total_variation(e.A.domain()), {0.1f}, {},
                {.bounds = {.lowest = 0, .highest = 0.5f}, .levels = levels});
  });
}

/// `rule_for` makes the same rule for a solver each time; the run goes on from every iteration.
template <class RuleFor>
void expect_rule_goes_on(const Equation& e, const RuleFor& rule_for) {
  const auto make = [&] { return Cgls(e.A, e.b, Array(e.A.domain())); };
  auto whole = make();
  const StopRule rule = rule_for(whole) || max_iterations(30);
  std::vector<Kept> kept;
  RunState state;
  const Report report = run(
      whole, rule, [&](const Progress&) { kept.emplace_back(whole.state(), state); }, state);
  ASSERT_EQ(report.stopped_by, std::vector<std::string>(rows, rule.name));
  ASSERT_GT(report.iterations, 2);
  for (const Kept& at : kept) {
    auto other = make();
    const StopRule again = rule_for(other) || max_iterations(30);
    at.put_into(other.state());
    RunState from = at.run;
    EXPECT_EQ(run(other, again, {}, from).block_iterations, report.block_iterations)
        << rule.name << " from iteration " << at.run.report.iterations;
    expect_same(other.solution(), whole.solution(), rule.name.c_str());
  }
}

TEST(State, OfRulesIsKept) {
  const Equation e;
  expect_rule_goes_on(e, [](Cgls& solver) { return stagnation(solver, std::vector<Index>(rows, 11 * 19)); });
  expect_rule_goes_on(e, [](Cgls&) { return white_residual(); });
}

TEST(State, OfRulesIsForgottenByTheNextRun) {
  const Equation e;
  const StopRule rule = white_residual() || max_iterations(30);
  const auto stops = [&] {
    Cgls solver(e.A, e.b, Array(e.A.domain()));
    return run(solver, rule).block_iterations;
  };
  const std::vector<int> first = stops();
  EXPECT_EQ(stops(), first);
}

/// The objective agrees with a sum in double, from the weights themselves.
TEST(Objective, OfPdhgIsWhatItMinimises) {
  const Equation e;
  Array weights(e.A.range());
  for (Index i = 0; i < weights.size(); ++i) weights.data()[i] = 0.25f * static_cast<float>(i % 9);
  for (const bool weighted : {false, true}) {
    Pdhg solver(e.A, e.b.clone(), Array(e.A.domain()), total_variation(e.A.domain()), {0.1f, 0.2f, 0.3f},
                weighted ? std::optional(weights.clone()) : std::nullopt);
    for (int k = 0; k < 3; ++k) solver.step(ActiveBlocks(rows, true));
    const std::vector<double> uneven = solver.regularity();
    const Array Ax = e.A * solver.solution();
    std::vector<double> expected(rows);
    for (Index i = 0; i < Ax.size(); ++i) {
      const double left = static_cast<double>(e.b.data()[i]) - static_cast<double>(Ax.data()[i]);
      const double weight = weighted ? static_cast<double>(weights.data()[i]) : 1;
      expected[static_cast<std::size_t>(i / 19 % rows)] += 0.5 * weight * left * left;
    }
    const std::vector<double> objective = solver.objective();
    for (std::size_t k = 0; k < rows; ++k) {
      expected[k] += 0.1 * static_cast<double>(k + 1) * uneven[k];
      EXPECT_NEAR(objective[k], expected[k], 1e-5 * expected[k]) << k << (weighted ? " weighted" : "");
    }
  }
}

}  // namespace
}  // namespace tandem
