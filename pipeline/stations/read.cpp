#include "read.hpp"

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

void ReadStation::operator()(Chunk& chunk) {
  const Range rows = rows_of(plan_, chunk.slices);
  if (rows.size() == 0) return;
  const Stopwatch watch("read", outcome_.seconds.read);
  const auto first = static_cast<double>(chunk.slices.first);
  watch_.reading("read", first);
  reader_.read(io::FrameKind::projection, plan_.views, rows, plan_.bins, chunk.projections);
  chunk.reference = read_reference(reader_, rows, plan_.bins, plan_.preprocessing);
  watch_.reading("", first);
}

}  // namespace tandem::pipeline
