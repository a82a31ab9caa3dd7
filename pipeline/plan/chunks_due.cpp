#include "chunks_due.hpp"

#include <algorithm>

#include "../../core/ceil_div.hpp"
#include "problem.hpp"
#include "route.hpp"

namespace tandem::pipeline {

namespace {

/// The row of the file, after binning, that becomes slice 0.
Index first_row(const Job& job) { return job.rows.first / job.rows_together; }

/// Whether chunks may have any size. They may not if a part of the scan that is read at once has several
/// chunks, because each chunk must lie within one part.
bool chunks_are_free(const Plan& plan) {
  const Index all = plan.job.grid.size[2], part = part_slices(plan.flow, all);
  return route_of(plan.flow).slices_apart && (part == 0 || part == all);
}

/// The slices of the first chunk. If chunks are large because of their margins, the first ones are small, so
/// that the writer does not wait long.
Index slices_of_first_chunk(const Plan& plan) {
  constexpr Index few = 16;
  const Index all = plan.flow.chunk_slices;
  const bool grows = plan.job.margin.beside > 0 && plan.flow.home().is_cuda() && chunks_are_free(plan) &&
                     all < plan.job.grid.size[2];
  return grows ? std::min(all, std::max(block_of_chunks(plan), ceil_div(all / 4, few) * few)) : all;
}

/// The end of a chunk of at most `size` slices. It is the end of a block of the steps, if there is one.
Index end_of_chunk(const Plan& plan, Index first, Index size) {
  const Index last = first + size, beyond = (first_row(plan.job) + last) % block_of_chunks(plan);
  if (last >= plan.job.grid.size[2]) return plan.job.grid.size[2];
  return last - beyond > first ? last - beyond : last;
}

}  // namespace

Index block_of_chunks(const Plan& plan) { return chunks_are_free(plan) ? plan.job.margin.block : 1; }

std::vector<Range> chunks_due(const Plan& plan, const std::vector<Range>& done) {
  const Index slices = plan.job.grid.size[2];
  const auto is_done = [&](Range chunk) {
    return std::any_of(done.begin(), done.end(),
                       [&](Range some) { return some.first <= chunk.first && chunk.last <= some.last; });
  };
  std::vector<Range> due;
  Index size = slices_of_first_chunk(plan);
  for (Index first = 0; first < slices; size = std::min(2 * size, plan.flow.chunk_slices)) {
    const Range chunk{first, end_of_chunk(plan, first, size)};
    if (!is_done(chunk)) due.push_back(chunk);
    first = chunk.last;
  }
  return due;
}

RowsRead rows_around(const Job& job, Range rows) {
  const Index factor = job.rows_together;
  const Range own{job.rows.first + rows.first * factor, job.rows.first + rows.last * factor};
  if (own.size() == 0) return {own};
  const Range kept{first_row(job) + rows.first, first_row(job) + rows.last}, needed = job.margin.around(kept);
  const Index above = std::min(kept.first - needed.first, (own.first - job.rows_there.first) / factor),
              below = std::min(needed.last - kept.last, (job.rows_there.last - own.last) / factor);
  return {
      {own.first - above * factor, own.last + below * factor}, above, below, {above, above + rows.size()}};
}

RowsRead rows_read(const Plan& plan, Range slices) {
  const Range rows = rows_of(plan, slices);
  RowsRead read = rows_around(plan.job, rows);
  if (read.rows.size() == 0) return read;
  const Index before = slices.first > 0 ? rows_of(plan, {0, slices.first}).last : rows.first,
              fresh = std::clamp(before, rows.first, rows.last) - rows.first;
  read.counted.first += fresh;
  return read;
}

}  // namespace tandem::pipeline
