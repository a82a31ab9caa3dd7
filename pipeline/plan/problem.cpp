#include "problem.hpp"

#include <algorithm>
#include <numeric>

namespace tandem::pipeline {

Range places_within(std::span<const Index> views, Range own) {
  const auto place = [&](Index view) { return std::ranges::lower_bound(views, view) - views.begin(); };
  return {place(own.first), place(own.last)};
}

Subsets Equations::in_subsets(Index count) const {
  if (subsets) return subsets(count);
  std::vector<Index> all(A.range().shape()[0]);
  std::iota(all.begin(), all.end(), Index{0});
  return {{A}, {std::move(all)}};
}

bool has_row_axes(const Scan& scan) { return !row_axes_of(scan).empty(); }

bool are_alike(const Problem& a, const Problem& b) {
  const bool apart = rows_are_slices(a.scan) && !has_row_axes(a.scan) && !has_row_axes(b.scan);
  return a.A.domain() == b.A.domain() && a.A.range() == b.A.range() &&
         (apart || a.grid.centre == b.grid.centre);
}

}  // namespace tandem::pipeline
