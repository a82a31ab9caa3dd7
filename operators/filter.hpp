#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "../core/public.hpp"
#include "../core/space.hpp"
#include "interpolation.hpp"

namespace TANDEM_PUBLIC tandem {

/// The window that shapes the ramp over frequency. `sharp` is the ramp with all the noise of its band, which
/// linear interpolation reduces for `ramp`. `none` leaves out the ramp too.
enum class Window { ramp, sharp, shepp, cosine, hamming, hann, parzen, blackman, butterworth, none };

/// How the filter continues rows beyond their ends, because a sample may go on there: not at all, with the
/// end value, or with the end value times a cosine that falls from 1 to 0. The end value is the mean of the
/// last 128th of the row, times the weight of the rays just beyond it, which is zero at the nearer end of a
/// half acquisition. `circle`: where a row does not come down to air, with what a round body of one
/// attenuation would add that has the row's last value and slope (`Filter::attenuation`); elsewhere as
/// `cosine` does. This depends on the data, so F is then no linear map and has no transpose.
enum class Padding { none, edge, cosine, circle };

struct Filter {
  Window window = Window::ramp;
  /// A fraction of the Nyquist frequency, in (0, 1]. Windows are stretched to it and are zero above. For
  /// Butterworth (order 4) it is twice the corner in cycles per bin, and nothing is cut off. Default: 1, for
  /// Butterworth 0.5.
  std::optional<double> cutoff{};
  Padding padding = Padding::none;
  std::optional<Index> padding_bins{};  ///< length of it; default: half of the bins of filtered rows
  double attenuation = 0;               ///< what the body beyond the ends has, 1/mm, for Padding::circle
};

/// The window with the name "ramp", "shepp", ... @throws GeometryError for another name, which lists the
/// known ones
Window window_named(std::string_view name);
std::vector<std::string_view> window_names();

/// The padding with the name "none", "edge", "cosine" or "circle". @throws GeometryError for another name
Padding padding_named(std::string_view name);
std::string_view name_of(Padding padding);

/// The response of the ramp at frequencies k / length in cycles per bin, k = 0 .. length / 2, in 1/mm. It is
/// the transform of eq. 61, not a sampled |f|.
std::vector<double> ramp_response(Index length, double bin_pitch);

/// The factors of the transform of a row at the same frequencies: ramp times window times a compensation for
/// the interpolation that follows. 1 for Window::none. A window that falls off smoothly is divided by the
/// mean response of the interpolation, so that all models show the same detail. For the bare ramp, and if
/// this would alias more than a tenth of the noise, all models have the noise of linear interpolation
/// instead; for Window::sharp, the noise of the whole band. Derivation: docs/kernels.md. @throws
/// GeometryError for a cut-off outside (0, 1]
std::vector<double> filter_response(const Filter& filter, Index length, double bin_pitch,
                                    const Interpolation& interpolation = {});

/// Whether the window falls off so far that pictures of all models show the same detail; else they have the
/// same noise (`filter_response`).
bool falls_off(const Filter& filter);

/// The value of the window at f cycles per bin, for f in [0, 1/2].
double window_at(const Filter& filter, double f);

}  // namespace tandem
