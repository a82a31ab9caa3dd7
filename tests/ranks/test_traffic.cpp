// What ranks send each other, counted where it is sent, is what the plan says.
#include <gtest/gtest.h>

#include <array>

#include "../../operators/gradient.hpp"
#include "../../operators/rank_traffic.hpp"
#include "../../operators/vector.hpp"
#include "../../pipeline/cluster.hpp"
#include "../../solvers/cgls.hpp"
#include "portions.hpp"

namespace tandem::test {
namespace {

/// Even and odd splits for 2, 3 and 4 ranks, parts of a strip, and more ranks than lines or views.
std::vector<ConeCase> cases() {
  return {{"even", far_cone(24, 5, 23), box(13, 24, 5, 0.7)},
          {"odd", far_cone(19, 5, 23), box(13, 11, 5, 0.7)},
          {"odd, parts of 2 lines", far_cone(19, 5, 23), box(13, 23, 5, 0.7), 2},
          {"two lines", far_cone(19, 5, 23), box(13, 2, 5, 0.7)},
          {"one view", far_cone(1, 5, 23), box(13, 11, 5, 0.7)}};
}

struct Bytes {
  double sent, received;
};
/// By this rank, while it does something.
template <class Work>
Bytes counted(const Work& work) {
  const RankTraffic before = rank_traffic();
  work();
  const RankTraffic after = rank_traffic();
  return {after.sent - before.sent, after.received - before.received};
}

double planned(const ConeCase& c, const Applications& some) {
  return pipeline::bytes_sent(some, c.grid, all().rank(), all().size());
}

TEST(RankTraffic, IsAsPlannedInEachStepOfCgls) {
  for (const ConeCase& c : cases()) {
    const LinearOperator A = c.over_ranks();
    const Array b = portion_of(random_array(A.range().whole(), 5), A.range());
    std::optional<Cgls> solver;
    EXPECT_EQ(counted([&] { solver.emplace(A, b, Array(A.domain())); }).sent,
              planned(c, Cgls::cost.preparation))
        << c.name;
    for (int k = 0; k < 3; ++k)
      EXPECT_EQ(counted([&] { solver->step({true}); }).sent, planned(c, Cgls::cost.step)) << c.name;
  }
}

/// Each strip is sent once less than there are ranks, and what is sent is received.
TEST(RankTraffic, MakesUpAllStripsForAllRanks) {
  for (const ConeCase& c : cases()) {
    const LinearOperator A = c.over_ranks();
    const Array x(A.domain()), y(A.range());
    Array z(A.domain()), w(A.range());
    Stream& stream = default_stream(Device::cpu());
    const double volume = 4 * static_cast<double>(A.domain().whole().size());
    for (const Bytes some : {counted([&] { A.apply(1, x, 0, w, stream); }),
                             counted([&] { A.apply_adjoint(1, y, 0, z, stream); })}) {
      std::array sums{some.sent, some.received};
      all().all_reduce(sums);
      EXPECT_EQ(sums[0], (all().size() - 1) * volume) << c.name;
      EXPECT_EQ(sums[1], sums[0]) << c.name;
    }
  }
}

TEST(RankTraffic, KnowsTheFirstRankOfTheForecast) {
  const pipeline::Cluster cluster{all().size(), 1e12, 1, 1, 1};
  for (const ConeCase& c : cases()) {
    const auto forecast = pipeline::forecast_of_rank(c.scan, c.grid, Cgls::cost, cluster,
                                                     [](Shape, Shape) { return WorkingMemory{}; });
    EXPECT_EQ(forecast.sent, pipeline::bytes_sent(Cgls::cost.step, c.grid, 0, all().size())) << c.name;
  }
}

/// A plane to each neighbour that is there, one way forward and the other way back.
TEST(RankTraffic, IsAPlaneOfAGradientBetweenNeighbours) {
  for (const ConeCase& c : cases()) {
    const LinearOperator D = gradient(c.over_ranks().domain());
    const Array x(D.domain());
    Array field(D.range());
    std::array sums{counted([&] { D.apply(1, x, 0, field, default_stream(Device::cpu())); }).sent};
    all().all_reduce(sums);
    const Index lines = c.grid.size[1], with_lines = std::min<Index>(all().size(), lines);
    EXPECT_EQ(sums[0], 4 * static_cast<double>((with_lines - 1) * c.grid.size[0] * c.grid.size[2])) << c.name;
  }
}

TEST(RankTraffic, SaysTheWay) {
  const ConeCase c = cases().front();
  const LinearOperator A = c.over_ranks();
  static_cast<void>(A * Array(A.domain()));
  EXPECT_EQ(name_of(rank_traffic().way), all().is_alone() ? "" : "MPI");
}

}  // namespace
}  // namespace tandem::test
