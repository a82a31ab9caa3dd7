#include "weights.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "../core/parallel.hpp"
#include "../kernels/counts.hpp"

namespace tandem::pipeline {

namespace {

/// The place of some views within a block, and the ranks that have the others.
struct Place {
  Index first, views;  ///< the first of them, and how many views the block has
  Comm ranks = {};
};

/// Some finite values of rows from a block: of many data each 2nd, or 3rd, ...
std::vector<float> samples_of(const Image<const float>& some, Range rows, const Place& place) {
  const kernels::MedianSamples samples(place.views * rows.size() * some.n2);
  std::vector<float> values;
  for (Index view = 0; view < some.n0; ++view)
    for (Index row = rows.first; row < rows.last; ++row)
      for (Index bin = samples.first(place.first + view, row - rows.first); bin < some.n2;
           bin += samples.step)
        if (std::isfinite(some(view, row, bin))) values.push_back(some(view, row, bin));
  return values;
}

/// The median, or 0 if there are no values.
float median_of(std::vector<float> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// All ranks: the median of what all of them have.
float median_of(std::vector<float> own, const Comm& ranks) {
  if (ranks.is_alone()) return median_of(std::move(own));
  return of_first(ranks, median_of(ranks.gather(own)));
}

/// Makes weights of the variances of some rows, in place.
void weigh(const Image<float>& some, Range rows, const Place& place) {
  const float median = median_of(
      samples_of({some.data, some.n0, some.n1, some.n2, some.s0, some.s1}, rows, place), place.ranks);
  const auto for_each = [&](const auto& work) {
    parallel_for(some.n0, [&](Index view) {
      for (Index row = rows.first; row < rows.last; ++row)
        for (Index bin = 0; bin < some.n2; ++bin) work(view, some(view, row, bin));
    });
  };
  std::vector<double> sums(some.n0);  // sum of each view
  for_each([&](Index view, float& v) {
    v = kernels::weight_of(v, median);
    sums[view] += v;
  });
  double sum = std::accumulate(sums.begin(), sums.end(), 0.0);
  place.ranks.all_reduce({&sum, 1});
  if (!(sum > 0)) return;
  const auto scale = static_cast<float>(place.views * rows.size() * some.n2 / sum);
  for_each([&](Index, float& v) { v *= scale; });
}

}  // namespace

Array weights_of(Array variances) {
  const Image<float> all = image(VectorView(variances));
  if (variances.space().block_count() == 1)
    weigh(all, {0, all.n1}, {0, all.n0});
  else
    parallel_for(all.n1, [&](Index row) { weigh(all, {row, row + 1}, {0, all.n0}); });
  return variances;
}

Array weights_of(Array variances, Index first, Index views, const Comm& ranks) {
  const Image<float> own = image(VectorView(variances));
  weigh(own, {0, own.n1}, {first, views, ranks});
  return variances;
}

}  // namespace tandem::pipeline
