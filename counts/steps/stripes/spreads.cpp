#include "spreads.hpp"

#include <cmath>

#include "../../../core/parallel.hpp"
#include "../../../core/rounding.hpp"

namespace tandem::pipeline::stripes {

namespace {

float ranked(std::vector<float>& values, Index rank) {
  const auto place = values.begin() + rank;
  std::ranges::nth_element(values, place);
  return *place;
}

}  // namespace

ColumnSpreads spreads_of(const Plane& columns, const ColumnSum& sum, Index rank) {
  const Index count = std::max<Index>(0, columns.rows - sum.reach()), views = columns.columns;
  ColumnSpreads all{std::vector<float>(count), {}};
  all.distances = all.medians;
  parallel_for_blocks(count, 16, [&](Range some) {
    std::vector<float> values(views);
    for (Index bin = some.first; bin < some.last; ++bin) {
      for (Index view = 0; view < views; ++view)
        values[view] = sum([&](int k) { return columns(bin + k * sum.step, view); });
      const float middle = ranked(values, views / 2);
      for (float& v : values) v = std::abs(v - middle);
      all.medians[bin] = middle;
      all.distances[bin] = ranked(values, rank);
    }
  });
  return all;
}

/// Binomials with alternating signs.
ColumnSum differences(Index order) {
  ColumnSum sum{int_of(order) + 1, 1, {1}};
  for (Index k = 1; k <= order; ++k)
    for (Index i = k; i > 0; --i) sum.weights[i] -= sum.weights[i - 1];
  return sum;
}

}  // namespace tandem::pipeline::stripes
