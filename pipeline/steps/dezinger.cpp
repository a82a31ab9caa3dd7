#include <algorithm>
#include <cmath>
#include <vector>

#include "step.hpp"

namespace tandem::pipeline::step {

namespace {

/// The row with `before` and `after` more bins: it goes on as in a mirror at its first and its last bin.
std::vector<float> extended(std::span<const float> row, Index before, Index after) {
  const auto bins = static_cast<Index>(row.size()), period = std::max<Index>(1, 2 * (bins - 1));
  std::vector<float> all;
  all.reserve(row.size() + static_cast<std::size_t>(before + after));
  for (Index b = -before; b < bins + after; ++b) {
    const Index k = std::abs(b) % period;
    all.push_back(row[static_cast<std::size_t>(std::min(k, period - k))]);
  }
  return all;
}

/// The median of the finite ones among the values. If two are in the middle, it is the larger one of an even
/// window, and the lower one of an odd window. @pre at least one value is finite
float median(std::span<const float> window, std::vector<float>& finite) {
  finite.clear();
  std::ranges::copy_if(window, std::back_inserter(finite), [](float v) { return std::isfinite(v); });
  const auto middle = finite.begin() + static_cast<std::ptrdiff_t>((finite.size() - window.size() % 2) / 2);
  std::ranges::nth_element(finite, middle);
  return *middle;
}

/// Takes the median of the `size` bins around each bin, with the bin itself. A bin that is above this median
/// by `threshold` or more becomes the median. This is the filter `remove_outlier1d` of tomopy, along the row.
/// An even window has one bin more before the bin than behind it. The medians are those of the row as it
/// came. Bins that are not finite stay as they are and do not count. @returns how many bins it replaced
Index clip(std::span<float> y, Index size, float threshold) {
  const std::vector<float> as_it_came = extended(y, size / 2, size - 1 - size / 2);
  std::vector<float> finite;
  Index replaced = 0;
  for (std::size_t b = 0; b < y.size(); ++b) {
    if (!std::isfinite(y[b])) continue;
    const std::span around(&as_it_came[b], static_cast<std::size_t>(size));
    float lowest = y[b];
    for (const float value : around) lowest = value < lowest ? value : lowest;
    if (y[b] - lowest < threshold) continue;  // nor is it above the median, which takes longer
    const float m = median(around, finite);
    if (y[b] - m < threshold) continue;
    y[b] = m;
    ++replaced;
  }
  return replaced;
}

}  // namespace

Step dezinger() {
  return {.name = "dezinger",
          .help = "counts far above the median of the bins around them become that median",
          .options = {{"--dezinger",
                       "replace hot pixels: bins of the median's window along the row (default 3 with "
                       "--dezinger-threshold, else no pixel is replaced)",
                       WholeNumber{2, 1000}},
                      {"--dezinger-threshold",
                       "counts that a hot pixel is above the median, or more (default 5000 with --dezinger)",
                       PositiveNumber{4e9}}},
          .before_binning = true,
          .on_row = [](const Preprocessing& how) -> RowWork {
            const auto size = value_of<Index>(how.values, "--dezinger");
            const auto threshold = value_of<double>(how.values, "--dezinger-threshold");
            if (!size && !threshold) return {};
            return [size = size.value_or(3), above = static_cast<float>(threshold.value_or(5000))](
                       ViewRow& row) { return clip(row.y, size, above); };
          }};
}

}  // namespace tandem::pipeline::step
