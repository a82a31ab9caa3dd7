#include "reconstruct.hpp"

#include <array>
#include <vector>

#include "../core/parallel.hpp"
#include "chunks_due.hpp"
#include "stations/compute.hpp"
#include "stations/prepare.hpp"
#include "stations/read.hpp"
#include "stations/write.hpp"
#include "stopwatch.hpp"

namespace tandem::pipeline {

Outcome reconstruct(io::ScanReader& reader, const Plan& plan, io::VolumeWriter& writer,
                    const Options& options) {
  Outcome outcome;
  const std::vector<Range> due = chunks_due(plan, writer.done());
  Watch watch(options.progress, static_cast<double>(plan.grid.size[2]));
  PrepareStation prepare(reader.info(), plan, watch, outcome);
  ReadStation read(reader, plan, watch, outcome);
  ComputeStation compute(plan, watch, outcome, options.any_external);
  WriteStation write(writer, plan, watch, outcome, QualityWatch(plan, options.truth, options.any_external),
                     MiddleSlices(plan, options.pictures));
  {
    const Stopwatch whole("reconstruct", outcome.seconds.total);
    std::array<Chunk, conveyor_items> chunks;  // a chunk has left before its place is taken again
    const auto chunk = [&](Index i) -> Chunk& {
      return chunks[static_cast<std::size_t>(i % conveyor_items)];
    };
    const auto load = [&](Index i) {
      chunk(i).slices = due[static_cast<std::size_t>(i)];
      read(chunk(i));
      prepare(chunk(i));
    };
    conveyor(
        static_cast<Index>(due.size()), load, [&](Index i) { compute(chunk(i)); },
        [&](Index i) { write(chunk(i)); });
  }
  prepare.finish();
  compute.finish();
  write.look_at_rest(due);
  write.finish();
  return outcome;
}

}  // namespace tandem::pipeline
