#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../../../kernels/wavelets.hpp"
#include "plane.hpp"

namespace tandem::pipeline::stripes {

/// An orthogonal wavelet, by the numbers of its low-pass filter. The sum of their squares is 1.
struct Wavelet {
  std::string_view name;
  std::vector<double> low;
};

/// Haar's, Daubechies' with five vanishing moments, and the least asymmetric ones with five and sixteen (I.
/// Daubechies, Ten Lectures on Wavelets, SIAM 1992, tables 6.1 and 6.3).
std::span<const Wavelet> wavelets();
const Wavelet& wavelet_named(std::string_view name);
std::vector<std::string> wavelet_names();

/// The high-pass filter is the low one from its end, with every other number negative.
using kernels::WaveletFilters;
WaveletFilters filters_of(const Wavelet& wavelet);

/// The bands that a level of the transform leaves. The letters say how a band changes along columns, then
/// along rows: slowly (low) or quickly (high).
struct Bands {
  Plane low_low, low_high, high_low, high_high;
};

/// One level of the wavelet transform in two dimensions. Beyond its ends a line is reflected. A line of n
/// becomes two of (n + length of the filter - 1) / 2, rounded down.
Bands analysed(const Plane& plane, const Wavelet& wavelet);

/// The opposite. A line of an odd number of elements comes back with one more at its end.
Plane synthesised(const Bands& bands, const Wavelet& wavelet);

}  // namespace tandem::pipeline::stripes
