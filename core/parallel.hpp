#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "range.hpp"

namespace tandem {

/// Calls body(i) for every i in [0, count), on the threads of the one pool, in any order.
/// A body may itself call parallel_for. @throws what a body throws (one of them).
void parallel_for(Index count, const std::function<void(Index)>& body);

/// The same for blocks that make up [0, count): `most` at the most, and so small that threads get two each.
void parallel_for_blocks(Index count, Index most, const std::function<void(Range)>& body);

/// Calls body(i) for every i in [0, count) at once, each on a thread of its own beside the pool: for those
/// who wait for devices. @throws what the first body in order throws, once all have ended.
void on_threads(Index count, const std::function<void(Index)>& body);

/// Sends items 0 .. count - 1 through three stations at once: while one item is worked on, the next is read
/// and the one before is written. Each station takes the items in order, one at a time; at most
/// `conveyor_items` are between the first station's beginning and the last one's end. @throws what a station
/// throws; items behind it are dropped.
void conveyor(Index count, const std::function<void(Index)>& read, const std::function<void(Index)>& work,
              const std::function<void(Index)>& write);
constexpr Index conveyor_items = 3;

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
