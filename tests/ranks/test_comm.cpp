#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>

#include "../../core/comm.hpp"

namespace tandem {
namespace {

Comm all() { return Comm::world(); }

std::string of_rank(int rank) {
  return std::string(static_cast<std::size_t>(3 * rank), 'a') + std::string("\0b", 2);
}

TEST(Comm, IsAloneWithoutOthers) {
  const Comm alone;
  double one = 3;
  alone.all_reduce({&one, 1});
  EXPECT_EQ(one, 3);
  EXPECT_EQ(alone.broadcast("text"), "text");
  EXPECT_EQ(alone.all_gather("text"), std::vector<std::string>{"text"});
  EXPECT_EQ(alone.gather("text"), std::vector<std::string>{"text"});
  EXPECT_FALSE(alone.fail(3, "nobody hears it"));
  EXPECT_TRUE(alone.meet_at_the_end());
  alone.leave();
  SharedCounter counter(alone);
  EXPECT_EQ(counter.add(2), 0);
  EXPECT_EQ(counter.add(1), 2);
}

TEST(Comm, AddsInTheOrderOfRanks) {
  // the bits of a sum of such numbers depend on the order
  const auto value = [](int rank, int k) { return std::pow(10.0, 8 * ((rank + k) % 3)) * (1 + 0.1 * rank); };
  std::array<double, 5> sums{}, expected{};
  for (int k = 0; k < 5; ++k) {
    sums[static_cast<std::size_t>(k)] = value(all().rank(), k);
    for (int rank = 0; rank < all().size(); ++rank) expected[static_cast<std::size_t>(k)] += value(rank, k);
  }
  all().all_reduce(sums);
  EXPECT_EQ(sums, expected);
}

TEST(Comm, FindsTheLeast) {
  std::array<double, 2> values{10.0 - all().rank(), 5.0 + all().rank()};
  all().all_reduce(values, Combine::least);
  EXPECT_EQ(values[0], 10.0 - (all().size() - 1));
  EXPECT_EQ(values[1], 5.0);
}

TEST(Comm, GathersTextsOfAnyLength) {
  std::vector<std::string> expected;
  for (int rank = 0; rank < all().size(); ++rank) expected.push_back(of_rank(rank));
  EXPECT_EQ(all().all_gather(of_rank(all().rank())), expected);
  const std::vector<std::string> gathered = all().gather(of_rank(all().rank()));
  EXPECT_EQ(gathered, all().is_first() ? expected : std::vector<std::string>());
  EXPECT_EQ(all().all_gather(""), std::vector<std::string>(expected.size()));
}

TEST(Comm, GathersValuesInTheOrderOfRanks) {
  const std::vector<float> own(static_cast<std::size_t>(all().rank() % 2), static_cast<float>(all().rank()));
  std::vector<float> expected;
  for (int rank = 1; rank < all().size(); rank += 2) expected.push_back(static_cast<float>(rank));
  EXPECT_EQ(all().gather(own), all().is_first() ? expected : std::vector<float>());
}

TEST(Comm, BroadcastsFromAnyRank) {
  for (int from = 0; from < all().size(); ++from)
    EXPECT_EQ(all().broadcast(of_rank(all().rank()), from), of_rank(from));
}

/// Numbers of a rank, perhaps none. They fill no whole number of messages.
std::vector<float> numbers(int rank) {
  std::vector<float> own(static_cast<std::size_t>(1000001 * rank));
  std::iota(own.begin(), own.end(), static_cast<float>(rank));
  return own;
}

TEST(Comm, SendsAndReceivesAtTheSameTime) {
  const int ranks = all().size(), own = all().rank();
  for (int shift = 1; shift < ranks; ++shift) {
    const int to = (own + shift) % ranks, from = (own + ranks - shift) % ranks;
    const std::vector<float> sent = numbers(own);
    std::vector<float> received(numbers(from).size());
    all().exchange(std::as_bytes(std::span(sent)), to, std::as_writable_bytes(std::span(received)), from);
    EXPECT_EQ(received, numbers(from));
  }
  all().exchange({}, 0, {}, 0);
}

TEST(SharedCounter, GivesEachNumberOnce) {
  constexpr Index count = 60;
  SharedCounter other(all()), counter(all());
  other.add(1000);
  std::array<double, count> taken{};
  const auto take = [&] {
    for (Index k = counter.add(1); k < count; k = counter.add(1)) ++taken[static_cast<std::size_t>(k)];
  };
  std::thread beside(take);  // several threads of a rank
  take();
  beside.join();
  all().all_reduce(taken);
  EXPECT_EQ(std::ranges::count(taken, 1.0), count);
}

TEST(SharedCounter, AnswersWhileTheFirstRankIsBusy) {
  SharedCounter counter(all());
  all().barrier();
  if (all().is_first())
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  else {
    const auto start = std::chrono::steady_clock::now();
    counter.add(1);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(200));
  }
  all().barrier();
  EXPECT_EQ(counter.add(0), all().size() - 1);
}

}  // namespace
}  // namespace tandem
