#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../../core/parallel.hpp"

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

TEST(ParallelForBlocks, MakeUpTheWhole) {
  for (const int threads : {1, 3}) {
    const ThreadLimit limit(threads);
    for (const Index count : {0, 1, 5, 64, 1001}) {
      std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
      parallel_for_blocks(count, 4, [&](Range block) {
        EXPECT_GE(block.size(), 1);
        EXPECT_LE(block.size(), 4);
        for (Index i = block.first; i < block.last; ++i) ++seen[static_cast<std::size_t>(i)];
      });
      for (const auto& times : seen) EXPECT_EQ(times, 1) << count;
    }
  }
}

TEST(OnThreads, RunsAllAtOnce) {
  std::atomic<int> here = 0;
  on_threads(3, [&](Index) {
    ++here;
    while (here < 3) std::this_thread::yield();
  });
  EXPECT_EQ(here, 3);
  on_threads(0, [&](Index) { ++here; });
  EXPECT_EQ(here, 3);
}

TEST(OnThreads, PassesOnTheFirstFaultWhenAllHaveEnded) {
  std::atomic<int> ended = 0;
  const auto body = [&](Index i) {
    ++ended;
    if (i == 2) throw std::length_error("2");
    if (i > 2) throw std::domain_error("later");
  };
  EXPECT_THROW(on_threads(5, body), std::length_error);
  EXPECT_EQ(ended, 5);
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

TEST(Conveyor, TakesEveryItemThroughAllStations) {
  for (const Index workers : {1, 3}) {
    std::array<Index, 50> read{}, worked{};
    std::vector<Index> written;
    const auto at = [](auto& values, const Item& item) -> Index& {
      return values[static_cast<std::size_t>(item.number)];
    };
    conveyor(
        50, workers, [&](const Item& i) { at(read, i) = i.number + 1; },
        [&](const Item& i) { at(worked, i) = 2 * at(read, i); },
        [&](const Item& i) { written.push_back(at(worked, i)); });
    ASSERT_EQ(written.size(), 50u);
    if (workers > 1) std::sort(written.begin(), written.end());  // one alone keeps the order
    for (Index i = 0; i < 50; ++i) EXPECT_EQ(written[static_cast<std::size_t>(i)], 2 * (i + 1));
  }
  const auto never = [](const Item&) { FAIL(); };
  conveyor(0, 1, never, never, never);
}

TEST(Conveyor, GivesEachItemAPlaceAndAWorkerOfItsOwn) {
  constexpr Index workers = 3;
  std::array<std::atomic<int>, conveyor_places(workers)> placed{};
  std::array<std::atomic<int>, workers> at_work{};
  std::atomic<Index> held = 0, most = 0;
  const auto of = [](auto& counts, Index i) -> auto& { return counts.at(static_cast<std::size_t>(i)); };
  conveyor(
      200, workers,
      [&](const Item& i) {
        EXPECT_EQ(of(placed, i.place)++, 0);
        most = std::max<Index>(most, ++held);
      },
      [&](const Item& i) {
        EXPECT_EQ(of(at_work, i.worker)++, 0);
        std::this_thread::yield();
        --of(at_work, i.worker);
      },
      [&](const Item& i) {
        --held;
        --of(placed, i.place);
      });
  EXPECT_LE(most, conveyor_places(workers));
}

TEST(Conveyor, SharesItemsWithAnother) {
  std::atomic<Index> queue = 0;
  std::array<std::atomic<int>, 40> seen{};
  const auto next = [&] {
    const Index number = queue++;
    return number < 40 ? std::optional(number) : std::nullopt;
  };
  on_threads(2, [&](Index) {
    const auto nothing = [](const Item&) {};
    conveyor(next, 2, nothing, nothing,
             [&](const Item& i) { ++seen.at(static_cast<std::size_t>(i.number)); });
  });
  for (const auto& times : seen) EXPECT_EQ(times, 1);
}

TEST(Conveyor, AsksForAnItemOnlyWhenTheReaderIsFree) {
  Index asked = 0;
  std::atomic<Index> read = 0;
  const auto next = [&]() -> std::optional<Index> {
    EXPECT_EQ(asked, read);
    return asked < 30 ? std::optional(asked++) : std::nullopt;
  };
  conveyor(
      next, 1, [&](const Item&) { ++read; }, [](const Item&) {}, [](const Item&) {});
  EXPECT_EQ(read, 30);
}

/// The second worker is stopped until all other items have passed by it.
TEST(Conveyor, GivesTheNextItemToWhoIsFree) {
  if (thread_count() < 2) GTEST_SKIP() << "one thread cannot wait for another";
  std::atomic<Index> done = 0;
  conveyor(
      20, 2, [](const Item&) {},
      [&](const Item& i) {
        while (i.number == 0 && done < 19) std::this_thread::yield();
        ++done;
      },
      [](const Item&) {});
  EXPECT_EQ(done, 20);
}

TEST(Conveyor, PassesOnWhatAStationThrows) {
  const auto fails = [](const Item& i) {
    if (i.number == 5) throw std::runtime_error("five");
  };
  const auto nothing = [](const Item&) {};
  for (const Index workers : {1, 3}) {
    EXPECT_THROW(conveyor(9, workers, fails, nothing, nothing), std::runtime_error);
    EXPECT_THROW(conveyor(9, workers, nothing, fails, nothing), std::runtime_error);
    EXPECT_THROW(conveyor(9, workers, nothing, nothing, fails), std::runtime_error);
  }
}

TEST(ThreadLimit, AboveTheCoresGivesTheCores) {
  const int before = thread_count();
  const ThreadLimit many(before + 7);
  EXPECT_EQ(thread_count(), before);
}

}  // namespace
}  // namespace tandem
