#include "../../core/desk.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../../core/random.hpp"

namespace tandem {
namespace {

TEST(HelperTakes, WhatItEndsNoLaterThanTheOthersEndAll) {
  const std::vector<double> four{1, 1, 1, 1}, odd{2, 1, 5};
  EXPECT_TRUE(helper_takes(four, 4, 1, {0}));  // 4 against 4
  EXPECT_FALSE(helper_takes(four, 4.1, 1, {0}));
  EXPECT_TRUE(helper_takes(four, 4.1, 1, {0.5}));  // a busy worker begins later
  EXPECT_TRUE(helper_takes(four, 2, 1, {0, 0}));   // two others share the items
  EXPECT_FALSE(helper_takes(four, 2.1, 1, {0, 0}));
  EXPECT_TRUE(helper_takes(four, 4, 1, {0, 9}));  // one of them is too busy for any
  EXPECT_FALSE(helper_takes(four, 4.1, 1, {0, 9}));
  EXPECT_TRUE(helper_takes(odd, 3, 1, {0, 0}));  // its first item has size 2; the others end after 2 and 6
  EXPECT_FALSE(helper_takes(odd, 3.1, 1, {0, 0}));
}

/// Workers of constant speed at a desk, with a clock of their own. All items are there from the start.
struct Course {
  double seconds = 0;
  Index helped = 0;
  std::vector<int> times;  ///< how often each item was taken
};

Course run_of(const std::vector<double>& sizes, const std::vector<double>& speeds, bool helper) {
  const auto workers = static_cast<Index>(speeds.size());
  Desk desk(workers, helper ? sizes : std::vector<double>());
  Course run{.times = std::vector<int>(sizes.size())};
  for (std::size_t k = 0; k < sizes.size(); ++k) desk.add({.number = static_cast<Index>(k)});
  struct Task {
    double end;
    Item item;
  };
  std::vector<Task> at_work;
  for (;;) {
    while (const auto item = desk.next(run.seconds)) {
      const auto number = static_cast<std::size_t>(item->number);
      ++run.times[number];
      run.helped += helper && item->worker + 1 == workers;
      at_work.push_back(
          {run.seconds + sizes[number] * speeds[static_cast<std::size_t>(item->worker)], *item});
    }
    if (at_work.empty()) return run;
    const auto first = std::min_element(at_work.begin(), at_work.end(),
                                        [](const Task& a, const Task& b) { return a.end < b.end; });
    const Task done = *first;
    at_work.erase(first);
    run.seconds = done.end;
    desk.end(done.item, run.seconds);
  }
}

/// The sizes of chunks, the last of which is short; the first one for the helper is cut.
std::vector<double> vector_bytes(int chunks, double chunk, int others) {
  std::vector<double> sizes(static_cast<std::size_t>(chunks), chunk);
  sizes.back() = std::ceil(chunk / 3);
  sizes.insert(sizes.begin() + Desk::first_for_helper(others), {1, chunk - 1});
  return sizes;
}

TEST(Desk, AHelperNeverMakesARunLonger) {
  Random random(1);
  for (int round = 0; round < 500; ++round) {
    const int others = 1 + static_cast<int>(random.uniform() * 5);
    const auto sizes = vector_bytes(3 * others + 3 + static_cast<int>(random.uniform() * 200),
                                    2 + std::floor(random.uniform() * 60), others);
    std::vector<double> speeds(static_cast<std::size_t>(others), 0.013);
    const double alone = run_of(sizes, speeds, false).seconds;
    speeds.push_back(0.013 * std::pow(Desk::believed, random.uniform()));  // as slow as believed, at most
    const Course helped = run_of(sizes, speeds, true);
    EXPECT_EQ(helped.times, std::vector<int>(sizes.size(), 1));
    EXPECT_LE(helped.seconds, alone * (1 + 1e-12)) << "round " << round;
  }
}

/// Three workers, one of them slower, share the items, less what the end and the caution cost.
TEST(Desk, AHelperMakesALongRunShorter) {
  const auto sizes = vector_bytes(400, 8, 2);
  for (const double slower : {1.0, 3.0, 10.0, 30.0}) {
    const double alone = run_of(sizes, {1, 1}, false).seconds, ideal = alone * 2 / (2 + 1 / slower);
    const Course helped = run_of(sizes, {1, 1, slower}, true);
    EXPECT_LE(helped.seconds, ideal + 8 * Desk::spare * slower) << slower;
    EXPECT_GE(helped.helped, 0.7 * 400 / (2 * slower + 1)) << slower;
  }
}

/// A desk of two. The other worker has had all items before the first one for the helper, a second each. Each
/// item came before the one before it was done, or late.
Desk warm_desk(Index items, bool late = false) {
  Desk desk(2, std::vector<double>(static_cast<std::size_t>(items), 1));
  desk.add({.number = 0});
  for (Index k = 0; k < Desk::first_for_helper(1); ++k) {
    const auto item = desk.next(static_cast<double>(k));
    if (!late) desk.add({.number = k + 1});
    desk.end(*item, static_cast<double>(k + 1));
    if (late) desk.add({.number = k + 1});
  }
  return desk;
}

TEST(Desk, AHelperWaitsUntilOthersHaveShownTheirSpeed) {
  Desk desk(2, std::vector<double>(1000, 1));
  for (Index k = 0; k < 10; ++k) desk.add({.number = k});
  for (Index k = 0; k + 1 < Desk::first_for_helper(1); ++k) {
    const auto item = desk.next(static_cast<double>(k));
    ASSERT_TRUE(item && item->worker == 0);
    EXPECT_FALSE(desk.next(static_cast<double>(k)));
    desk.end(*item, static_cast<double>(k + 1));
  }
  EXPECT_EQ(desk.next(2)->worker, 0);
  EXPECT_EQ(desk.next(2)->worker, 1);  // out of a thousand items it may take one
}

TEST(Desk, AHelperIsNotAskedWhileOthersAreFree) {
  Desk desk(3, std::vector<double>(1000, 1));
  for (Index k = 0; k < 20; ++k) {
    desk.add({.number = k});
    const auto item = desk.next(static_cast<double>(k));
    ASSERT_LT(item->worker, 2);
    desk.end(*item, static_cast<double>(k) + 0.5);
  }
}

TEST(Desk, AHelperIsNotAskedWhereOthersWaitForItems) {
  for (const bool late : {true, false}) {
    Desk desk = warm_desk(1000, late);
    desk.add({.number = Desk::first_for_helper(1) + 1});
    EXPECT_EQ(desk.next(3)->worker, 0);
    EXPECT_EQ(desk.next(3).has_value(), !late);
  }
}

/// The other one took 1 s, the helper 3 s, 5 s and 4 s: it counts with five seconds against one.
TEST(Desk, AHelperCountsWithItsMeanAndTheFewestSecondsOfOthers) {
  for (const Index left : {4, 5}) {
    constexpr Index items = 1000;
    Desk desk = warm_desk(items);
    double now = 3;
    const auto begin = [&](Index worker, Index next) {
      const auto item = desk.next(now);
      desk.add({.number = next});
      ASSERT_TRUE(item && item->worker == worker) << "before item " << next;
    };
    const auto help_for = [&](double seconds, Index next) {
      begin(1, next);
      now += seconds;
      desk.end({.worker = 1}, now);
    };
    begin(0, 4);
    help_for(3, 5), help_for(5, 6), help_for(4, items - left);
    EXPECT_EQ(desk.next(now).has_value(), left == 5);  // the other one should be free at once
  }
}

TEST(Desk, WithoutAHelperNobodyDeclines) {
  Desk desk(3, {});
  for (Index k = 0; k < 4; ++k) desk.add({.number = k});
  std::vector<Item> taken;
  while (const auto item = desk.next(0)) taken.push_back(*item);
  ASSERT_EQ(taken.size(), 3u);
  for (Index k = 0; k < 3; ++k) EXPECT_EQ(taken[static_cast<std::size_t>(k)].number, k);
  desk.end(taken[1], 1e9);  // however slow it was
  EXPECT_EQ(desk.next(1e9)->worker, taken[1].worker);
}

}  // namespace
}  // namespace tandem
