#include "../../../core/rounding.hpp"
#include "columns.hpp"

namespace tandem::pipeline::stripes {

namespace {

constexpr Index reach = 3;          // columns to those that a column is compared with
constexpr Index near = 4, far = 7;  // columns to those whose deviations are compared
constexpr double share = 0.02;      // part of the views in which a column may be anything

}  // namespace

ColumnSum beside_others() { return {3, reach, {-0.5f, 1, -0.5f}}; }

Index deviation_rank(Index views) { return floor_index((1 - share) * views); }

/// Edges of a sample pass all columns, so deviations change little from column to column: 1.7 times at most
/// in all samples that were tried.
std::vector<bool> failing_columns(std::span<const float> deviations, Index bins) {
  constexpr double many = 2.5, least = 0.02;
  std::vector<double> all(bins, 0.0);
  std::ranges::copy(deviations, all.begin() + std::min(reach, bins));
  std::vector<bool> marks(all.size());
  for (std::size_t k = far; k + far < all.size(); ++k) {
    double beside = 0;
    for (std::size_t d = near; d <= far; ++d) beside = std::max({beside, all[k - d], all[k + d]});
    marks[k] = all[k] > std::max(least, many * beside);
  }
  return marks;
}

}  // namespace tandem::pipeline::stripes
