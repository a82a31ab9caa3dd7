#pragma once

#include <functional>
#include <span>
#include <vector>

#include "../core/public.hpp"
#include "filter.hpp"
#include "linear_operator.hpp"

namespace TANDEM_PUBLIC tandem {

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
/// of the size at which they appear at the axis. The result is on the detector of `filtered_scan(scan)`.
/// So it also has bins whose rays were only measured by the other side, and rows beyond the detector. These
/// are as the first and the last one, but for the C after the ramp: exact where the sample goes on unchanged.
LinearOperator ramp_filter(const ConeBeam& scan, Filter filter = {}, Device device = Device::cpu(),
                           const Interpolation& interpolation = of_footprints);

/// The factors of F before or after the ramp, rad: (view) as in `view_shares`, and for a cone beam (view,
/// bin) as in `ray_shares`, with one more bin at either end for the continuation of rows.
std::vector<float> filter_weights(const ParallelBeam& scan);
std::vector<float> filter_weights(const ConeBeam& scan);
std::vector<float> filter_weights(const Scan& scan);

/// The operator F for some views of a scan, with weights as in `filter_weights`, but only for these views.
/// For all views and the weights of the scan it is F of the scan. The result is on the detector of
/// `symmetric(whole)` or `filtered_scan(whole)`. @throws GeometryError also for another number of weights
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

}  // namespace tandem
