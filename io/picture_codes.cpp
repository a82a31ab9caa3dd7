#include "picture_codes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "../core/ceil_div.hpp"
#include "../core/parallel.hpp"

namespace tandem::io {

namespace {

/// Calls body(values, number of the first one) for parts of all values, on all cores.
template <class Body>
void in_parts(std::span<const float> values, const Body& body) {
  constexpr Index part = Index{1} << 17;
  const Index count = std::ssize(values);
  parallel_for(ceil_div(count, part), [&](Index k) {
    const Index first = k * part;
    body(values.subspan(first, std::min(part, count - first)), first);
  });
}

/// The lowest and the highest finite value.
std::pair<float, float> finite_range(std::span<const float> values) {
  constexpr float most = std::numeric_limits<float>::max();
  std::mutex mutex;
  float low = most, high = -most;
  in_parts(values, [&](std::span<const float> some, Index) {
    float lowest = most, highest = -most;
    for (const float v : some)
      if (std::isfinite(v)) lowest = std::min(lowest, v), highest = std::max(highest, v);
    const std::lock_guard lock(mutex);
    low = std::min(low, lowest), high = std::max(high, highest);
  });
  return {low, high};
}

/// Between which values about 98 % of the finite ones lie.
double middle_range(std::span<const float> values) {
  constexpr Index most = 4096;
  std::vector<float> some;
  const Index count = std::ssize(values), step = std::max<Index>(1, count / most);
  for (Index k = 0; k < count; k += step)
    if (std::isfinite(values[k])) some.push_back(values[k]);
  if (some.empty()) return 0;
  const auto at = [&](double share) {
    const auto place = some.begin() + static_cast<std::ptrdiff_t>(share * (some.size() - 1));
    std::nth_element(some.begin(), place, some.end());
    return double{*place};
  };
  return at(0.99) - at(0.01);
}

std::uint16_t code_of(float value, double low, double over_step) {
  const double to_round = (value - low) * over_step + 0.5;
  if (std::isfinite(value)) return static_cast<std::uint16_t>(to_round);
  return std::isnan(value) ? PictureCodes::not_a_number
         : value < 0       ? PictureCodes::minus_infinity
                           : PictureCodes::infinity;
}

}  // namespace

std::optional<PictureCodes> codes_for(std::span<const float> values) {
  constexpr double fewest = 2048;
  const auto [low, high] = finite_range(values);
  if (high < low) return PictureCodes{0, 0};
  const double step = (double{high} - low) / (PictureCodes::minus_infinity - 1);
  if (step * fewest > middle_range(values)) return {};
  return PictureCodes{low, step};
}

void write_codes(std::span<const float> values, const PictureCodes& codes, std::byte* to) {
  const double over_step = codes.step > 0 ? 1 / codes.step : 0;
  in_parts(values, [&](std::span<const float> some, Index first) {
    for (std::size_t k = 0; k < some.size(); ++k) {
      const std::uint16_t code = code_of(some[k], codes.low, over_step);
      std::memcpy(to + (first + k) * sizeof code, &code, sizeof code);
    }
  });
}

}  // namespace tandem::io
