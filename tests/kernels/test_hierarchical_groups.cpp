// The plan of the hierarchical pair: which views its groups have, and what it holds of them.

#include <gtest/gtest.h>

#include <numbers>

#include "../../kernels/hierarchical.hpp"

namespace tandem::test {
namespace {

using kernels::Grouping;
using kernels::HierarchicalViews;

ConeBeam whole_turn(Index views, Index rows) {
  std::vector<double> angles;
  for (Index v = 0; v < views; ++v)
    angles.push_back(2 * std::numbers::pi * static_cast<double>(v) / static_cast<double>(views));
  return {{48, rows, 2, 2, 23.5}, angles, 75, 150, 0.5 * static_cast<double>(rows - 1)};
}

/// Edges of groups are at angles of views, where rounding puts these on either side.
TEST(HierarchicalGroups, HaveEachViewOnce) {
  for (const Index views : {1, 5, 64, 128, 360})
    for (const Grouping& grouping : {Grouping{4, 16}, Grouping{8, 1000}, Grouping{4, 2}, Grouping{6, 3}}) {
      const auto n =
          kernels::pack_hierarchical(whole_turn(views, 36), {{24, 24, 24}, {1, 1, 1}, {}}, grouping);
      std::vector<int> times(static_cast<std::size_t>(views), 0);
      for (const kernels::ViewGroup& group : n->groups)
        if (group.is_view()) ++times[static_cast<std::size_t>(group.view)];
      EXPECT_EQ(times, std::vector<int>(static_cast<std::size_t>(views), 1))
          << views << " views, " << grouping.groups_a_quarter << " groups a quarter";
    }
}

/// A detector of 16 rows before a tall grid: rows turn by less than a tenth against each other in a group.
TEST(HierarchicalGroups, HoldNoRowsThatNoViewHas) {
  const auto n = kernels::pack_hierarchical(whole_turn(64, 16), {{24, 24, 200}, {1, 1, 1}, {}}, {8, 1000});
  constexpr Index taps = 8, vectors = 2 * kernels::rows_a_vector;
  for (const kernels::ViewGroup& group : n->groups) {
    if (group.is_view() || group.turned.empty()) continue;
    for (const kernels::DisparityPlane& plane : group.planes)
      EXPECT_LE(plane.rows.size(), 18 + 2 * taps + vectors);
  }
}

}  // namespace
}  // namespace tandem::test
