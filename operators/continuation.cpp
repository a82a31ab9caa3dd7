#include "continuation.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>

#include "../core/error.hpp"
#include "../core/newest_results.hpp"
#include "../core/parallel.hpp"
#include "../geometry/beams/ray_shares.hpp"

namespace tandem {

namespace {

using std::numbers::pi;

/// The spatial kernel of the ramp for a pitch of one: Kak, Slaney 1988, section 3.3, eq. 61.
double ramp_kernel(Index lag) {
  if (lag == 0) return 0.25;
  return lag % 2 == 0 ? 0 : -1 / (pi * pi * lag * lag);
}

/// The kernel of the ramp at odd lags 1, 3, ..., as far as a taper and a row so long have them.
std::vector<double> odd_lags(Index length, Index tapered) {
  std::vector<double> kernel;
  for (Index lag = 1; lag <= length + tapered + 1; lag += 2) kernel.push_back(ramp_kernel(lag));
  return kernel;
}

/// The ramp of the taper, `at` bins behind the end of the row; before the end if `at` is not positive.
double ramp_of_taper(const std::vector<double>& taper, const std::vector<double>& kernel, Index at) {
  double sum = 0;
  const Index own = at - 1, count = std::ssize(taper);
  const auto add_odd = [&](Index first, Index last) {
    for (Index j = first + std::abs(own - first + 1) % 2; j < last; j += 2)
      sum += taper[j] * kernel[std::abs(own - j) / 2];
  };
  if (own < 0 || own >= count) return add_odd(0, count), sum;
  add_odd(0, own);
  sum += taper[own] * ramp_kernel(0);
  add_odd(own + 1, count);
  return sum;
}

/// `continuation` of rows of so many bins, which begin `first` bins behind those of a wide row.
kernels::Continuation continued(Padding padding, Index tapered, Index bins, Index wide_bins, Index first,
                                Index length) {
  // both ramps, as two views of one row
  const std::vector<double> values = taper(padding, tapered);
  const std::vector<double> kernel = odd_lags(length, tapered);
  Array ramps(Space({2, 1, length}));
  parallel_for(length, [&](Index i) {
    const bool before = 2 * i >= wide_bins + length;  // on the half circle before the wide row
    const Index bin = (before ? i - length : i) - first;
    ramps.data()[i] = static_cast<float>(ramp_of_taper(values, kernel, -bin));
    ramps.data()[length + i] = static_cast<float>(ramp_of_taper(values, kernel, bin - bins + 1));
  });
  kernels::RowFilter inverse{.length = length, .response = {}, .view_weights = {1, 1}, .row_shifts = {}};
  for (const double response : ramp_response(length, 1))
    inverse.response.push_back(static_cast<float>(1 / response));
  kernels::ramp(Device::cpu())
      .filter(inverse, false, 1, image(ConstVectorView(ramps)), 0, image(VectorView(ramps)),
              default_stream(Device::cpu()));
  constexpr Index share = 128;  // the mean of this part of a row is its end value
  const Index last = std::clamp<Index>(wide_bins / share, 1, bins);
  return {{ramps.data(), ramps.data() + length},
          {ramps.data() + length, ramps.data() + 2 * length},
          std::vector<float>(2 * last, 1 / static_cast<float>(last)),
          last,
          {0, bins}};
}

}  // namespace

std::vector<double> taper(Padding padding, Index bins) {
  std::vector<double> values(bins, 1.0);
  if (padding == Padding::cosine || padding == Padding::circle)
    for (Index j = 0; j < bins; ++j) values[j] = 0.5 + 0.5 * std::cos(pi * (j + 1) / (bins + 1));
  return values;
}

Index bins_of_taper(const Filter& filter, const Detector& wide) {
  const Index tapered = filter.padding_bins.value_or(wide.bins / 2);
  require<GeometryError>(tapered >= 0, "filter: padding of ", tapered, " bins; 0 or more are needed");
  return tapered;
}

Index first_bin_of(const Detector& own, const Detector& wide) {
  return std::lround(wide.axis_bin - own.axis_bin);
}

kernels::Continuation continuation(const Filter& filter, const Detector& own, const Detector& wide,
                                   Index length) {
  using Key = std::tuple<Padding, Index, Index, Index, Index, Index>;
  static NewestResults<Key, kernels::Continuation> kept(4);
  const Index tapered = bins_of_taper(filter, wide);
  if (filter.padding == Padding::none || filter.window == Window::none || tapered == 0) return {};
  const Key key{filter.padding, tapered, own.bins, wide.bins, first_bin_of(own, wide), length};
  return *kept.result(key, [&] { return std::apply(continued, key); });
}

void weigh_ends(kernels::Continuation& beyond, Index rows,
                const std::function<float(Index row, int end, Index bin)>& factor) {
  if (beyond.zeros()) return;
  const kernels::EndValues ends = beyond.end_values();
  std::vector<float> weighed;
  for (Index row = 0; row < rows; ++row)
    for (const int end : {kernels::low_end, kernels::high_end})
      for (Index b = 0; b < ends.bins; ++b)
        weighed.push_back(ends.share(row, end, b) * factor(row, end, ends.bin(end, b)));
  beyond.shares = std::move(weighed);
}

namespace {

/// The number of rows that differ. One row stands for all, unless rows have their own axes.
Index rows_that_differ(const ParallelBeam& scan) {
  return scan.row_axis_bins.empty() ? 1 : scan.detector.rows;
}

}  // namespace

kernels::Continuation continuation(const Filter& filter, const ParallelBeam& scan, Index length) {
  const Detector& d = scan.detector;
  kernels::Continuation beyond = continuation(filter, d, symmetric(scan).detector, length);
  const std::vector<float> shares = bin_shares(scan, 1);
  if (!shares.empty())
    weigh_ends(beyond, rows_that_differ(scan),
               [&](Index row, int end, Index) { return shares[row * (d.bins + 2) + end * (d.bins + 1)]; });
  return beyond;
}

kernels::Continuation continuation_of_weighed_rows(const Filter& filter, const ParallelBeam& scan,
                                                   Index length) {
  const Detector& d = scan.detector;
  kernels::Continuation beyond = continuation(filter, scan, length);
  const std::vector<float> shares = bin_shares(scan);
  if (shares.empty()) return beyond;
  weigh_ends(beyond, rows_that_differ(scan), [&](Index row, int, Index bin) {
    const float share = shares[row * d.bins + bin];
    return share > 0 ? 1 / share : 0;
  });
  const Index first = first_bin_of(d, symmetric(scan).detector);
  beyond.row = {first, first + d.bins};
  return beyond;
}

kernels::Continuation continuation_of_moved(Padding padding, Index bins, Index first, Index length) {
  if (padding == Padding::none) return {};
  const std::vector<double> values = taper(padding, std::min(bins / 2, (length - bins) / 2));
  const std::size_t all = length;
  kernels::Continuation beyond{std::vector<float>(all), std::vector<float>(all), {1, 1}, 1, {0, bins}};
  const auto at = [&](Index bin) { return (bin + length) % length; };
  for (Index j = 0; j < std::ssize(values); ++j) {
    const auto value = static_cast<float>(values[j]);
    beyond.before[at(first - 1 - j)] = value;
    beyond.after[at(first + bins + j)] = value;
  }
  return beyond;
}

}  // namespace tandem
