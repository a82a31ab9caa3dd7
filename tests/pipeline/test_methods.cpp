// What methods say of themselves against what they do.

#include <gtest/gtest.h>

#include <cctype>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "../../core/error.hpp"
#include "../../operators/projector.hpp"
#include "../../pipeline/methods/method.hpp"
#include "../../pipeline/watch/outcome.hpp"
#include "../../solvers/run.hpp"
#include "../support/scans.hpp"

namespace tandem::pipeline {
namespace {

/// Passes everything on, and counts how often.
struct Counter {
  LinearOperator A;
  Applications* made;
  Space domain() const { return A.domain(); }
  Space range() const { return A.range(); }
  void apply(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const {
    ++made->forward;
    A.apply(alpha, x, beta, y, stream);
  }
  void apply_adjoint(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const {
    ++made->adjoint;
    A.apply_adjoint(alpha, x, beta, y, stream);
  }
};

void expect_made(const Applications& made, const Applications& said, const char* when,
                 std::string_view method) {
  EXPECT_EQ(made.forward, said.forward) << method << ", " << when;
  EXPECT_EQ(made.adjoint, said.adjoint) << method << ", " << when;
}

TEST(Methods, CostWhatTheySay) {
  const ParallelBeam scan{{17, 3, 1, 1, 8.25}, {0, 0.4, 1.1, 1.9, 2.6}, {}};
  const LinearOperator A = projector(scan, fitting_grid(scan), Model::pixel_driven);
  for (const Method& method : methods()) {
    if (!method.iterates()) continue;
    Applications made;
    Array b(A.range());
    for (Index i = 0; i < b.size(); ++i) b.data()[i] = 1 + 0.1f * static_cast<float>(i % 7);
    AnySolver solver = method.solver({Counter{A, &made}, std::move(b)}, Array(A.domain()), {});
    expect_made(made, method.kind.cost.preparation, "preparation", method.name);
    made = {};
    if (solver.tells_its_reach()) static_cast<void>(solver.traces());
    expect_made(made, method.kind.cost.traces, "traces", method.name);
    EXPECT_EQ(solver.tells_its_reach(), method.kind.tells.reach) << method.name;
    EXPECT_EQ(solver.residual() != nullptr, method.kind.tells.residual) << method.name;
    made = {};
    for (int k = 0; k < 3; ++k) solver.step(ActiveBlocks(3, true));
    const Applications& step = method.kind.cost.step;
    expect_made(made, {3 * step.forward, 3 * step.adjoint}, "three steps", method.name);
    EXPECT_EQ(solver.state().has_value(), method.kind.tells.state) << method.name;
  }
}

TEST(Methods, SayWhereTheyDiverged) {
  Plan plan;
  plan.job.method = &method_named("sirt");
  plan.flow.pair.matched = false;
  const Iterated chunk{{0, 2}, 7, {7, 3}, {"max_iterations", "divergence"}, {4, 1e4}};
  Outcome outcome;
  outcome.iterated = {chunk};
  conclude_iterations(plan, outcome);
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_NE(outcome.warnings[0].find("in 1 of 2 slices"), std::string::npos) << outcome.warnings[0];
  plan.flow.pair.matched = true;
  Outcome of_a_pair;
  of_a_pair.iterated = {chunk};
  EXPECT_THROW(conclude_iterations(plan, of_a_pair), GeometryError);
}

TEST(Methods, SayWhatCountsAsZero) {
  Plan plan;
  plan.job.method = &method_named("mlem");
  Outcome outcome;
  for (const Index first : {0, 1}) {
    Iterated chunk{{first, first + 1}, 1, {1}, {"max_iterations"}, {4, 1}};
    chunk.data = 50, chunk.below_zero = first == 0 ? 0 : 2;
    outcome.iterated.push_back(std::move(chunk));
  }
  conclude_iterations(plan, outcome);
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_NE(outcome.warnings[0].find("2 % of all"), std::string::npos) << outcome.warnings[0];
}

TEST(Methods, HaveOneNameEachAndAreFoundByIt) {
  std::set<std::string_view> names;
  for (const Method& method : methods()) {
    EXPECT_TRUE(names.insert(method.name).second) << method.name;
    EXPECT_EQ(&method_named(method.name), &method);
    EXPECT_FALSE(method.help.empty()) << method.name;
    EXPECT_FALSE(method.holds.empty()) << method.name;
    if (!method.name_for_cones.empty()) {
      EXPECT_TRUE(names.insert(method.name_for_cones).second) << method.name_for_cones;
      EXPECT_EQ(&method_named(method.name_for_cones), &method);
    }
  }
  EXPECT_EQ(method_named("fdk").name, "fbp");
  for (const char* unknown : {"", "fpb", "FBP"})
    EXPECT_THROW(method_named(unknown), GeometryError) << unknown;
}

std::string text_of(const std::string& file) {
  std::ifstream stream(std::string(TANDEM_DOCS "/") + file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string in_capitals(std::string_view name) {
  std::string text(name);
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

TEST(Methods, HaveTheirFormulasInTheDocs) {
  const std::string page = in_capitals(text_of("kernels/iterations.md"));
  for (const Method& method : methods()) {
    const std::string due = "**" + in_capitals(method.name) + "**";
    EXPECT_TRUE(!method.iterates() || page.find(due) != std::string::npos) << due;
  }
}

/// A solver that keeps no account of its reach.
struct Still {
  Array x{Space({1, 1, 1})};
  std::vector<double> norms{3};
  void step(const ActiveBlocks&) { norms.front() /= 2; }
  const Array& solution() const& { return x; }
  Array solution() && { return std::move(x); }
  const std::vector<double>& residual_norms() const { return norms; }
};

TEST(Methods, NeedNotTellTheirReach) {
  AnySolver solver{Still{}};
  EXPECT_FALSE(solver.tells_its_reach());
  const Report report = run(solver, relative_residual(0.25));
  EXPECT_EQ(report.iterations, 2);
  EXPECT_EQ(report.stopped_by.front(), "relative_residual");
}

}  // namespace
}  // namespace tandem::pipeline
