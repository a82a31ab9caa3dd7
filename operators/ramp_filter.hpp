#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "../core/public.hpp"
#include "interpolation.hpp"
#include "linear_operator.hpp"

namespace TANDEM_PUBLIC tandem {

/// The window that shapes the ramp over frequency. `sharp` is the ramp with all the noise of its band, which
/// linear interpolation reduces for `ramp`. `none` leaves out the ramp too.
enum class Window { ramp, shepp, cosine, hamming, hann, parzen, butterworth, none, blackman, sharp };

/// How the filter continues rows beyond their ends, because a sample may go on there: not at all, with the
/// end value, or with the end value times a cosine that falls from 1 to 0. The end value is the mean of the
/// last 128th of the row, times the weight of the rays just beyond it, which is zero at the nearer end of a
/// half acquisition.
enum class Padding { none, edge, cosine };

struct Filter {
  Window window = Window::ramp;
  /// A fraction of the Nyquist frequency, in (0, 1]. Windows are stretched to it and are zero above. For
  /// Butterworth (order 4) it is twice the corner in cycles per bin, and nothing is cut off. Default: 1, for
  /// Butterworth 0.5.
  std::optional<double> cutoff{};
  Padding padding = Padding::none;
  std::optional<Index> padding_bins{};  ///< length of it; default: half of the bins of filtered rows
};

/// The window with the name "ramp", "shepp", ... @throws GeometryError for another name, which lists the
/// known ones
Window window_named(std::string_view name);
std::vector<std::string_view> window_names();

/// The padding with the name "none", "edge" or "cosine". @throws GeometryError for another name
Padding padding_named(std::string_view name);
std::string_view name_of(Padding padding);

/// The operator F. It filters (view, row, bin) along the bins and multiplies by the weight of each view
/// (`view_weights`, rad), so that B F y is an image. The unit is multiplied by rad/mm. Rows with their own
/// axis are moved onto the common axis in the same pass. The rays of a half acquisition are weighed
/// (`bin_shares`), and the result is on the detector of `symmetric(scan)`. F is self-adjoint except for these
/// two things. The response is the transform of the band-limited spatial kernel, and bins are padded with
/// zeros to at least twice their number, so that the mean is right. Source: Kak, Slaney 1988, section 3.3,
/// eq. 61. F compensates for `interpolation`, the interpolation of B, so that B F y is the same picture for
/// all models (`filter_response`). @throws GeometryError for a cut-off outside (0, 1]
LinearOperator ramp_filter(const ParallelBeam& scan, Filter filter = {}, Device device = Device::cpu(),
                           const Interpolation& interpolation = {});
/// The interpolation of the default model of a cone beam, for voxels whose shadows at the axis are as wide as
/// bins.
inline constexpr Interpolation of_footprints{Interpolation::Kind::footprint, 1};

/// The operator F for a cone beam: F = C R C S. S is the weight of a ray (`ray_shares`, rad). C is the cosine
/// of the angle between a ray and the central ray, sdd / sqrt(sdd^2 + u^2 + v^2). The C before the ramp comes
/// from Feldkamp, Davis and Kress (1984), and the C after it is for `backprojector`. R is the ramp over bins
/// of the size at which they appear at the axis. The result is on the detector of `symmetric(scan)`. So it
/// also has bins whose rays were only measured by the other side.
LinearOperator ramp_filter(const ConeBeam& scan, Filter filter = {}, Device device = Device::cpu(),
                           const Interpolation& interpolation = of_footprints);

/// The factors of F before or after the ramp, rad: (view) as in `view_shares`, and for a cone beam (view,
/// bin) as in `ray_shares`, with one more bin at either end for the continuation of rows.
std::vector<float> filter_weights(const ParallelBeam& scan);
std::vector<float> filter_weights(const ConeBeam& scan);
std::vector<float> filter_weights(const Scan& scan);

/// The operator F for some views of a scan, with weights as in `filter_weights`, but only for these views.
/// For all views and the weights of the scan it is F of the scan. The result is on the detector of
/// `symmetric(whole)`. @throws GeometryError also for another number of weights
LinearOperator ramp_filter(const ParallelBeam& whole, Range views, std::span<const float> weights,
                           Filter filter = {}, Device device = Device::cpu(),
                           const Interpolation& interpolation = {});
LinearOperator ramp_filter(const ConeBeam& whole, Range views, std::span<const float> weights,
                           Filter filter = {}, Device device = Device::cpu(),
                           const Interpolation& interpolation = of_footprints);

/// The operator F for any views of a scan, with the weights that they have in the scan. Views count from 0.
using FilterOfViews = std::function<LinearOperator(Range views)>;
/// The operator F for any views of a scan. It makes what all views share only once.
FilterOfViews ramp_filter_of_views(const ConeBeam& scan, Filter filter = {}, Device device = Device::cpu(),
                                   const Interpolation& interpolation = of_footprints);

/// Moves rows with their own axis onto the common axis by a band-limited shift. It changes nothing else.
LinearOperator align_rows(const ParallelBeam& scan, Device device = Device::cpu());
/// Moves rows in the same way onto the detector of `wide`, the same scan with more bins at either end. Rows
/// are continued beyond their ends as the padding says, so that a row that ends within the sample does not
/// ring.
LinearOperator align_rows(const ParallelBeam& scan, const ParallelBeam& wide, Padding padding,
                          Device device = Device::cpu());
/// The identity, because all rows of a cone beam have the same axis.
LinearOperator align_rows(const ConeBeam& scan, Device device = Device::cpu());

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
