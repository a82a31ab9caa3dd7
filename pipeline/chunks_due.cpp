#include "chunks_due.hpp"

#include <algorithm>

namespace tandem::pipeline {

std::vector<Range> chunks_due(const Plan& plan, const std::vector<Range>& done) {
  const Index slices = plan.grid.size[2], step = plan.rows_at_once;
  const auto is_done = [&](Range chunk) {
    return rows_are_slices(plan.scan) && std::any_of(done.begin(), done.end(), [&](Range some) {
             return some.first <= chunk.first && chunk.last <= some.last;
           });
  };
  std::vector<Range> due;
  for (Index first = 0; first < slices; first += step)
    if (const Range chunk{first, std::min(slices, first + step)}; !is_done(chunk)) due.push_back(chunk);
  return due;
}

RowsRead rows_read(const Plan& plan, Range slices) {
  const bool apart = rows_are_slices(plan.scan);
  if (!apart && slices.first > 0) return {};
  const Index factor = plan.rows_together;
  const Range own =
      apart ? Range{plan.rows.first + slices.first * factor, plan.rows.first + slices.last * factor}
            : plan.rows;
  if (own.size() == 0) return {own};
  const Index above = std::min(plan.margin, (own.first - plan.rows_there.first) / factor),
              below = std::min(plan.margin, (plan.rows_there.last - own.last) / factor);
  return {{own.first - above * factor, own.last + below * factor}, above, below};
}

Index slices_fed(const Plan& plan, Index slices) {
  return rows_are_slices(plan.scan) ? slices : plan.grid.size[2];
}

}  // namespace tandem::pipeline
