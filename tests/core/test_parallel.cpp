#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tandem/core/parallel.hpp"

namespace tandem {
namespace {

std::vector<int> visits(Index count) {
  std::vector<int> seen(static_cast<std::size_t>(count), 0);
  parallel_for(count, [&](Index i) { ++seen[static_cast<std::size_t>(i)]; });
  return seen;
}

TEST(ParallelFor, VisitsEachIndexOnce) {
  for (Index count : {0, 1, 2, 997})
    EXPECT_EQ(visits(count), std::vector<int>(static_cast<std::size_t>(count), 1)) << count;
}

TEST(ParallelFor, PassesOnWhatABodyThrows) {
  EXPECT_THROW(parallel_for(101,
                            [](Index i) {
                              if (i == 67) throw std::domain_error("67");
                            }),
               std::domain_error);
  EXPECT_EQ(visits(101), std::vector<int>(101, 1));  // and works after it
}

TEST(ParallelFor, MayBeNested) {
  std::atomic<int> calls = 0;
  parallel_for(13,
               [&](Index) { parallel_for(17, [&](Index) { parallel_for(3, [&](Index) { ++calls; }); }); });
  EXPECT_EQ(calls, 13 * 17 * 3);
}

TEST(ParallelFor, PassesOnWhatANestedBodyThrows) {
  const auto nested = [](Index i) {
    parallel_for(5, [i](Index j) {
      if (i == 2 && j == 3) throw std::domain_error("2, 3");
    });
  };
  EXPECT_THROW(parallel_for(7, nested), std::domain_error);
}

TEST(ThreadLimit, OfOneKeepsALoopOnTheCallingThread) {
  const ThreadLimit limit(1);
  EXPECT_EQ(thread_count(), 1);
  std::atomic<int> elsewhere = 0;
  const auto caller = std::this_thread::get_id();
  parallel_for(101, [&](Index) { elsewhere += std::this_thread::get_id() != caller; });
  EXPECT_EQ(elsewhere, 0);
}

TEST(ThreadLimit, EndsWithItsLifeAndNests) {
  const int before = thread_count();
  {
    const ThreadLimit all(0);
    EXPECT_EQ(thread_count(), before);
    const ThreadLimit one(1);
    EXPECT_EQ(thread_count(), 1);
  }
  EXPECT_EQ(thread_count(), before);
}

TEST(ThreadLimit, AboveTheCoresGivesTheCores) {
  const int before = thread_count();
  const ThreadLimit many(before + 7);
  EXPECT_EQ(thread_count(), before);
}

}  // namespace
}  // namespace tandem
