#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../../core/error.hpp"
#include "../../geometry/free_views.hpp"
#include "../support/cone_scans.hpp"

namespace tandem {
namespace {

TEST(ViewSubsets, DealOutEveryViewOnceInSizesThatDifferByOne) {
  Random random(3);
  for (const Index views : {1, 7, 23, 60})
    for (Index count = 1; count <= views; count += count < 5 ? 1 : 4) {
      const auto subsets = view_subsets(test::irregular_angles(views, random), half_turn, count);
      ASSERT_EQ(static_cast<Index>(subsets.size()), count);
      std::vector<Index> all;
      for (const auto& subset : subsets) {
        const auto size = static_cast<Index>(subset.size());
        EXPECT_TRUE(size == views / count || size == (views + count - 1) / count) << count;
        EXPECT_TRUE(std::is_sorted(subset.begin(), subset.end()));
        all.insert(all.end(), subset.begin(), subset.end());
      }
      std::sort(all.begin(), all.end());
      for (Index view = 0; view < views; ++view) EXPECT_EQ(all[static_cast<std::size_t>(view)], view);
    }
}

/// The views may have any order in the file, and may go round several times.
TEST(ViewSubsets, SeeTheObjectFromAllAround) {
  std::vector<double> angles;
  for (int view = 0; view < 90; ++view) angles.push_back(2.4 * view - 50);  // the golden angle, nearly
  for (const double period : {half_turn, whole_turn})
    for (const auto& subset : view_subsets(angles, period, 7)) {
      std::vector<double> some;
      for (const Index view : subset) some.push_back(angles[static_cast<std::size_t>(view)]);
      EXPECT_LT(widest_gap(some, period), 2 * period / 12);
    }
}

TEST(ViewSubsets, TurnFarFromOneToTheNext) {
  const std::vector<double> angles = test::regular_angles(89);
  const auto subsets = view_subsets(angles, half_turn, 89);
  for (std::size_t k = 1; k < subsets.size(); ++k) {
    const double turn = std::abs(angles[static_cast<std::size_t>(subsets[k][0])] -
                                 angles[static_cast<std::size_t>(subsets[k - 1][0])]);
    EXPECT_GT(std::min(turn, half_turn - turn), 0.36 * half_turn);
  }
}

TEST(ViewSubsets, MustBeFromOneToTheNumberOfViews) {
  const std::vector<double> angles = test::regular_angles(5);
  for (const Index count : {-1, 0, 6}) EXPECT_THROW(view_subsets(angles, half_turn, count), GeometryError);
}

/// Free views go round as their sources do, whatever their order; those along no circle as they are.
TEST(ViewSubsets, OfFreeViewsAreThoseOfTheirCircle) {
  ConeBeam cone = test::odd_cone(40, 7, 9);
  for (std::size_t k = 0; k < 40; ++k) cone.angles[k] = std::fmod(2.4 * static_cast<double>(k), whole_turn);
  const FlexibleBeam free = as_free_views(cone);
  const auto subsets = view_subsets(Scan(free), 5), expected = view_subsets(Scan(cone), 5);
  for (const auto& subset : subsets)  // another view may come first
    EXPECT_LT(widest_gap(angles_of(with_views(Scan(cone), subset)), whole_turn), 2 * whole_turn / 8);
  EXPECT_EQ(subsets.size(), expected.size());
  FlexibleBeam line = free;
  for (std::size_t k = 0; k < 40; ++k) line.views[k].source = {static_cast<double>(k), -60, 0};
  std::vector<Index> order(40);
  std::iota(order.begin(), order.end(), Index{0});
  EXPECT_EQ(order_of_views(line), order);
}

TEST(WithViews, KeepsAllElseAndTheShiftsOfTheViews) {
  ParallelBeam scan = test::scan_of(5, 3, 11);
  scan.view_shift_bins = {0.1, 0.2, 0.3, 0.4, 0.5};
  const Scan some = with_views(scan, std::vector<Index>{3, 1});
  const auto& beam = std::get<ParallelBeam>(some);
  EXPECT_EQ(beam.angles, (std::vector{scan.angles[3], scan.angles[1]}));
  EXPECT_EQ(beam.view_shift_bins, (std::vector{0.4, 0.2}));
  EXPECT_EQ(beam.detector.axis_bin, scan.detector.axis_bin);
  const Scan fan = FanBeam{test::odd_cone(4, 1, 9)};
  const Scan one = with_views(fan, std::vector<Index>{2});
  EXPECT_EQ(kind_of(one), FanBeam::kind);
  EXPECT_TRUE(std::holds_alternative<FanBeam>(one));
  EXPECT_EQ(angles_of(one).front(), angles_of(fan)[2]);
}

/// Views of a half acquisition see other rays after half a turn, so both half turns are in each subset.
TEST(ViewSubsets, OfAHalfAcquisitionHaveBothSides) {
  ParallelBeam scan{{96, 1, 1, 1, 70}, test::regular_angles(240, whole_turn)};
  for (const Index count : {2, 10})
    for (const auto& subset : view_subsets(Scan(scan), count)) {
      const auto first = std::ranges::count_if(subset, [](Index view) { return view < 120; });
      EXPECT_EQ(2 * first, std::ssize(subset)) << count;
    }
}

}  // namespace
}  // namespace tandem
