#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "tandem/core/space.hpp"

namespace tandem {

/// Calls body(i) for every i in [0, count), on the threads of the one pool, in any order.
/// A body may itself call parallel_for. @throws what a body throws (one of them).
void parallel_for(Index count, const std::function<void(Index)>& body);

/// Limits every parallel loop of the process to `threads` while it lives; 0 means all cores.
class ThreadLimit {
 public:
  explicit ThreadLimit(int threads);
  ~ThreadLimit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

int thread_count();  ///< threads that parallel_for uses now

}  // namespace tandem
