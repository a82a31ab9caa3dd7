#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "../core/public.hpp"
#include "../geometry/scan.hpp"
#include "linear_operator.hpp"

namespace TANDEM_PUBLIC tandem {

/// What shapes the ramp over frequency. `none` leaves the ramp out altogether.
enum class Window { ramp, shepp, cosine, hamming, hann, parzen, butterworth, none, blackman };

struct Filter {
  Window window = Window::ramp;
  /// In (0, 1] of the Nyquist frequency: windows are stretched to it and zero above. Butterworth: twice its
  /// corner in cycles a bin (order 4), never cut off. Left out: 1, for Butterworth 0.5.
  std::optional<double> cutoff{};
};

/// "ramp", "shepp", ...; @throws GeometryError for another name, listing them.
Window window_named(std::string_view name);
std::vector<std::string_view> window_names();

/// F: along bins of (view, row, bin) the filter, times the weight of each view (geometry: view_weights, rad);
/// rows with an axis of their own are moved onto the common one in the same pass. B F y is then an image.
/// Multiplies the unit by rad/mm. Self-adjoint but for the moving of rows. The response is the transform of
/// the band-limited spatial kernel, bins zero-padded to at least twice their number, so that the mean comes
/// out right. Source: Kak, Slaney 1988, section 3.3, eq. 61. @throws GeometryError for a cut-off outside (0,
/// 1].
LinearOperator ramp_filter(const ParallelBeam& scan, Filter filter = {}, Device device = Device::cpu());

/// F of a cone beam: C R C S. S: what a ray counts (geometry: ray_shares, rad); C: the cosine of its angle
/// with the central one, sdd / sqrt(sdd^2 + u^2 + v^2), before as Feldkamp, Davis and Kress (1984) have it,
/// after for `backprojector`; R: the ramp over bins as large as they appear at the axis. Rows come out on the
/// detector of `symmetric(scan)`: they go on where rays were seen from the other side alone.
LinearOperator ramp_filter(const ConeBeam& scan, Filter filter = {}, Device device = Device::cpu());

/// Moves rows with an axis of their own onto the common axis, by a band-limited shift, and changes nothing
/// else.
LinearOperator align_rows(const ParallelBeam& scan, Device device = Device::cpu());
/// All rows of a cone beam have one axis: the identity.
LinearOperator align_rows(const ConeBeam& scan, Device device = Device::cpu());

/// The response of the ramp at frequencies k / length cycles a bin, k = 0 .. length / 2, in 1/mm: the
/// transform of eq. 61, never a sampled |f|.
std::vector<double> ramp_response(Index length, double bin_pitch);

/// The window at f cycles a bin, f in [0, 1/2].
double window_at(const Filter& filter, double f);

}  // namespace tandem
