// Results of a function that are kept.

#include "../../core/newest_results.hpp"

#include <gtest/gtest.h>

#include "../../core/parallel.hpp"

namespace tandem {
namespace {

TEST(NewestResults, AreMadeOnceWhileTheyAreAmongTheNewest) {
  NewestResults<int, int> kept(2);
  int made = 0;
  const auto square = [&](int k) { return *kept.result(k, [&] { return ++made, k * k; }); };
  EXPECT_EQ(square(3), 9);
  EXPECT_EQ(square(4), 16);
  EXPECT_EQ(square(3), 9);
  EXPECT_EQ(made, 2);
  EXPECT_EQ(square(5), 25);  // 4 was asked for longest ago, and goes
  EXPECT_EQ(square(3), 9);
  EXPECT_EQ(made, 3);
  EXPECT_EQ(square(4), 16);
  EXPECT_EQ(made, 4);
}

TEST(NewestResults, AreTheSameForAllThreads) {
  NewestResults<int, int> kept(1);
  std::vector<std::shared_ptr<const int>> found(64);
  parallel_for(std::ssize(found), [&](Index i) { found[i] = kept.result(7, [] { return 49; }); });
  for (const auto& one : found) EXPECT_EQ(one, found.front());
}

TEST(NewestResults, AreNotKeptIfMakingThemFails) {
  NewestResults<int, int> kept(2);
  struct Failed {};
  EXPECT_THROW(kept.result(1, []() -> int { throw Failed{}; }), Failed);
  EXPECT_EQ(*kept.result(1, [] { return 5; }), 5);
}

}  // namespace
}  // namespace tandem
