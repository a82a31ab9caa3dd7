#include "reconstruct.hpp"

#include <algorithm>
#include <array>

#include "../core/parallel.hpp"
#include "stations/compute.hpp"
#include "stations/prepare.hpp"
#include "stations/read.hpp"
#include "stations/write.hpp"
#include "stopwatch.hpp"

namespace tandem::pipeline {

Outcome reconstruct(io::ScanReader& reader, const Plan& plan, io::VolumeWriter& writer,
                    const Options& options) {
  Outcome outcome;
  const Index slices = plan.grid.size[2], step = plan.rows_at_once;
  Watch watch(options.progress, static_cast<double>(slices));
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
      chunk(i).slices = {i * step, std::min(slices, (i + 1) * step)};
      read(chunk(i));
      prepare(chunk(i));
    };
    conveyor((slices + step - 1) / step, load, [&](Index i) { compute(chunk(i)); },
             [&](Index i) { write(chunk(i)); });
  }
  prepare.finish();
  compute.finish();
  write.finish();
  return outcome;
}

}  // namespace tandem::pipeline
