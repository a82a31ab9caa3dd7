#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../../core/kept_on_devices.hpp"

namespace tandem {
namespace {

/// Counts how many of it there are.
struct Counted {
  std::atomic<int>& alive;
  int number;
  Counted(std::atomic<int>& count, int n) : alive(count), number(n) { ++alive; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --alive; }
};

class Kept : public ::testing::Test {
 protected:
  /// The number that is kept, made as `number` if there is none.
  int ask(const KeptOnDevices& kept, int number, const KeptOnDevices::Key& key = {}) {
    return kept
        .use<Counted>(stream, key, [&](const KeptOnDevices::Streams&) { return Counted(alive, number); })
        ->number;
  }
  std::atomic<int> alive = 0;
  Stream stream{Device::cpu()};
};

TEST_F(Kept, IsMadeOnceAndGoesWithItsOwner) {
  {
    const KeptOnDevices kept;
    EXPECT_EQ(ask(kept, 1), 1);
    EXPECT_EQ(ask(kept, 2), 1);
    EXPECT_EQ(alive, 1);
  }
  EXPECT_EQ(alive, 0);
}

TEST_F(Kept, IsToldApartByKeyAndType) {
  const KeptOnDevices kept;
  EXPECT_EQ(ask(kept, 1, {0, 7}), 1);
  EXPECT_EQ(ask(kept, 2, {1, 7}), 2);
  EXPECT_EQ(*kept.use<int>(stream, {0, 7}, [](const KeptOnDevices::Streams&) { return 3; }), 3);
  EXPECT_EQ(ask(kept, 4, {0, 7}), 1);
  EXPECT_EQ(ask(kept, 4, {1, 7}), 2);
}

TEST_F(Kept, IsOfOneDevice) {
  const KeptOnDevices kept;
  int made = 0;
  for (int round = 0; round < 2; ++round)
    for (const Device device : devices()) {
      const Stream on_device(device);
      const auto there = kept.use<Device>(on_device, [&](const KeptOnDevices::Streams& streams) {
        ++made;
        EXPECT_EQ(streams.going.device(), device);
        return streams.coming.device();
      });
      EXPECT_EQ(*there, device);
    }
  EXPECT_EQ(made, static_cast<int>(devices().size()));
}

/// A copy may be changed, and then another value would be right.
TEST_F(Kept, IsNotCopied) {
  KeptOnDevices first;
  ask(first, 1);
  const KeptOnDevices second(first);
  EXPECT_EQ(ask(second, 2), 2);
  first = second;
  EXPECT_EQ(alive, 1);
  EXPECT_EQ(ask(first, 3), 3);
}

TEST_F(Kept, IsMadeAgainIfMakingFailed) {
  const KeptOnDevices kept;
  const auto fails = [](const KeptOnDevices::Streams&) -> Counted { throw std::runtime_error("no"); };
  EXPECT_THROW(kept.use<Counted>(stream, fails), std::runtime_error);
  EXPECT_EQ(ask(kept, 1), 1);
}

TEST_F(Kept, IsMadeOnceForThreadsThatAskAtTheSameTime) {
  constexpr int count = 8;
  const KeptOnDevices kept;
  std::barrier together(count);
  std::atomic<int> made = 0, wrong = 0;
  std::vector<std::thread> threads;
  for (int k = 0; k < count; ++k)
    threads.emplace_back([&] {
      const Stream own(Device::cpu());
      together.arrive_and_wait();
      const auto there = kept.use<Counted>(own, [&](const KeptOnDevices::Streams&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return Counted(alive, ++made);
      });
      if (there->number != 1) ++wrong;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tandem
