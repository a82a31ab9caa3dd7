// Results of a function that are kept.

#include "../../core/newest_results.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <latch>
#include <mutex>

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

/// A key that tells when it is compared, which is when somebody asks for what is there or is being made.
struct HeardKey {
  std::function<void()> compared;
  bool operator==(const HeardKey&) const { return compared(), true; }
};

TEST(NewestResults, AreMadeOnceForThreadsThatAskAtTheSameTime) {
  NewestResults<HeardKey, int> kept(1);
  std::latch first_makes(1), second_is_there(1);
  std::once_flag arrived;
  const auto second_arrives = [&] { std::call_once(arrived, [&] { second_is_there.count_down(); }); };
  std::atomic<int> made = 0;
  on_threads(2, [&](Index thread) {
    if (thread == 1) first_makes.wait();
    const auto found = kept.result({second_arrives}, [&] {
      ++made;
      thread == 0 ? (first_makes.count_down(), second_is_there.wait()) : second_arrives();
      return 49;
    });
    EXPECT_EQ(*found, 49);
  });
  EXPECT_EQ(made, 1);
}

TEST(NewestResults, AreMadeAtTheSameTimeForDifferentKeys) {
  NewestResults<int, int> kept(1);
  std::latch all_make(4);
  on_threads(4, [&](Index k) {
    EXPECT_EQ(*kept.result(k, [&] { return all_make.arrive_and_wait(), k * k; }), k * k);
  });
}

TEST(NewestResults, AreForgottenBeyondTheBudget) {
  NewestResults<int, int> kept(9, [](const int& bytes) { return bytes; });
  int made = 0;
  const auto taken = [&](int bytes) {
    return *kept.result(
        bytes, [&] { return ++made, bytes; }, 10);
  };
  for (const int bytes : {3, 7, 3, 7}) EXPECT_EQ(taken(bytes), bytes);
  EXPECT_EQ(made, 2);
  taken(2);  // 2 and 7 are left
  taken(7), taken(3);
  EXPECT_EQ(made, 4);
  taken(20);  // too large, and alone
  taken(20), taken(3);
  EXPECT_EQ(made, 6);
}

TEST(NewestResults, AreNotKeptIfMakingThemFails) {
  NewestResults<int, int> kept(2);
  struct Failed {};
  EXPECT_THROW(kept.result(1, []() -> int { throw Failed{}; }), Failed);
  EXPECT_EQ(*kept.result(1, [] { return 5; }), 5);
  EXPECT_THROW(kept.result(2, []() -> int { throw Failed{}; }), Failed);
  EXPECT_THROW(kept.result(3, []() -> int { throw Failed{}; }), Failed);
  EXPECT_EQ(*kept.result(1, [] { return 6; }), 5);
}

}  // namespace
}  // namespace tandem
