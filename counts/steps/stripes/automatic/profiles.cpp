#include "profiles.hpp"

#include "../../../../core/parallel.hpp"
#include "../banded.hpp"

namespace tandem::pipeline::stripes {

namespace {

/// Medians over blocks of views of the differences between two columns, (block, bin) from `bin` on.
void add_medians(const float* before, const float* behind, Index views, Index bins, float* medians) {
  std::vector<float> differences(views);
  for (std::size_t v = 0; v < differences.size(); ++v) differences[v] = behind[v] - before[v];
  for (std::size_t block = 0; block < view_blocks; ++block) {
    const Range own = views_of_block(block, views);
    const auto first = differences.begin() + own.first, middle = first + own.size() / 2;
    std::nth_element(first, middle, differences.begin() + own.last);
    medians[static_cast<Index>(block) * bins] = *middle;
  }
}

/// The differences of a step, without what is known; and the variance of each, of the columns around it
/// together, with the usual one as the least.
struct Differences {
  std::vector<OfBlocks> values = {};
  std::vector<double> variances = {};
};

Differences differences_of(std::span<const float> medians, Index step, std::span<const double> known) {
  constexpr double rounding = 1e-8;
  const std::size_t apart = step, count = known.size() - apart;
  Differences all;
  std::vector<double> own;
  for (std::size_t b = 0; b < count; ++b) {
    OfBlocks values;
    for (std::size_t k = 0; k < view_blocks; ++k)
      values[k] = medians[k * count + b] - (known[b + apart] - known[b]);
    all.values.push_back(values);
    own.push_back(trimmed_mean(values).variance);
  }
  const double least = usual_share * median(own) + rounding;
  for (std::size_t b = 0; b < count; ++b) {
    double sum = 0;
    for (int d = -2; d <= 2; ++d) sum += own[nearest(b + d, count)];
    all.variances.push_back(sum / 5 + least);
  }
  return all;
}

}  // namespace

ColumnSum difference_over(Index step) { return {2, step, {-1, 1}}; }

BlockMedians block_medians_of(const Plane& columns) {
  BlockMedians all{columns.rows};
  for (std::size_t s = 0; s < steps_of_profiles.size(); ++s) {
    const Index step = steps_of_profiles[s], bins = columns.rows - step;
    all.of_step[s].resize(view_blocks * bins);
    parallel_for_blocks(bins, 16, [&](Range some) {
      for (Index b = some.first; b < some.last; ++b)
        add_medians(columns.row(b), columns.row(b + step), columns.columns, bins, &all.of_step[s][b]);
    });
  }
  return all;
}

std::vector<OfBlocks> profiles_of(const BlockMedians& medians, std::span<const double> known) {
  constexpr double any_constant = 1e-9;
  Banded<steps_of_profiles.back() + 1> matrix(known.size());
  std::vector<OfBlocks> profile(known.size());
  double largest = 0;
  for (std::size_t s = 0; s < steps_of_profiles.size(); ++s) {
    const std::size_t step = steps_of_profiles[s];
    const Differences all = differences_of(medians.of_step[s], steps_of_profiles[s], known);
    for (std::size_t b = 0; b < all.values.size(); ++b) {
      const double weight = 1 / all.variances[b];
      matrix(b, b) += weight, matrix(b + step, b + step) += weight, matrix(b, b + step) -= weight;
      profile[b + step] += weight * all.values[b];
      profile[b] -= weight * all.values[b];
    }
  }
  for (std::size_t b = 0; b < known.size(); ++b) largest = std::max(largest, matrix(b, b));
  for (std::size_t b = 0; b < known.size(); ++b) matrix(b, b) += any_constant * largest;
  matrix.solve(profile);
  return profile;
}

}  // namespace tandem::pipeline::stripes
