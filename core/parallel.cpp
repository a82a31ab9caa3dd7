#include "tandem/core/parallel.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>

namespace tandem {

void parallel_for(Index count, const std::function<void(Index)>& body) {
  // Isolated, so that a thread that waits here takes no unrelated work (reading the next chunk, say).
  tbb::this_task_arena::isolate(
      [&] { tbb::parallel_for(Index{0}, count, body, tbb::simple_partitioner{}); });
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
  return static_cast<int>(std::min<std::size_t>(
      tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism),
      static_cast<std::size_t>(tbb::info::default_concurrency())));
}

}  // namespace tandem
