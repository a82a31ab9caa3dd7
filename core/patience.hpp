#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace tandem {

/// The pauses of a rank that waits for others, between two looks. It lets go of its core, and after a moment
/// it sleeps each time, longer and longer. So a rank without work takes nothing from those beside it.
class Patience {
 public:
  using Microseconds = std::chrono::microseconds;
  explicit Patience(Microseconds longest = Microseconds{1000}) : longest_(longest) {}
  void pause() {
    if (std::chrono::steady_clock::now() - start_ < awake_) return static_cast<void>(::sched_yield());
    std::this_thread::sleep_for(next_);
    next_ = std::min(2 * next_, longest_);
  }

 private:
  static constexpr Microseconds awake_{200};
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  Microseconds next_{20}, longest_;
};

}  // namespace tandem
