#include <cmath>

#include "../../../core/parallel.hpp"
#include "columns.hpp"

namespace tandem::pipeline::stripes {

namespace {

constexpr Index reach = 3;          // columns to those that a column is compared with
constexpr Index near = 4, far = 7;  // columns to those whose deviations are compared
constexpr double share = 0.02;      // of the views, in which a column may be anything

/// How far each column goes away from the mean of two others beside it, apart from what it does in all views.
std::vector<double> deviations_of(const Plane& sinogram) {
  const Plane columns = transposed(sinogram);
  std::vector<double> all(static_cast<std::size_t>(columns.rows), 0.0);
  parallel_for_blocks(std::max<Index>(0, columns.rows - 2 * reach), 16, [&](Range some) {
    std::vector<float> apart(static_cast<std::size_t>(columns.columns));
    for (Index b = some.first + reach; b < some.last + reach; ++b) {
      const float *own = columns.row(b), *before = columns.row(b - reach), *behind = columns.row(b + reach);
      for (std::size_t view = 0; view < apart.size(); ++view)
        apart[view] = own[view] - 0.5f * (before[view] + behind[view]);
      const float usual = median(apart);
      for (float& x : apart) x = std::abs(x - usual);
      const auto place = static_cast<std::ptrdiff_t>((1 - share) * static_cast<double>(apart.size()));
      std::ranges::nth_element(apart, apart.begin() + place);
      all[static_cast<std::size_t>(b)] = apart[static_cast<std::size_t>(place)];
    }
  });
  return all;
}

}  // namespace

/// Edges of a sample pass all columns, so deviations change little from column to column: 1.7 times at most
/// in all samples that were tried.
std::vector<bool> failing_columns(const Plane& sinogram) {
  constexpr double many = 2.5, least = 0.02;
  const std::vector<double> all = deviations_of(sinogram);
  std::vector<bool> marks(all.size());
  for (std::size_t k = far; k + far < all.size(); ++k) {
    double beside = 0;
    for (std::size_t d = near; d <= far; ++d) beside = std::max({beside, all[k - d], all[k + d]});
    marks[k] = all[k] > std::max(least, many * beside);
  }
  return marks;
}

}  // namespace tandem::pipeline::stripes
