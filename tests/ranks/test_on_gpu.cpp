// The same on a GPU. What goes from rank to rank passes through the host where ranks share one, else by NCCL.
#include <gtest/gtest.h>

#include "../../operators/adjointness.hpp"
#include "../../operators/gradient.hpp"
#include "../../operators/vector.hpp"
#include "../../solvers/cgls.hpp"
#include "../../solvers/pdhg.hpp"
#include "../support/tolerances.hpp"
#include "portions.hpp"

namespace tandem::test {
namespace {

class RanksOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (devices().size() < 2) GTEST_SKIP() << "no GPU";
    for (ConeCase& c : cases_) c.device = devices()[1 + all().rank() % (devices().size() - 1)];
  }
  static Array zero(const LinearOperator& A) { return Array(A.domain()); }

  std::vector<ConeCase> cases_ = cone_cases();
};

TEST_F(RanksOnGpu, ProjectsAsOneProcessDoes) {
  for (const ConeCase& c : cases_) {
    const LinearOperator one = c.here(), several = c.over_ranks();
    const Array x = random_array(one.domain(), 5), y = random_array(one.range(), 6);
    if (!is_matched(c.model, c.device)) continue;  // textures round otherwise
    EXPECT_LE(error_of(several * portion_of(x, several.domain()), one * x), tolerance::devices) << c.name;
    EXPECT_LE(error_of(adjoint(several) * portion_of(y, several.range()), adjoint(one) * y),
              tolerance::devices)
        << c.name;
    EXPECT_LE(adjointness(several).mismatch, tolerance::footprint_products) << c.name;
  }
}

TEST_F(RanksOnGpu, HasTheSameBitsInAllRuns) {
  for (const ConeCase& c : cases_) {
    const LinearOperator A = c.over_ranks();
    for (const LinearOperator& B : {A, adjoint(A)}) {
      const Array x = random_array(B.domain(), 5), truth = B * x;
      for (int run = 0; run < 3; ++run) EXPECT_TRUE(same_bits(B * x, truth)) << c.name;
    }
  }
}

TEST_F(RanksOnGpu, HasTheGradientOfOneProcess) {
  for (const ConeCase& c : cases_) {
    const LinearOperator one = gradient(c.here().domain()), several = gradient(c.over_ranks().domain());
    const Array x = random_array(one.domain(), 5), q = random_array(one.range(), 6);
    EXPECT_LE(error_of(several * portion_of(x, several.domain()), one * x), 4 * tolerance::u) << c.name;
    EXPECT_LE(error_of(adjoint(several) * portion_of(q, several.range()), adjoint(one) * q), 4 * tolerance::u)
        << c.name;
  }
}

TEST_F(RanksOnGpu, SolversFindTheVolumeOfOneProcess) {
  const ConeCase& c = cases_.front();
  const LinearOperator one = c.here(), several = c.over_ranks();
  const Array b = one * random_array(one.domain(), 5), own = portion_of(b, several.range());
  const auto after = [](int steps, auto solver) {
    for (int k = 0; k < steps; ++k) solver.step({true});
    return std::move(solver).solution();
  };
  EXPECT_LE(error_of(after(4, Cgls(several, own, zero(several))), after(4, Cgls(one, b, zero(one)))),
            tolerance::solver_steps);
  const auto tv = [&](const LinearOperator& A, const Array& data) {
    return after(4, Pdhg(A, data.clone(), zero(A), total_variation(A.domain()), {0.2f}));
  };
  EXPECT_LE(error_of(tv(several, own), tv(one, b)), tolerance::solver_steps);
}

}  // namespace
}  // namespace tandem::test
