#include "reconstruct.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "../core/host_memory.hpp"
#include "../core/parallel.hpp"
#include "checkpoints.hpp"
#include "methods/method.hpp"
#include "plan/chunks_due.hpp"
#include "plan/helper.hpp"
#include "plan/margin_rows.hpp"
#include "ranks.hpp"
#include "stations/compute.hpp"
#include "stations/landing.hpp"
#include "stations/prepare.hpp"
#include "stations/read.hpp"
#include "stations/write.hpp"
#include "watch/stopwatch.hpp"
#include "watch/value_range.hpp"

namespace tandem::pipeline {

namespace {

using Workers = std::vector<std::unique_ptr<ComputeStation>>;

/// A station for each worker of the plan.
Workers workers_of(const Work& work, ReadStation& read, PrepareStation& prepare, io::VolumeWriter* writer,
                   bool may_store) {
  Workers workers;
  for (std::size_t i = 0; i < work.plan.flow.workers.size(); ++i) {
    Work one = work;
    one.worker = i;
    workers.push_back(std::make_unique<ComputeStation>(std::move(one), read, prepare, writer, may_store));
  }
  return workers;
}

void send(const Plan& plan, ChunkQueue& all, ReadStation& read, const Workers& workers,
          const std::function<void(Chunk&)>& write, StationBoard* board) {
  const std::vector<Range>& due = all.chunks();
  const auto queue = [&](const char* station, int change) {
    if (board) board->queue(station, change);
  };
  const Index count = workers.size();
  std::vector<Chunk> chunks(conveyor_places(count));
  const auto chunk = [&](const Item& item) -> Chunk& { return chunks[item.place]; };
  const auto load = [&](const Item& item) {
    chunk(item).slices = due[item.number];
    plan.flow.route->load(read, chunk(item));
    queue("preprocess", 1);
  };
  const auto work = [&](const Item& item) {
    queue("preprocess", -1);
    const std::size_t number = item.worker;
    const auto compute = [&] { (*workers[number])(chunk(item)); };
    const int threads = plan.flow.workers[number].threads;
    threads > 0 ? in_background(threads, compute) : compute();
    queue("write", 1);
  };
  const auto save = [&](const Item& item) {
    queue("write", -1);
    write(chunk(item));
  };
  conveyor([&] { return all.next(); }, count, load, work, save, sizes_for_helper(plan, due));
}

/// Adds the outcomes of the workers. That of a helper is also kept apart.
void add(const Plan& plan, const Workers& workers, Outcome& outcome) {
  for (std::size_t i = 0; i < workers.size(); ++i) {
    Outcome one = workers[i]->outcome();
    if (plan.flow.workers[i].threads > 0)
      outcome.helped = Helped{one.slices, one.updates, std::exchange(one.seconds, {})};
    outcome.add(one);
  }
}

double slices_in(const std::vector<Range>& chunks) {
  double sum = 0;
  for (const Range chunk : chunks) sum += chunk.size();
  return sum;
}

/// Makes a few slices only to look at them. Their cost is not added to the outcome of the run.
Outcome look_at_some(io::ScanReader& reader, const Plan& plan, const Options& options, const char* purpose,
                     const std::vector<Range>& due, const std::function<void(const Chunk&)>& look) {
  double reached = 0, made = 0;
  const double all = slices_in(due);
  const auto tell = [&](const Stage& at) {
    if (at.name == "weight") reached = std::max(reached, at.done);
    if (options.progress) options.progress({purpose, reached, all, at.detail});
  };
  Outcome found;
  Watch watch(tell, all, plan.flow.workers.size());
  PrepareStation prepare(reader.info(), plan);
  ReadStation read(reader, plan, watch, found);
  const auto workers =
      workers_of({plan, watch, 0, options.any_external, seconds_now()}, read, prepare, nullptr, false);
  Landing landing(Work{plan, watch}, nullptr, false);
  const auto look_once = [&](Chunk& chunk) {
    landing(chunk, look);
    made += chunk.slices.size();
    reached = std::max(reached, made);
  };
  ChunkQueue queue({}, due, {});
  send(plan, queue, read, workers, look_once, nullptr);
  add(plan, workers, found);
  return found;
}

std::vector<Range> one_by_one(const std::vector<Index>& slices) {
  std::vector<Range> due;
  for (const Index z : slices) due.push_back({z, z + 1});
  return due;
}

/// At most `most` slices, each from the middle of one of equal parts; or all slices as one chunk, if rays
/// cross slices.
std::vector<Range> some_slices(const Plan& plan, Index most) {
  const Index all = plan.job.grid.size[2], taken = std::min(all, most);
  if (plan.flow.route->slices == Slices::as_one) return {{0, all}};
  std::vector<Index> slices;
  for (Index k = 0; k < taken; ++k) slices.push_back((2 * k + 1) * all / (2 * taken));
  return one_by_one(slices);
}

/// Looks at a few slices, and then at more and more while the slices before were empty.
Outcome look_for_weights(io::ScanReader& reader, const Plan& plan, const Options& options) {
  constexpr Index times = 4;
  for (Index most = most_slices_ahead;; most *= times) {
    const std::vector<Range> some = some_slices(plan, most);
    Outcome found = look_at_some(reader, plan, options, "look ahead", some, [](const Chunk&) {});
    if (!found.weights.empty() || std::ssize(some) < most) return found;
  }
}

void find_range(io::ScanReader& reader, const Plan& plan, const Options& options, Outcome& outcome) {
  const Stopwatch watch("range", outcome.range_seconds);
  RangeFinder finder(plan.job.grid);
  const Slices slices = plan.flow.route->slices;
  const bool crossed_by_rays = slices == Slices::as_one || slices == Slices::slabs;
  look_at_some(reader, plan, options, "range",
               crossed_by_rays ? chunks_due(plan, {}) : one_by_one(finder.slices()),
               [&](const Chunk& chunk) { finder.look_at(chunk.slices, chunk.volume); });
  finder.join(plan.flow.together);
  outcome.range = finder.range();
}

/// Finds the range of integers and tells the writer. If ranks share chunks, the first one finds it.
void set_range(io::ScanReader& reader, const Plan& plan, io::VolumeWriter& writer, const Options& options,
               Outcome& outcome) {
  if (plan.flow.queue.is_first()) find_range(reader, plan, options, outcome);
  outcome.range = of_first(plan.flow.ranks, outcome.range);
  writer.set_range(outcome.range->min, outcome.range->max);
}

/// The queue of the chunks that are still to be made.
ChunkQueue queue_of(const Plan& plan, const io::VolumeWriter& writer, const Options& options) {
  std::vector<Range> due = chunks_due(plan, writer.done()), begun;
  if (options.checkpoints) {
    due = options.checkpoints->in_order(std::move(due));
    if (!plan.flow.queue.is_alone()) begun = options.checkpoints->found();
  }
  return {plan.flow.queue, std::move(due), begun};
}

}  // namespace

Searched look_ahead(io::ScanReader& reader, Plan& plan, const Options& options) {
  const Method& method = *plan.job.method;
  Searched searched;
  if (!method.is_open || !method.is_open(plan.job.options)) return searched;
  const double start = seconds_now();
  end_margins_at_bad_rows(reader, plan.job, plan.job.views);
  if (plan.flow.queue.is_first()) {
    const Outcome found = look_for_weights(reader, plan, options);
    method.settle(found, plan.job.options);
    searched = found.searched;
  }
  plan.job.options.tv_weight = of_first(plan.flow.ranks, plan.job.options.tv_weight);
  searched.seconds = seconds_now() - start;
  return searched;
}

Outcome reconstruct(io::ScanReader& reader, const Plan& asked, io::VolumeWriter& writer,
                    const Options& options) {
  Plan plan = asked;
  end_margins_at_bad_rows(reader, plan.job, plan.job.views);
  const Searched searched = look_ahead(reader, plan, options);
  Outcome outcome;
  const Comm& ranks = plan.flow.ranks;
  ChunkQueue queue = queue_of(plan, writer, options);
  const std::vector<Range>& due = queue.chunks();
  Watch watch(options.progress, plan.job.grid.size[2], plan.flow.workers.size(), options.board);
  if (!ranks.is_alone() && ranks.is_first()) watch.add_others([&] { return queue.made_by_others(); });
  if (options.board) options.board->expect(slices_in(due));
  PrepareStation prepare(reader.info(), plan);
  ReadStation read(reader, plan, watch, outcome);
  const std::shared_ptr<Truth> truth =  // if ranks solve together, the first one has all slices
      plan.flow.together.is_first() ? truth_of(plan.job.place(), options.truth, options.any_external)
                                    : nullptr;
  WriteStation write(writer, plan, watch, outcome,
                     QualityWatch(plan.job.grid, ranks.is_first() ? truth : nullptr),
                     MiddleSlices(plan.job.grid, options.pictures, options.show));
  const bool range_at_once = options.find_range && plan.flow.queue.is_alone() && due.size() == 1 &&
                             due.front().size() == plan.job.grid.size[2];
  const bool may_store = !write.looks() && !range_at_once;
  StateKeeper* keeper = options.checkpoints;
  if (!keeper) keeper = options.keeper;
  const Beside beside{options.curves, truth.get(), keeper, options.show, options.onlooker};
  const auto workers = workers_of({plan, watch, 0, options.any_external, seconds_now(), beside}, read,
                                  prepare, &writer, may_store);
  Landing landing(Work{plan, watch}, &writer, may_store);
  if (range_at_once) landing.whole();
  const auto save = [&](Chunk& some) {
    write(some);
    queue.made(some.slices.size());
  };
  {
    const Stopwatch whole("reconstruct", outcome.seconds.total);
    if (range_at_once)
      write.find_range();
    else if (options.find_range)
      set_range(reader, plan, writer, options, outcome);
    const KeepHostMemory kept;  // chunks have one size, and so have their arrays
    send(
        plan, queue, read, workers, [&](Chunk& chunk) { landing(chunk, save); }, options.board);
    writer.collect();
  }
  add(plan, workers, outcome);
  outcome.add(landing.outcome());
  if (ranks.is_first()) outcome.begin_with(searched);
  if (!plan.flow.together.is_first()) outcome.iterated.clear();  // all ranks did the same
  prepare.add_ranks(ranks, outcome);
  if (!ranks.is_first()) return outcome;
  write.look_at_rest();
  prepare.finish(outcome);
  if (plan.job.method->conclude) plan.job.method->conclude(plan, outcome);
  write.finish();
  return outcome;
}

}  // namespace tandem::pipeline
