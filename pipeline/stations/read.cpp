#include "read.hpp"

#include "../chunks_due.hpp"
#include "../stopwatch.hpp"

namespace tandem::pipeline {

namespace {

/// Rows of the file that the slices are made from.
Range rows_of(const Plan& plan, Range slices) {
  if (!rows_are_slices(plan.scan)) return slices.first > 0 ? Range{0, 0} : plan.rows;
  const Index factor = plan.rows_together;
  return {plan.rows.first + slices.first * factor, plan.rows.first + slices.last * factor};
}

}  // namespace

Load ReadStation::load_of(Range slices, Range rows) const {
  const Index pixels = plan_.views.size() * rows.size() * plan_.bins.size();
  return {.slices = static_cast<double>(slices_fed(plan_, slices.size())),
          .bytes = static_cast<double>(pixels) * static_cast<double>(bytes_of(reader_.info().type))};
}

void ReadStation::operator()(Chunk& chunk) {
  const Range rows = rows_of(plan_, chunk.slices);
  if (rows.size() == 0) return;
  const Stopwatch watch("read", outcome_.seconds.read, watch_.board(), load_of(chunk.slices, rows));
  const auto first = static_cast<double>(chunk.slices.first);
  watch_.reading("read", first);
  constexpr auto kind = io::FrameKind::projection;
  if (const auto there = reader_.in_memory(kind, plan_.views, rows, plan_.bins)) {
    chunk.counts = *there;
  } else {
    reader_.read(kind, plan_.views, rows, plan_.bins, chunk.read);
    chunk.counts = chunk.read;
  }
  chunk.reference = read_reference(reader_, rows, plan_.bins, plan_.preprocessing);
  watch_.reading("", first);
}

}  // namespace tandem::pipeline
