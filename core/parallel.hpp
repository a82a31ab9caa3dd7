#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "range.hpp"

namespace tandem {

/// Calls body(i) for every i in [0, count) on the threads of the pool, in any order. A body may itself call
/// parallel_for. @throws what one of the bodies throws
void parallel_for(Index count, const std::function<void(Index)>& body);

/// The same for blocks that make up [0, count). A block has at most `most` elements, and blocks are so small
/// that each thread gets two.
void parallel_for_blocks(Index count, Index most, const std::function<void(Range)>& body);

/// Calls body(i) for all i in [0, count) at the same time, each on a thread of its own outside the pool. It
/// is meant for bodies that wait for devices. When all have ended, @throws what the first of them, in the
/// order of i, threw.
void on_threads(Index count, const std::function<void(Index)>& body);

/// Sends the items 0 .. count - 1 through three stations that work at the same time: while one item is worked
/// on, the next is read and the one before is written. Each station takes the items in order, one at a time.
/// At most `conveyor_items` are on their way. @throws what a station throws; later items are dropped.
void conveyor(Index count, const std::function<void(Index)>& read, const std::function<void(Index)>& work,
              const std::function<void(Index)>& write);
constexpr Index conveyor_items = 3;

/// As long as it lives, limits every parallel loop of the process to `threads`; 0 means all cores.
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
