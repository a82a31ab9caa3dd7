#include "reconstruct.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/host_memory.hpp"
#include "../core/parallel.hpp"
#include "../core/spelled.hpp"
#include "checkpoints.hpp"
#include "methods/method.hpp"
#include "plan/chunks_due.hpp"
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

/// A run of the stations of a plan: each chunk is read, made and landed, while others are.
class Run {
 public:
  /// `work`: of the first worker. `may_store` is as in `Landing`.
  Run(io::ScanReader& reader, const Work& work, Outcome& outcome, io::VolumeWriter* writer, bool may_store)
      : plan_(work.plan),
        board_(work.watch.board()),
        outcome_(outcome),
        read_(reader, plan_, work.watch, outcome),
        prepare_(read_, reader.info(), plan_),
        landing_(work, writer, may_store) {
    for (std::size_t k = 0; k < plan_.flow.workers.size(); ++k) {
      Work one = work;
      one.worker = k;
      workers_.push_back(
          std::make_unique<ComputeStation>(std::move(one), read_, prepare_, writer, may_store));
    }
  }

  /// Makes the chunks of a queue, and hands each on to `use`, perhaps a few slices at a time.
  void operator()(ChunkQueue& queue, const std::function<void(Chunk&)>& use) {
    const std::vector<Range>& due = queue.chunks();
    std::vector<Chunk> chunks(conveyor_places(workers_.size()));
    const auto chunk = [&](const Item& item) -> Chunk& { return chunks[item.place]; };
    const auto read = [&](const Item& item) {
      chunk(item).slices = due[item.number];
      if (const auto asked = route_of(plan_.flow).request(plan_, chunk(item).slices))
        chunk(item).counts = read_.get(*asked);
      waits("preprocess", 1);
    };
    const auto make = [&](const Item& item) {
      waits("preprocess", -1);
      (*workers_[item.worker])(chunk(item));
      waits("write", 1);
    };
    const auto land = [&](const Item& item) {
      waits("write", -1);
      landing_(chunk(item), use);
    };
    conveyor([&] { return queue.next(); }, std::ssize(workers_), read, make, land);
    add_outcomes();
  }

  Landing& landing() { return landing_; }
  PrepareStation& prepare() { return prepare_; }

 private:
  void waits(const char* station, int change) {
    if (board_) board_->queue(station, change);
  }

  void add_outcomes() {
    for (const auto& worker : workers_) outcome_.add(worker->outcome());
    outcome_.add(landing_.outcome());
  }

  const Plan& plan_;
  StationBoard* board_;
  Outcome& outcome_;
  ReadStation read_;
  PrepareStation prepare_;
  Landing landing_;
  std::vector<std::unique_ptr<ComputeStation>> workers_;
};

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
  Run run(reader, {plan, watch, 0, options.any_external, seconds_now()}, found, nullptr, false);
  ChunkQueue queue({}, due, {});
  run(queue, [&](Chunk& chunk) {
    look(chunk);
    made += chunk.slices.size();
    reached = std::max(reached, made);
  });
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
  if (route_of(plan.flow).one_problem) return {{0, all}};
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
  look_at_some(reader, plan, options, "range",
               route_of(plan.flow).cheap_slices ? one_by_one(finder.slices()) : chunks_due(plan, {}),
               [&](const Chunk& chunk) { finder.look_at(chunk.slices, chunk.volume); });
  finder.join(plan.flow.shared.vectors);
  outcome.range = finder.range();
}

/// Finds the range of integers and tells the writer. If ranks share chunks, the first one finds it.
void set_range(io::ScanReader& reader, const Plan& plan, io::VolumeWriter& writer, const Options& options,
               Outcome& outcome) {
  if (plan.flow.shared.queue.is_first()) find_range(reader, plan, options, outcome);
  outcome.range = of_first(plan.flow.shared.ranks, outcome.range);
  writer.set_range(outcome.range->min, outcome.range->max);
}

