#include "parallel.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

#include "ceil_div.hpp"

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace tandem {

namespace {

// oneTBB is not built for the thread sanitizer, which therefore does not see that a loop begins after what
// came before it and ends before what comes after, and that stations hand items on. These gates tell it;
// elsewhere they are nothing.
#ifdef __SANITIZE_THREAD__
void leave(char& gate) { __tsan_release(&gate); }
void enter(char& gate) { __tsan_acquire(&gate); }
#else
void leave(char&) {}
void enter(char&) {}
#endif
char begun, done, handed;

/// A task: from one gate to the next, also with what it throws.
struct Passage {
  char& to;
  Passage(char& from, char& gate) : to(gate) { enter(from); }
  ~Passage() { leave(to); }
};

/// Who starts tasks: leaves by one gate and comes back by another, also with what they throw.
struct Outing {
  char& back;
  Outing(char& out, char& gate) : back(gate) { leave(out); }
  ~Outing() { enter(back); }
};

}  // namespace

void parallel_for(Index count, const std::function<void(Index)>& body) {
  const auto guarded = [&body](Index i) {
    const Passage passage(begun, done);
    body(i);
  };
  const Outing outing(begun, done);
  // Isolated, so that a thread that waits here takes no unrelated work (reading the next chunk, say).
  tbb::this_task_arena::isolate(
      [&] { tbb::parallel_for(Index{0}, count, guarded, tbb::simple_partitioner{}); });
}

void parallel_for_blocks(Index count, Index most, const std::function<void(Range)>& body) {
  const Index step = std::clamp<Index>(ceil_div<Index>(count, 2 * thread_count()), 1, most);
  parallel_for(ceil_div(count, step), [&](Index b) { body({b * step, std::min(count, (b + 1) * step)}); });
}

void on_threads(Index count, const std::function<void(Index)>& body) {
  std::vector<std::exception_ptr> faults(static_cast<std::size_t>(count));
  const auto guarded = [&](Index i) {
    try {
      body(i);
    } catch (...) {
      faults[static_cast<std::size_t>(i)] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (Index i = 1; i < count; ++i) others.emplace_back(guarded, i);
    if (count > 0) guarded(0);
  }
  for (const std::exception_ptr& fault : faults)
    if (fault) std::rethrow_exception(fault);
}

void conveyor(Index count, const std::function<void(Index)>& read, const std::function<void(Index)>& work,
              const std::function<void(Index)>& write) {
  Index next = 0;
  const auto in_order = tbb::filter_mode::serial_in_order;
  const auto first = tbb::make_filter<void, Index>(in_order, [&](tbb::flow_control& flow) {
    const Passage passage(handed, handed);
    if (next < count)
      read(next);
    else
      flow.stop();
    return next++;
  });
  const auto second = tbb::make_filter<Index, Index>(in_order, [&](Index item) {
    const Passage passage(handed, handed);
    work(item);
    return item;
  });
  const auto third = tbb::make_filter<Index, void>(in_order, [&](Index item) {
    const Passage passage(handed, handed);
    write(item);
  });
  const Outing outing(handed, handed);
  tbb::parallel_pipeline(conveyor_items, first & second & third);
}

struct ThreadLimit::Impl {
  tbb::global_control control;
};

ThreadLimit::ThreadLimit(int threads)
    : impl_(new Impl{tbb::global_control(
          tbb::global_control::max_allowed_parallelism,
          static_cast<std::size_t>(threads > 0 ? threads : tbb::info::default_concurrency()))}) {}

ThreadLimit::~ThreadLimit() = default;

int thread_count() {
  return static_cast<int>(
      std::min<std::size_t>(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism),
                            static_cast<std::size_t>(tbb::info::default_concurrency())));
}

}  // namespace tandem
