#include "tandem/core/parallel.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace tandem {

namespace {

#ifdef __SANITIZE_THREAD__
// oneTBB is not built for the thread sanitizer, which therefore does not see that a loop begins after what
// came before it and ends before what comes after. These gates tell it.
char begun, done;
void leave(char& gate) { __tsan_release(&gate); }
void enter(char& gate) { __tsan_acquire(&gate); }
#endif

}  // namespace

void parallel_for(Index count, const std::function<void(Index)>& body) {
  // Isolated, so that a thread that waits here takes no unrelated work (reading the next chunk, say).
#ifdef __SANITIZE_THREAD__
  leave(begun);
  tbb::this_task_arena::isolate([&] {
    const auto guarded = [&body](Index i) {
      enter(begun);
      body(i);
      leave(done);
    };
    tbb::parallel_for(Index{0}, count, guarded, tbb::simple_partitioner{});
  });
  enter(done);
#else
  tbb::this_task_arena::isolate([&] { tbb::parallel_for(Index{0}, count, body, tbb::simple_partitioner{}); });
#endif
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