/// The queue of the chunks that are still to be made.
ChunkQueue queue_of(const Plan& plan, const io::VolumeWriter& writer, const Options& options) {
  std::vector<Range> due = chunks_due(plan, writer.done()), begun;
  if (options.checkpoints) {
    due = options.checkpoints->in_order(std::move(due));
    if (!plan.flow.shared.queue.is_alone()) begun = options.checkpoints->found();
  }
  return {plan.flow.shared.queue, std::move(due), begun};
}

}  // namespace

Searched look_ahead(io::ScanReader& reader, Plan& plan, const Options& options) {
  const Method& method = *plan.job.method;
  Searched searched;
  if (!method.is_open || !method.is_open(plan.job.options)) return searched;
  const double start = seconds_now();
  end_margins_at_bad_rows(reader, plan.job);
  if (plan.flow.shared.queue.is_first()) {
    const Outcome found = look_for_weights(reader, plan, options);
    method.settle(found, plan.job.options);
    searched = found.searched;
  }
  plan.job.options.tv_weight = of_first(plan.flow.shared.ranks, plan.job.options.tv_weight);
  searched.seconds = seconds_now() - start;
  return searched;
}

Outcome reconstruct(io::ScanReader& reader, const Plan& asked, io::VolumeWriter& writer,
                    const Options& options) {
  require<GeometryError>(!asked.job.options.follow || options.following.scan,
                         spelled("follow") + ": no growing scan is given");
  Plan plan = asked;
  end_margins_at_bad_rows(reader, plan.job);
  const Searched searched = look_ahead(reader, plan, options);
  Outcome outcome;
  const Comm& ranks = plan.flow.shared.ranks;
  ChunkQueue queue = queue_of(plan, writer, options);
  const std::vector<Range>& due = queue.chunks();
  Watch watch(options.progress, plan.job.grid.size[2], plan.flow.workers.size(), options.board);
  if (!ranks.is_alone() && ranks.is_first()) watch.add_others([&] { return queue.made_by_others(); });
  if (options.board) options.board->expect(slices_in(due));
  const std::shared_ptr<Truth> truth =  // if ranks solve together, the first one has all slices
      plan.flow.shared.vectors.is_first() ? truth_of(plan.job.place(), options.truth, options.any_external)
                                          : nullptr;
  WriteStation write(writer, plan, watch, outcome,
                     QualityWatch(plan.job.grid, ranks.is_first() ? truth : nullptr),
                     MiddleSlices(plan.job.grid, options.pictures, options.show));
  const bool range_at_once = options.find_range && plan.flow.shared.queue.is_alone() && due.size() == 1 &&
                             due.front().size() == plan.job.grid.size[2];
  const bool may_store = !write.looks() && !range_at_once;
  StateKeeper* keeper = options.checkpoints;
  if (!keeper) keeper = options.keeper;
  const Beside beside{options.curves, truth.get(), keeper, options.show, options.onlooker, options.following};
  Run run(reader, {plan, watch, 0, options.any_external, seconds_now(), beside}, outcome, &writer, may_store);
  run.prepare().watch_beam();
  {
    const Stopwatch whole("reconstruct", outcome.seconds.total);
    if (range_at_once)
      write.find_range(), run.landing().whole();
    else if (options.find_range)
      set_range(reader, plan, writer, options, outcome);
    std::optional<KeepHostMemory> kept;  // chunks have one size, and so have their arrays
    if (!plan.job.options.follow) kept.emplace();
    run(queue, [&](Chunk& some) {
      write(some);
      queue.made(some.slices.size());
    });
    writer.collect();
  }
  if (ranks.is_first()) outcome.begin_with(searched);
  if (!plan.flow.shared.vectors.is_first()) outcome.iterated.clear();  // all ranks did the same
  run.prepare().add_ranks(ranks, outcome);
  if (!ranks.is_first()) return outcome;
  write.look_at_rest();
  run.prepare().finish(outcome);
  if (plan.job.method->conclude) plan.job.method->conclude(plan, outcome);
  write.finish();
  return outcome;
}

}  // namespace tandem::pipeline
