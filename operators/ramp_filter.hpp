#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "../core/public.hpp"
#include "../geometry/scan.hpp"
#include "interpolation.hpp"
#include "linear_operator.hpp"

namespace TANDEM_PUBLIC tandem {

/// The window that shapes the ramp over frequency. `sharp` is the ramp with all the noise of its band, which
/// linear interpolation takes away from `ramp`. `none` leaves out the ramp, too.
enum class Window { ramp, shepp, cosine, hamming, hann, parzen, butterworth, none, blackman, sharp };

/// How the filter continues rows beyond their ends, where a sample may go on: not at all, with the end value,
/// or with the end value times a cosine that falls from 1 to 0. The end value is the mean of the last 128th
/// of the row, times what rays count just beyond it: nothing at the nearer end of a half acquisition.
enum class Padding { none, edge, cosine };

struct Filter {
  Window window = Window::ramp;
  /// A fraction of the Nyquist frequency, in (0, 1]. Windows are stretched to it and are zero above. For
  /// Butterworth (order 4) it is twice the corner in cycles per bin, and nothing is cut off. Default: 1, for
  /// Butterworth 0.5.
  std::optional<double> cutoff{};
  Padding padding = Padding::none;
  std::optional<Index> padding_bins{};  ///< over how many bins; default: half of those of filtered rows
};

/// The window with the name "ramp", "shepp", ... @throws GeometryError for another name; it lists the known
/// ones.
Window window_named(std::string_view name);
std::vector<std::string_view> window_names();

/// The padding with the name "none", "edge" or "cosine". @throws GeometryError for another name
Padding padding_named(std::string_view name);
std::string_view name_of(Padding padding);

/// The operator F: it filters (view, row, bin) along the bins and multiplies by the weight of each view
/// (`view_weights`, rad), so that B F y is an image. The unit is multiplied by rad/mm. Rows with an axis of
/// their own are moved onto the common axis in the same pass. The rays of a half acquisition are weighed
/// (`bin_shares`), and rows come out on the detector of `symmetric(scan)`. F is self-adjoint except for that.
/// The response is the transform of the band-limited spatial kernel, and bins are padded with zeros to at
/// least twice their number, so that the mean comes out right. Source: Kak, Slaney 1988, section 3.3, eq. 61.
/// It makes up for `interpolation`, that of B, so that B F y is the same picture for all models
/// (`filter_response`). @throws GeometryError for a cut-off outside (0, 1]
LinearOperator ramp_filter(const ParallelBeam& scan, Filter filter = {}, Device device = Device::cpu(),
                           const Interpolation& interpolation = {});
/// The interpolation of the default model of a cone beam, for voxels whose shadows at the axis are as wide as
/// bins.
inline constexpr Interpolation of_footprints{Interpolation::Kind::footprint, 1};

/// The operator F for a cone beam: F = C R C S. S is what a ray counts (`ray_shares`, rad). C is the cosine
/// of the angle between a ray and the central one, sdd / sqrt(sdd^2 + u^2 + v^2): the first C is that of
/// Feldkamp, Davis and Kress (1984), the last is for `backprojector`. R is the ramp over bins as large as
/// they appear at the axis. Rows come out on the detector of `symmetric(scan)`: they go on where only the
/// other side saw the rays.
LinearOperator ramp_filter(const ConeBeam& scan, Filter filter = {}, Device device = Device::cpu(),
                           const Interpolation& interpolation = of_footprints);

/// What F multiplies data with before or after the ramp, rad: (view) as in `view_shares`, and for a cone beam
/// (view, bin) as in `ray_shares`, with one bin beyond either end, for what rows go on with.
std::vector<float> filter_weights(const ParallelBeam& scan);
std::vector<float> filter_weights(const ConeBeam& scan);
std::vector<float> filter_weights(const Scan& scan);

/// F for some views of a scan, with weights like those of `filter_weights`, but of these views alone. F of a
/// scan is the same for all of its views and its own weights. Data come out on the detector of
/// `symmetric(whole)`. @throws GeometryError also for another number of weights
LinearOperator ramp_filter(const ParallelBeam& whole, Range views, std::span<const float> weights,
                           Filter filter = {}, Device device = Device::cpu(),
                           const Interpolation& interpolation = {});
LinearOperator ramp_filter(const ConeBeam& whole, Range views, std::span<const float> weights,
                           Filter filter = {}, Device device = Device::cpu(),
                           const Interpolation& interpolation = of_footprints);

/// F for any of the views of a scan, with the weights that they have in it. Views count from 0.
using FilterOfViews = std::function<LinearOperator(Range views)>;
/// Makes what all views share only once.
FilterOfViews ramp_filter_of_views(const ConeBeam& scan, Filter filter = {}, Device device = Device::cpu(),
                                   const Interpolation& interpolation = of_footprints);

/// Moves rows with an axis of their own onto the common axis by a band-limited shift. It changes nothing
/// else.
LinearOperator align_rows(const ParallelBeam& scan, Device device = Device::cpu());
/// The same onto the detector of `wide`, the same scan with bins more at either end. Rows go on beyond their
/// ends as the padding says: a row that ends within the sample then does not ring.
LinearOperator align_rows(const ParallelBeam& scan, const ParallelBeam& wide, Padding padding,
                          Device device = Device::cpu());
/// The identity, because all rows of a cone beam have the same axis.
LinearOperator align_rows(const ConeBeam& scan, Device device = Device::cpu());

/// The response of the ramp at frequencies k / length in cycles per bin, k = 0 .. length / 2, in 1/mm. It is
/// the transform of eq. 61, not a sampled |f|.
std::vector<double> ramp_response(Index length, double bin_pitch);

/// Ramp, window, and what makes up for the interpolation that follows, at the same frequencies: what
/// multiplies the transform of a row. 1 for Window::none. A window that falls off smoothly is divided by the
/// mean response of the interpolation, so that all models show the same detail. If that aliased more than a
/// tenth of the noise, and for the bare ramp, all models have the noise of linear interpolation instead; for
/// Window::sharp, that of the whole band. Derivation: docs/kernels.md. @throws GeometryError for a cut-off
/// outside (0, 1].
std::vector<double> filter_response(const Filter& filter, Index length, double bin_pitch,
                                    const Interpolation& interpolation = {});

/// The value of the window at f cycles per bin, for f in [0, 1/2].
double window_at(const Filter& filter, double f);

}  // namespace tandem
