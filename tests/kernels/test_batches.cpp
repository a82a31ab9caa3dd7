#include <gtest/gtest.h>

#include <utility>

#include "../../kernels/cpu/batches.hpp"

namespace tandem::kernels::cpu {
namespace {

TEST(SliceBatches, LeaveAtMostAQuarterOfTheirLanesEmpty) {
  for (const auto& [count, lanes] : {std::pair{1, 1},
                                     {2, 2},
                                     {3, 4},
                                     {4, 4},
                                     {5, 4},
                                     {6, 8},
                                     {11, 8},
                                     {12, 16},
                                     {47, 32},
                                     {48, 64},
                                     {63, 64},
                                     {64, 64},
                                     {200, 64}})
    EXPECT_EQ(next_batch(0, count).lanes, lanes) << count;
}

TEST(SliceBatches, HoldEachSliceOnce) {
  for (Index count = 1; count < 200; ++count) {
    Index next = 0;
    while (next < count) {
      const SliceBatch batch = next_batch(next, count);
      ASSERT_EQ(batch.slices.first, next);
      ASSERT_GT(batch.slices.size(), 0);
      ASSERT_LE(batch.slices.size(), batch.lanes);
      next = batch.slices.last;
    }
    ASSERT_EQ(next, count);
  }
}

}  // namespace
}  // namespace tandem::kernels::cpu
