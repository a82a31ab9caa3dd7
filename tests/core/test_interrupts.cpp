#include "../../core/interrupts.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../../core/parallel.hpp"

namespace tandem {
namespace {

constexpr auto always = Interrupts::Duration::zero();

TEST(Interrupts, EndAParallelLoopBetweenItsBodies) {
  std::atomic<int> bodies = 0;
  int asked = 0;
  {
    const Interrupts interrupts(
        [&] {
          if (++asked == 3) throw std::domain_error("a signal");
        },
        always);
    EXPECT_THROW(parallel_for(1 << 20, [&](Index) { ++bodies; }), std::domain_error);
  }
  EXPECT_EQ(asked, 3);
  EXPECT_LT(bodies, 1 << 20);
  parallel_for(5, [&](Index) { let_interrupt(); });  // the loop works after it, and nobody asks
  EXPECT_EQ(asked, 3);
}

/// A body that would never end: also on threads that do not ask themselves.
TEST(Interrupts, EndBodiesOnAllThreads) {
  std::atomic<int> begun = 0;
  const auto main = std::this_thread::get_id();
  const Interrupts interrupts(
      [&] {
        EXPECT_EQ(std::this_thread::get_id(), main);
        if (begun >= thread_count()) throw std::domain_error("a signal");
      },
      always);
  EXPECT_THROW(parallel_for(2 * thread_count(),
                            [&](Index) {
                              ++begun;
                              for (;;) {
                                let_interrupt();
                                std::this_thread::yield();
                              }
                            }),
               std::domain_error);
}

TEST(Interrupts, ReachLoopsWithinLoopsAndNoOtherThread) {
  const Interrupts interrupts([] { throw std::domain_error("a signal"); }, always);
  const auto nested = [](Index) { parallel_for(7, [](Index) {}); };
  EXPECT_THROW(parallel_for(3, nested), std::domain_error);
  int done = 0;
  std::jthread([&] {
    EXPECT_EQ(Interrupts::of_this_thread(), nullptr);
    parallel_for(1, [&](Index) { ++done; });
  }).join();
  EXPECT_EQ(done, 1);
}

TEST(Interrupts, AskAtMostOnceInAWhile) {
  int asked = 0;
  const Interrupts interrupts([&] { ++asked; }, std::chrono::hours(1));
  for (int k = 0; k < 1000; ++k) let_interrupt();
  EXPECT_EQ(asked, 0);
}

}  // namespace
}  // namespace tandem
