// The pair for any geometry over ranks is that of one process, and so is what solvers make of it.
#include <gtest/gtest.h>

#include <limits>

#include "../../operators/adjointness.hpp"
#include "../../operators/distributed/rank_traffic.hpp"
#include "../../operators/vector.hpp"
#include "../../solvers/cgls.hpp"
#include "../../solvers/os_sirt.hpp"
#include "../support/flexible_scans.hpp"
#include "../support/tolerances.hpp"
#include "portions.hpp"

namespace tandem::test {
namespace {

using FlexibleCase = RankCase<FlexibleBeam>;

Subsets subsets_here(const FlexibleCase& c, Index count) {
  std::vector<LinearOperator> parts;
  std::vector<std::vector<Index>> views = view_subsets(c.scan, count);
  for (const auto& subset : views) parts.push_back(projector(with_views(c.scan, subset), c.grid));
  return {std::move(parts), std::move(views)};
}

/// Cases on the CPU, or with a GPU for each rank if there is one. Strips have whole bricks: some ranks have
/// none.
std::vector<FlexibleCase> flexible_cases() {
  const auto views = [](Index count, bool parallel = false) {
    Random random(4);
    return random_views(count, 17, 23, 14, random, parallel);
  };
  return {{"odd", views(19), box(13, 43, 9, 0.7)},
          {"parallel", views(19, true), box(13, 43, 9, 0.7)},
          {"brick by brick", views(19), box(13, 43, 9, 0.7), 3},
          {"one view", views(1), box(13, 43, 9, 0.7)},
          {"one brick", views(7), box(13, 5, 9, 0.7)},
          {"large portions", views(5), box(9, 140, 3, 0.2)}};
}

TEST(RanksOfViews, ProjectAsOneProcessDoes) {
  for (const FlexibleCase& c : flexible_cases()) {
    const LinearOperator one = c.here(), several = c.over_ranks();
    const Array x = random_array(one.domain(), 5), y = random_array(one.range(), 6);
    EXPECT_LE(error_of(several * portion_of(x, several.domain()), one * x), tolerance::tiles) << c.name;
    EXPECT_LE(error_of(adjoint(several) * portion_of(y, several.range()), adjoint(one) * y), tolerance::tiles)
        << c.name;
    EXPECT_LE(adjointness(several).mismatch, tolerance::mismatch) << c.name;
  }
}

TEST(RanksOfViews, HaveTheSameBitsInAllRuns) {
  for (const FlexibleCase& c : flexible_cases()) {
    const LinearOperator A = c.over_ranks();
    for (const LinearOperator& B : {A, adjoint(A)}) {
      const Array x = random_array(B.domain(), 5), truth = B * x;
      Array y(B.range());
      for (int run = 0; run < 3; ++run) {
        fill(y, std::numeric_limits<float>::quiet_NaN(), default_stream(Device::cpu()));
        B.apply(1, x, 0, y, default_stream(Device::cpu()));
        EXPECT_TRUE(same_bits(y, truth)) << c.name;
      }
    }
  }
}

TEST(RanksOfViews, SolveAsOneProcessDoes) {
  const FlexibleCase c = flexible_cases().front();
  const LinearOperator one = c.here(), several = c.over_ranks();
  const Array b = one * random_array(one.domain(), 5), own = portion_of(b, several.range());
  const auto after = [](int steps, auto solver) {
    for (int k = 0; k < steps; ++k) solver.step({true});
    return std::move(solver).solution();
  };
  EXPECT_LE(error_of(after(4, Cgls(several, own, Array(several.domain()))),
                     after(4, Cgls(one, b, Array(one.domain())))),
            tolerance::solver_steps);
  const auto subsets = [&](Subsets A, const Array& data) {
    Array x(A.domain());
    return after(3, OsSirt(std::move(A), data.clone(), std::move(x)));
  };
  EXPECT_LE(error_of(subsets(subsets_over_ranks(c, 5), own), subsets(subsets_here(c, 5), b)),
            tolerance::solver_steps);
}

/// Strips of whole bricks, of which some ranks may have none.
TEST(RanksOfViews, SendAllStripsButOneEachWay) {
  for (const FlexibleCase& c : flexible_cases()) {
    const LinearOperator A = c.over_ranks();
    const Array b = portion_of(random_array(A.range().whole(), 5), A.range());
    Cgls solver(A, b, Array(A.domain()));
    const double before = rank_traffic().sent;
    solver.step({true});
    EXPECT_EQ(rank_traffic().sent - before, bytes_of_strips(Cgls::cost.step, c.grid, lines_together(c.scan)))
        << c.name;
  }
}

TEST(RanksOfViews, OnGpusProjectAsOneProcessDoes) {
  const std::vector<Device> here = devices();
  if (here.size() < 2) GTEST_SKIP() << "no GPU";
  for (FlexibleCase c : flexible_cases()) {
    c.device = here[1 + static_cast<std::size_t>(all().rank()) % (here.size() - 1)];
    const LinearOperator one = c.here(), several = c.over_ranks();
    const Array x = random_array(one.domain(), 5), y = random_array(one.range(), 6);
    const Array forward = several * portion_of(x, several.domain());
    EXPECT_LE(error_of(forward, one * x), tolerance::devices) << c.name;
    EXPECT_LE(error_of(adjoint(several) * portion_of(y, several.range()), adjoint(one) * y),
              tolerance::devices)
        << c.name;
    for (int run = 0; run < 3; ++run)
      EXPECT_TRUE(same_bits(several * portion_of(x, several.domain()), forward)) << c.name;
  }
}

}  // namespace
}  // namespace tandem::test
