// The same on a GPU. What goes from rank to rank passes through the host where ranks share one, else by NCCL.
#include <gtest/gtest.h>

#include "../../core/error.hpp"
#include "../../core/gpu_messages.hpp"
#include "../../operators/adjointness.hpp"
#include "../../operators/distributed/rank_traffic.hpp"
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

/// The parts include some that pass through the host in several pieces.
TEST_F(RanksOnGpu, HasTheSameBitsWhicheverWayStripsGo) {
  if (all().is_alone()) GTEST_SKIP() << "nothing goes any way";
  std::vector<ConeCase> some = cases_;
  some.push_back({.name = "large", .scan = far_cone(9, 60, 70), .grid = box(190, 203, 301, 0.2)});
  some.back().device = cases_.front().device;
  for (ConeCase& c : some) {
    const LinearOperator fastest = c.over_ranks();
    c.through_host = true;
    const LinearOperator through_host = c.over_ranks();
    const Array x = random_array(fastest.domain(), 5), y = random_array(fastest.range(), 6);
    EXPECT_TRUE(same_bits(through_host * x, fastest * x)) << c.name;
    const Array slowly = adjoint(through_host) * y, fast = adjoint(fastest) * y;
    EXPECT_TRUE(same_bits(slowly, fast)) << c.name;
  }
  EXPECT_EQ(rank_traffic().way == RankWay::gpu_to_gpu,
            GpuMessages::between(all(), cases_.front().device) != nullptr);
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

/// Runs in processes of its own (ctest ranks_gpu_failure), as it is the end of them.
TEST_F(RanksOnGpu, GiveUpWhatARankThatFailedNeverSends) {
  if (GTEST_FLAG_GET(filter) != "RanksOnGpu.GiveUpWhatARankThatFailedNeverSends") GTEST_SKIP();
  if (!GpuMessages::between(all(), cases_.front().device)) GTEST_SKIP() << "ranks do not send by NCCL";
  outlives_failures = true;
  const LinearOperator A = cases_.front().over_ranks();
  const Array x = random_array(A.domain(), 5);
  static_cast<void>(A * x);  // all of them know each other
  all().barrier();
  if (all().rank() == 1) return static_cast<void>(all().fail(3, "this line is part of the test"));
  EXPECT_THROW(static_cast<void>(A * x), DeviceError);
  EXPECT_EQ(all().ending(), 3);
  EXPECT_THROW(static_cast<void>(A * x), DeviceError) << "nothing is sent any more";
}

}  // namespace
}  // namespace tandem::test
