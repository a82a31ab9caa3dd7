#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "space.hpp"

namespace tandem {

/// Calls body(i) for every i in [0, count) on the threads of the pool, in any order. A body may itself call
/// parallel_for. @throws what one of the bodies throws, or `Interrupts` of the caller before one of them
void parallel_for(Index count, const std::function<void(Index)>& body);

/// The same for blocks that make up [0, count). A block has at most `most` elements, and blocks are so small
/// that each thread gets two.
void parallel_for_blocks(Index count, Index most, const std::function<void(Range)>& body);

/// Calls body(i) for all i in [0, count) at the same time, each on a thread of its own outside the pool. It
/// is meant for bodies that wait for devices. When all have ended, @throws what the first of them, in the
/// order of i, threw.
void on_threads(Index count, const std::function<void(Index)>& body);

/// An item on its way along a conveyor.
struct Item {
  Index number = 0;  ///< counted from 0
  Index place = 0;   ///< where its data lie: no other item on its way has the same
  Index worker = 0;  ///< works on it, and on no other item at the same time
};

using Station = std::function<void(const Item&)>;
/// The number of the item that comes next; empty if none is left. One call at a time.
using NextItem = std::function<std::optional<Index>()>;

/// Sends the items 0 .. count - 1 through three stations that work at the same time. `read` takes one item at
/// a time, in order. `work` takes as many at a time as there are workers: a worker that is free takes the
/// next one. `write` takes one at a time, in the order in which they come from the workers; one worker keeps
/// the order. At most `conveyor_places(workers)` items are on their way. A station may have a conveyor
/// within. @throws what a station throws; later items are dropped
void conveyor(Index count, Index workers, const Station& read, const Station& work, const Station& write);
/// The same for items that others take as well: `next` is asked when `read` is free, and not before.
void conveyor(const NextItem& next, Index workers, const Station& read, const Station& work,
              const Station& write);
/// How many items can be on their way: one for each worker, one that is read and one that is written.
constexpr Index conveyor_places(Index workers) { return workers + 2; }

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
