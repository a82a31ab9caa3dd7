#include "reconstruct.hpp"

#include <memory>
#include <vector>

#include "../core/parallel.hpp"
#include "chunks_due.hpp"
#include "methods/method.hpp"
#include "stations/compute.hpp"
#include "stations/prepare.hpp"
#include "stations/read.hpp"
#include "stations/write.hpp"
#include "stopwatch.hpp"

namespace tandem::pipeline {

namespace {

/// A station for each worker of the plan.
std::vector<std::unique_ptr<ComputeStation>> workers_of(const Plan& plan, Watch& watch, bool any_external,
                                                        PrepareStation& prepare) {
  std::vector<std::unique_ptr<ComputeStation>> workers;
  for (std::size_t i = 0; i < plan.workers.size(); ++i)
    workers.push_back(
        std::make_unique<ComputeStation>(Work{plan, watch, i, any_external, seconds_now()}, prepare));
  return workers;
}

}  // namespace

Outcome reconstruct(io::ScanReader& reader, const Plan& plan, io::VolumeWriter& writer,
                    const Options& options) {
  Outcome outcome;
  const std::vector<Range> due = chunks_due(plan, writer.done());
  Watch watch(options.progress, static_cast<double>(plan.grid.size[2]), plan.workers.size());
  PrepareStation prepare(reader.info(), plan);
  ReadStation read(reader, plan, watch, outcome);
  const auto workers = workers_of(plan, watch, options.any_external, prepare);
  WriteStation write(writer, plan, watch, outcome, QualityWatch(plan, options.truth, options.any_external),
                     MiddleSlices(plan, options.pictures, options.show));
  {
    const Stopwatch whole("reconstruct", outcome.seconds.total);
    const KeepArrays kept;  // chunks are of one size, and so are their arrays
    const auto count = static_cast<Index>(workers.size());
    std::vector<Chunk> chunks(static_cast<std::size_t>(conveyor_places(count)));
    const auto chunk = [&](const Item& item) -> Chunk& {
      return chunks[static_cast<std::size_t>(item.place)];
    };
    const auto load = [&](const Item& item) {
      chunk(item).slices = due[static_cast<std::size_t>(item.number)];
      read(chunk(item));
    };
    conveyor(
        static_cast<Index>(due.size()), count, load,
        [&](const Item& item) { (*workers[static_cast<std::size_t>(item.worker)])(chunk(item)); },
        [&](const Item& item) { write(chunk(item)); });
  }
  write.look_at_rest(due);
  for (const auto& worker : workers) outcome.add(worker->outcome());
  prepare.finish(outcome);
  if (plan.method->conclude) plan.method->conclude(plan, outcome);
  write.finish();
  return outcome;
}

}  // namespace tandem::pipeline
