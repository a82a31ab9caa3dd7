#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <thread>

namespace tandem {

/// As long as it lives, long work that this thread begins can be ended from outside: between its parts it
/// calls `ask`, on this thread and at most once in a while, and what `ask` throws comes out of the work.
/// Parts of a parallel loop on other threads end, too. What the work was writing is then left half done.
class Interrupts {
 public:
  using Duration = std::chrono::steady_clock::duration;
  explicit Interrupts(std::function<void()> ask, Duration every = std::chrono::milliseconds(50));
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  static const Interrupts* of_this_thread();  ///< null if nothing ends its work

  /// Gives the thread those of another one, for a part of the other's work.
  class Lent {
   public:
    explicit Lent(const Interrupts* of_other);
    ~Lent();
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;

   private:
    const Interrupts* before_;
  };

 private:
  friend void let_interrupt();
  void let() const;

  std::function<void()> ask_;
  Duration every_;
  std::thread::id thread_ = std::this_thread::get_id();
  const Interrupts* before_;
  mutable std::chrono::steady_clock::time_point next_;
  mutable std::exception_ptr cause_;
  mutable std::atomic<bool> ended_ = false;  // after which `cause_` stays
};

/// Long work calls this between its parts. Nearly free. @throws what ends the work
void let_interrupt();

}  // namespace tandem
