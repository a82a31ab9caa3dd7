// The bytes that ranks send each other, counted where they are sent.
#include <gtest/gtest.h>

#include <array>

#include "../../operators/distributed/rank_traffic.hpp"
#include "../../operators/gradient.hpp"
#include "../../operators/vector.hpp"
#include "../../pipeline/methods/method.hpp"
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

/// The bytes that this rank sends in applications of the gradient: a line to the rank before, and in its
/// adjoint one to the next rank.
double bytes_of_planes(const Applications& some, const VolumeGrid& grid) {
  const auto [nx, ny, nz] = grid.size;
  const Range own = portion_of_rank(ny, all().rank(), all().size());
  if (own.size() == 0) return 0;
  return 4.0 * (nx * nz * (some.forward * (own.first > 0) + some.adjoint * (own.last < ny)));
}

/// Strips become whole slices, dealt out to ranks, and strips again.
double bytes_of_slices(const VolumeGrid& grid) {
  const auto [nx, ny, nz] = grid.size;
  const Range lines = portion_of_rank(ny, all().rank(), all().size()),
              slices = portion_of_rank(nz, all().rank(), all().size());
  return 4.0 * nx * (lines.size() * (nz - slices.size()) + slices.size() * (ny - lines.size()));
}

struct Bytes {
  double sent, received;
};
/// Bytes that this rank sends and receives while it does something.
template <class Work>
Bytes counted(const Work& work) {
  const RankTraffic before = rank_traffic();
  work();
  const RankTraffic after = rank_traffic();
  return {after.sent - before.sent, after.received - before.received};
}

TEST(RankTraffic, IsThatOfEachStepOfCgls) {
  for (const ConeCase& c : cases()) {
    const LinearOperator A = c.over_ranks();
    const Array b = portion_of(random_array(A.range().whole(), 5), A.range());
    std::optional<Cgls> solver;
    EXPECT_EQ(counted([&] { solver.emplace(A, b, Array(A.domain())); }).sent,
              bytes_of_strips(Cgls::cost.preparation, c.grid))
        << c.name;
    for (int k = 0; k < 3; ++k)
      EXPECT_EQ(counted([&] { solver->step({true}); }).sent, bytes_of_strips(Cgls::cost.step, c.grid))
          << c.name;
  }
}

/// Every solver of the table sends strips for each of its subsets. Total variation also sends planes for
/// differences, and whole slices for its metric.
TEST(RankTraffic, IsThatOfEveryMethod) {
  for (const pipeline::Method& method : pipeline::methods()) {
    if (!method.iterates()) continue;
    for (const ConeCase& c : cases()) {
      const Index views = views_of(c.scan);
      pipeline::Recipe options;
      options.tv_weight = 0.1f;
      if (method.subsets) options.subsets = method.subsets(options, views);
      const auto parts = static_cast<int>(options.subsets.value_or(1));
      double before = bytes_of_strips(parts * method.preparation_with(options), c.grid),
             a_step = bytes_of_strips(parts * method.step_with(options), c.grid);
      if (method.name == "tv") {
        before += bytes_of_planes({3, 0}, c.grid) + bytes_of_slices(c.grid);
        a_step += bytes_of_planes({2, 1}, c.grid) + bytes_of_slices(c.grid);
      }
      const LinearOperator A = c.over_ranks();
      pipeline::Equations equations{A, Array(A.range())};
      fill(equations.y, 1, default_stream(Device::cpu()));
      equations.subsets = [&](Index count) { return subsets_over_ranks(c, count); };
      std::optional<AnySolver> solver;
      const auto make = [&] {
        solver.emplace(method.solver(std::move(equations), Array(A.domain()), options));
      };
      EXPECT_EQ(counted(make).sent, before) << method.name << ", " << c.name;
      for (int k = 0; k < 2; ++k)
        EXPECT_EQ(counted([&] { solver->step({true}); }).sent, a_step) << method.name << ", " << c.name;
    }
  }
}

/// Each strip is sent once less than there are ranks, and all bytes sent are received.
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
