#include "outliers.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tandem::pipeline {

namespace {

/// The bins of a row that may be outliers. A value is above the median of n others by the threshold if it is
/// above so many of them by the threshold that the median must be one of them. This takes no median.
class Suspects {
 public:
  explicit Suspects(std::size_t bins) : above_(bins, 0), below_(bins, 0) {}

  /// Counts, in the window of each bin, the values of a line at one offset. Bins whose window leaves the row
  /// there stay suspects.
  void count(std::span<const float> row, const float* line, Index offset, float threshold) {
    const Index bins = row.size();
    const Index first = std::max<Index>(0, -offset), last = bins - std::max<Index>(0, offset);
    const float *y = row.data(), *other = line + offset;
    for (Index b = first; b < last; ++b) {
      above_[b] += y[b] - other[b] >= threshold;
      below_[b] += other[b] - y[b] >= threshold;
    }
  }
  int above(std::size_t bin) const { return above_[bin]; }
  int below(std::size_t bin) const { return below_[bin]; }

 private:
  std::vector<int> above_, below_;
};

/// The finite values of a window.
void gather(std::span<const float* const> lines, Index bins, Index bin, const OutlierRule& rule,
            std::vector<float>& finite) {
  finite.clear();
  for (const float* line : lines)
    for (Index b = bin - rule.size / 2; b < bin - rule.size / 2 + rule.size; ++b)
      if (const float value = line[bin_within(b, bins, bin, rule.border)]; std::isfinite(value))
        finite.push_back(value);
}

/// @pre there is one
float median(std::vector<float>& finite, std::size_t window) {
  const auto middle = finite.begin() + (finite.size() - window % 2) / 2;
  std::ranges::nth_element(finite, middle);
  return *middle;
}

bool all_finite(const float* line, std::size_t bins) {
  bool finite = true;
  for (std::size_t b = 0; b < bins; ++b) finite &= std::isfinite(line[b]);
  return finite;
}

}  // namespace

Index replace_outliers(std::span<float> row, std::span<const float* const> lines, const OutlierRule& rule) {
  const Index bins = row.size();
  const Index window = lines.size() * rule.size;
  const bool finite = std::ranges::all_of(lines, [&](const float* l) { return all_finite(l, row.size()); });
  const Index before = rule.size / 2, behind = rule.size - 1 - before;
  Suspects suspects(row.size());
  for (const float* line : lines)
    for (Index offset = -before; finite && offset <= behind; ++offset)
      suspects.count(row, line, offset, rule.threshold);
  const Index rank = (window - window % 2) / 2;  // rank of the median
  const auto may_be_one = [&](Index b) {
    if (!finite || b < before || b + behind >= bins) return true;
    const std::size_t at = b;
    return suspects.above(at) > rank || (rule.dark && suspects.below(at) >= window - rank);
  };
  std::vector<float> values;
  std::vector<std::pair<Index, float>> found;
  for (Index b = 0; b < bins; ++b) {
    const float y = row[b];
    if (!may_be_one(b) || !std::isfinite(y)) continue;
    gather(lines, bins, b, rule, values);
    const float m = median(values, window);
    if (y - m >= rule.threshold || (rule.dark && m - y >= rule.threshold)) found.emplace_back(b, m);
  }
  for (const auto& [b, m] : found) row[b] = m;
  return found.size();
}

}  // namespace tandem::pipeline
