#include "parallel.hpp"

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "ceil_div.hpp"
#include "interrupts.hpp"

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace tandem {

namespace {

namespace flow = tbb::flow;

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

/// Marks a task: it comes from one gate and leaves by the next, also if it throws.
struct Passage {
  char& to;
  Passage(char& from, char& gate) : to(gate) { enter(from); }
  ~Passage() { leave(to); }
};

/// Marks a thread that starts tasks: it leaves by one gate, and comes back by another when they end or throw.
struct Outing {
  char& back;
  Outing(char& out, char& gate) : back(gate) { leave(out); }
  ~Outing() { enter(back); }
};

/// The numbers 0 .. count - 1, some of which are taken. A station never takes more than there are.
class FreeNumbers {
 public:
  explicit FreeNumbers(Index count) {
    while (count > 0) free_.push_back(--count);
  }
  Index take() {
    const std::lock_guard lock(mutex_);
    const Index number = free_.back();
    free_.pop_back();
    return number;
  }
  void give(Index number) {
    const std::lock_guard lock(mutex_);
    free_.push_back(number);
  }

 private:
  std::mutex mutex_;
  std::vector<Index> free_;
};

using ItemNode = flow::function_node<Item>;

void send(const Item& item, ItemNode& node) {
  leave(handed);
  node.try_put(item);
}

/// Runs a graph from its source to its end. @throws what a node throws
void run(flow::graph& graph, flow::input_node<Item>& source) {
  const Outing outing(handed, handed);
  try {
    // Isolated, so that a thread that waits here takes no work of others (a station of another conveyor,
    // say).
    tbb::this_task_arena::isolate([&] {
      source.activate();
      graph.wait_for_all();
    });
  } catch (...) {  // without memory even the first task may fail; no task may outlive the nodes
    graph.cancel();
    graph.wait_for_all();
    throw;
  }
}

}  // namespace

void parallel_for(Index count, const std::function<void(Index)>& body) {
  const Interrupts* const interrupts = Interrupts::of_this_thread();
  const auto guarded = [&body, interrupts](Index i) {
    const Passage passage(begun, done);
    const Interrupts::Lent lent(interrupts);
    let_interrupt();
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
  std::vector<std::exception_ptr> faults(count);
  const auto guarded = [&](Index i) {
    try {
      body(i);
    } catch (...) {
      faults[i] = std::current_exception();
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

void conveyor(Index count, Index workers, const Station& read, const Station& work, const Station& write) {
  Index next = 0;
  conveyor([&] { return next < count ? std::optional(next++) : std::nullopt; }, workers, read, work, write);
}

void conveyor(const NextItem& next, Index workers, const Station& read, const Station& work,
              const Station& write) {
  constexpr Index nothing = -1;  // the number of an item that only gives its place back
  FreeNumbers places(conveyor_places(workers)), free_workers(workers);
  std::atomic<bool> ended = false;
  flow::graph graph;
  flow::input_node<Item> items(graph, [&](tbb::flow_control& control) {
    if (ended) control.stop();
    return Item{};
  });
  flow::limiter_node<Item> entrance(graph, conveyor_places(workers));
  ItemNode writer(graph, flow::serial, [&](const Item& item) {
    const Passage passage(handed, handed);
    if (item.number != nothing) write(item);
    places.give(item.place);
    return flow::continue_msg();
  });
  ItemNode worker(graph, workers, [&](Item item) {
    const Passage passage(handed, handed);
    item.worker = free_workers.take();
    work(item);
    send(item, writer);  // before the worker begins with another one
    free_workers.give(item.worker);
    return flow::continue_msg();
  });
  ItemNode reader(graph, flow::serial, [&](Item item) {
    const Passage passage(handed, handed);
    item.place = places.take();
    item.number = ended ? nothing : next().value_or(nothing);
    if (item.number == nothing) {
      ended = true;
      send(item, writer);
      return flow::continue_msg();
    }
    read(item);
    send(item, worker);
    return flow::continue_msg();
  });
  flow::make_edge(items, entrance);
  flow::make_edge(entrance, reader);
  flow::make_edge(writer, entrance.decrementer());
  run(graph, items);
}

struct ThreadLimit::Impl {
  tbb::global_control control;
};

ThreadLimit::ThreadLimit(int threads)
    : impl_(new Impl{tbb::global_control(tbb::global_control::max_allowed_parallelism,
                                         threads > 0 ? threads : tbb::info::default_concurrency())}) {}

ThreadLimit::~ThreadLimit() = default;

int thread_count() {
  return static_cast<int>(
      std::min<std::size_t>(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism),
                            tbb::info::default_concurrency()));
}

}  // namespace tandem
