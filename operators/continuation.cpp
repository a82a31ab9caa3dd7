#include "continuation.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "../core/error.hpp"
#include "../core/parallel.hpp"

namespace tandem {

namespace {

constexpr double pi = std::numbers::pi;

/// What a row goes on with at 1, 2, ... bins behind its end, whose value is one.
std::vector<double> taper(Padding padding, Index bins) {
  std::vector<double> values(static_cast<std::size_t>(bins), 1.0);
  if (padding == Padding::cosine)
    for (Index j = 0; j < bins; ++j)
      values[static_cast<std::size_t>(j)] =
          0.5 + 0.5 * std::cos(pi * static_cast<double>(j + 1) / static_cast<double>(bins + 1));
  return values;
}

/// Kak, Slaney 1988, section 3.3, eq. 61, for a pitch of one.
double ramp_kernel(Index lag) {
  if (lag == 0) return 0.25;
  return lag % 2 == 0 ? 0 : -1 / (pi * pi * static_cast<double>(lag) * static_cast<double>(lag));
}

/// What the ramp makes of the taper, `at` bins behind the end of the row; before it if `at` is not positive.
double ramp_of_taper(const std::vector<double>& taper, Index at) {
  double sum = 0;
  for (std::size_t j = 0; j < taper.size(); ++j)
    sum += taper[j] * ramp_kernel(at - 1 - static_cast<Index>(j));
  return sum;
}

}  // namespace

kernels::Continuation continuation(const Filter& filter, Index bins, Index first, Index length) {
  const Index tapered = filter.padding_bins.value_or(bins / 2);
  require<GeometryError>(tapered >= 0, "filter: padding of ", tapered, " bins; 0 or more are needed");
  if (filter.padding == Padding::none || filter.window == Window::none || tapered == 0) return {};
  // both ramps, as two views of one row
  const std::vector<double> values = taper(filter.padding, tapered);
  Array ramps(Space({2, 1, length}));
  parallel_for(length, [&](Index i) {
    Index bin = i - first;  // of the row, on the half of the circle on its own side
    if (2 * bin >= bins + length) bin -= length;
    if (2 * bin < bins - length) bin += length;
    ramps.data()[i] = static_cast<float>(ramp_of_taper(values, -bin));
    ramps.data()[length + i] = static_cast<float>(ramp_of_taper(values, bin - bins + 1));
  });
  kernels::RowFilter inverse{.length = length, .response = {}, .view_weights = {1, 1}, .row_shifts = {}};
  for (const double response : ramp_response(length, 1))
    inverse.response.push_back(static_cast<float>(1 / response));
  kernels::ramp(Device::cpu())
      .filter(inverse, false, 1, image(ConstVectorView(ramps)), 0, image(VectorView(ramps)),
              default_stream(Device::cpu()));
  constexpr Index share = 128;  // of a row, whose mean is its end value
  return {{ramps.data(), ramps.data() + length},
          {ramps.data() + length, ramps.data() + 2 * length},
          std::max<Index>(1, bins / share)};
}

kernels::Continuation continuation_of_moved(Padding padding, Index bins, Index first, Index length) {
  if (padding == Padding::none) return {};
  const std::vector<double> values = taper(padding, std::min(bins / 2, (length - bins) / 2));
  const auto all = static_cast<std::size_t>(length);
  kernels::Continuation beyond{std::vector<float>(all), std::vector<float>(all), 1};
  const auto at = [&](Index bin) { return static_cast<std::size_t>((bin + length) % length); };
  for (Index j = 0; j < static_cast<Index>(values.size()); ++j) {
    const auto value = static_cast<float>(values[static_cast<std::size_t>(j)]);
    beyond.before[at(first - 1 - j)] = value;
    beyond.after[at(first + bins + j)] = value;
  }
  return beyond;
}

}  // namespace tandem
