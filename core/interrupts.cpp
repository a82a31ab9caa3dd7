#include "interrupts.hpp"

#include <utility>

namespace tandem {

namespace {

using Clock = std::chrono::steady_clock;
thread_local const Interrupts* present = nullptr;

}  // namespace

Interrupts::Interrupts(std::function<void()> ask, Duration every)
    : ask_(std::move(ask)),
      every_(every),
      before_(std::exchange(present, this)),
      next_(Clock::now() + every) {}

Interrupts::~Interrupts() { present = before_; }

const Interrupts* Interrupts::of_this_thread() { return present; }

Interrupts::Lent::Lent(const Interrupts* of_other) : before_(std::exchange(present, of_other)) {}

Interrupts::Lent::~Lent() { present = before_; }

/// All threads throw the same, as a parallel loop passes on what came first.
void Interrupts::let() const {
  if (ended_.load(std::memory_order_acquire)) std::rethrow_exception(cause_);
  if (std::this_thread::get_id() != thread_ || Clock::now() < next_) return;
  try {
    ask_();
    next_ = Clock::now() + every_;
  } catch (...) {
    cause_ = std::current_exception();
    ended_.store(true, std::memory_order_release);
    throw;
  }
}

void let_interrupt() {
  if (present) present->let();
}

}  // namespace tandem
