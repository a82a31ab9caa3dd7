#pragma once

#include "../core/array.hpp"
#include "unfused.hpp"

namespace tandem::kernels {

/// The filters of an orthogonal wavelet.
struct WaveletFilters {
  static constexpr int most = 32;
  int taps;
  double low[most], high[most];
};

/// An element of both halves of a line: of what changes slowly along it, and of what changes quickly.
struct HalfElements {
  double low = 0, high = 0;
};

/// Element k of both halves: the sum over m of filter[m] element(m), where `element(m)` is that at 2 k + 2 -
/// taps + m of the line.
template <class Element>
TANDEM_HOST_DEVICE HalfElements split_at(const WaveletFilters& filters, const Element& element) {
  HalfElements halves;
  for (int m = 0; m < filters.taps; ++m) {
    const double value = element(m);
    halves.low = plus_product(halves.low, filters.low[m], value);
    halves.high = plus_product(halves.high, filters.high[m], value);
  }
  return halves;
}

/// Element n of the line again: the sum over k of half(k) filter[n + taps - 2 - 2 k].
template <class Low, class High>
TANDEM_HOST_DEVICE double joined_at(const WaveletFilters& filters, Index n, const Low& low,
                                    const High& high) {
  double sum = 0;
  for (Index k = n / 2; 2 * k <= n + filters.taps - 2; ++k) {
    const Index m = n + filters.taps - 2 - 2 * k;
    sum = plus_product(sum, filters.low[m], double{low(k)});
    sum = plus_product(sum, filters.high[m], double{high(k)});
  }
  return sum;
}

/// How many elements a half has.
TANDEM_HOST_DEVICE inline Index half_of(Index n, int taps) { return (n + taps - 1) / 2; }

/// The elements of planes (plane, row, column) that follow each other in a line.
enum class Lines { rows, columns };

/// Planes on a GPU, with the results of the CPU. A line goes on beyond its ends as it is reflected.
struct WaveletKernels {
  /// Both halves of each line.
  void (*split)(const WaveletFilters& filters, Lines lines, Image<const float> planes, Image<float> low,
                Image<float> high, Stream& stream);
  /// The opposite, as far as the planes reach. @pre a line has at most 2 - taps + twice the elements of a
  /// half
  void (*join)(const WaveletFilters& filters, Lines lines, Image<const float> low, Image<const float> high,
               Image<float> planes, Stream& stream);
  /// Row r of each plane `to` is row r + `offset` of `from`, or 0 where that has none.
  void (*move_rows)(Image<const float> from, Index offset, Image<float> to, Stream& stream);
};

/// Null for the CPU, where the steps of the pipeline do this. @throws DeviceError if the build lacks the
/// backend
const WaveletKernels* wavelets(Device device);

}  // namespace tandem::kernels
