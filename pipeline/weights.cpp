#include "weights.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "../core/parallel.hpp"
#include "../kernels/counts.hpp"

namespace tandem::pipeline {

namespace {

/// The median of finite values of some rows, 0 if there are none. Of many it takes each 2nd, or 3rd, ...
float median_of(const Image<const float>& all, Index first, Index last) {
  const kernels::MedianSamples samples(all.n0 * (last - first) * all.n2);
  std::vector<float> values;
  for (Index view = 0; view < all.n0; ++view)
    for (Index row = first; row < last; ++row)
      for (Index bin = samples.first(view, row - first); bin < all.n2; bin += samples.step)
        if (std::isfinite(all(view, row, bin))) values.push_back(all(view, row, bin));
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Makes weights of the variances of some rows, in place.
void weigh(const Image<float>& all, Index first, Index last) {
  const float median = median_of({all.data, all.n0, all.n1, all.n2, all.s0, all.s1}, first, last);
  const auto for_each = [&](const auto& work) {
    parallel_for(all.n0, [&](Index view) {
      for (Index row = first; row < last; ++row)
        for (Index bin = 0; bin < all.n2; ++bin) work(view, all(view, row, bin));
    });
  };
  std::vector<double> sums(static_cast<std::size_t>(all.n0));  // of the views
  for_each([&](Index view, float& v) {
    v = kernels::weight_of(v, median);
    sums[static_cast<std::size_t>(view)] += static_cast<double>(v);
  });
  const double sum = std::accumulate(sums.begin(), sums.end(), 0.0);
  if (!(sum > 0)) return;
  const auto scale = static_cast<float>(static_cast<double>(all.n0 * (last - first) * all.n2) / sum);
  for_each([&](Index, float& v) { v *= scale; });
}

}  // namespace

Array weights_of(Array variances) {
  const Image<float> all = image(VectorView(variances));
  if (variances.space().block_count() == 1)
    weigh(all, 0, all.n1);
  else
    parallel_for(all.n1, [&](Index row) { weigh(all, row, row + 1); });
  return variances;
}

}  // namespace tandem::pipeline
