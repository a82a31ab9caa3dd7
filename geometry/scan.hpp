#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "../core/public.hpp"
#include "beams/cone.hpp"
#include "beams/flexible.hpp"
#include "beams/parallel.hpp"

namespace TANDEM_PUBLIC tandem {

/// The questions that every kind of beam answers for itself. The functions below ask any scan for them. Other
/// folders have overloads for each kind: its projector, filter, back-projector and phantom integrals. A kind
/// need not have angles or an axis.
template <class Kind>
concept Beam = requires(Kind scan, const VolumeGrid& grid, Range range, std::span<const Index> views,
                        Device device) {
  { Kind::kind } -> std::convertible_to<std::string_view>;
  { Kind::rows_are_slices } -> std::convertible_to<bool>;
  { Kind::rays_cross_slices } -> std::convertible_to<bool>;
  { Kind::needs_mm } -> std::convertible_to<bool>;
  { scan.detector } -> std::same_as<Detector&>;
  validate(scan);
  { views_of(scan) } -> std::same_as<Index>;
  { order_of_views(scan) } -> std::same_as<std::vector<Index>>;
  keep_views(scan, views);
  { axis_of(scan) } -> std::same_as<std::optional<double>>;
  { half_acquisition(scan) } -> std::same_as<bool>;
  { has_upright_views(scan) } -> std::same_as<bool>;
  Kind{symmetric(scan)};
  { crop(scan, range, range, range) } -> std::same_as<Kind>;
  { bin_down(scan, 0, true) } -> std::same_as<Kind>;
  { fingerprint(scan) } -> std::same_as<std::uint64_t>;
  { fitting_grid(scan) } -> std::same_as<VolumeGrid>;
  { projection_space(scan, device) } -> std::same_as<Space>;
  { rows_met(scan, grid, range) } -> std::same_as<Range>;
  { slices_met(scan, grid, range) } -> std::same_as<Range>;
  { distance_from_axis(scan, 0.0) } -> std::same_as<double>;
};

/// A scan of any kind. This is the list of kinds.
template <Beam... Kinds>
using AnyOf = std::variant<Kinds...>;
using Scan = AnyOf<ParallelBeam, FanBeam, ConeBeam, FlexibleBeam>;

/// The part of a scan with these views, all rows and all bins.
template <Beam Kind>
Kind crop(const Kind& scan, Range views) {
  return crop(scan, views, {0, scan.detector.rows}, {0, scan.detector.bins});
}
Scan crop(const Scan& scan, Range views);

/// The part of a scan with the rows that some slices need. FDK does not continue a cone beam beyond these.
template <Beam Kind>
Kind of_rows_needed(const Kind& scan, Range rows) {
  return crop(scan, {0, views_of(scan)}, rows, {0, scan.detector.bins});
}
Scan of_rows_needed(const Scan& scan, Range rows);

/// A scan with a point source: a fan beam if its detector is one row at the height of the source, else a cone
/// beam.
Scan point_source_scan(ConeBeam scan);

/// The scan as a cone beam, if it is a cone beam or a fan beam; for code that serves both. @throws
/// GeometryError for other kinds
const ConeBeam& point_source_of(const Scan& scan);

std::string_view kind_of(const Scan& scan);
bool rows_are_slices(const Scan& scan);
bool rays_cross_slices(const Scan& scan);  ///< not those of a parallel beam, nor those of a fan in its slice
bool needs_mm(const Scan& scan);
const Detector& detector_of(const Scan& scan);
Detector& detector_of(Scan& scan);

/// Properties that not all kinds have: the angles of the views, rad, and the period after which views see the
/// same lines again; the axis of each row if they differ; how far the image of each view lies aside, bins;
/// the midplane; a detector that is curved, or that leans.
const std::vector<double>& angles_of(const Scan& scan);  ///< empty if its views have none
std::vector<double>& angles_of(Scan& scan);              ///< @throws GeometryError if its views have none
std::optional<double> period_of(const Scan& scan);
const std::vector<double>& row_axes_of(const Scan& scan);     ///< empty if all rows have the same axis
const std::vector<double>& view_shifts_of(const Scan& scan);  ///< empty if no view is shifted
std::vector<float> bin_shares_of(const Scan& scan);           ///< empty if all bins count alike
std::optional<double> midplane_of(const Scan& scan);          ///< the row at the height of the source
bool is_curved(const Scan& scan);                             ///< whether the detector is
bool has_upright_views(const Scan& scan);                     ///< as all circles have
void share_axis(Scan& scan);                                  ///< gives all rows the same axis

void validate(const Scan& scan);
Index views_of(const Scan& scan);
/// The order in which views go round: by angle, or as they are.
std::vector<Index> order_of_views(const Scan& scan);
/// The bin on which the axis of rotation falls; none for a kind without an axis.
std::optional<double> axis_of(const Scan& scan);
bool half_acquisition(const Scan& scan);
/// The scan with bins added on the nearer side of the detector of a half acquisition. Its kind stays.
Scan symmetric(const Scan& scan);
/// A part of a cone beam may be a fan beam.
Scan crop(const Scan& scan, Range views, Range rows, Range bins);
Scan bin_down(const Scan& scan, int level, bool pitch_known);
VolumeGrid fitting_grid(const Scan& scan);
Space projection_space(const Scan& scan, Device device = Device::cpu());
/// The detector on which filtered rows lie: that of `symmetric` or `filtered_scan`, or one with level rows.
/// @throws GeometryError for views that have no filter
Detector filtered_detector(const Scan& scan);
Range rows_met(const Scan& scan, const VolumeGrid& grid, Range slices);
Range slices_met(const Scan& scan, const VolumeGrid& grid, Range rows);
double distance_from_axis(const Scan& scan, double on_detector);

/// The scan with these of its views, in this order.
Scan with_views(Scan scan, std::span<const Index> views);
/// Deals the views of a scan out to subsets, each of which sees the object from all around: every `count`-th
/// one of the views in their order (`order_of_views`). Sizes differ by one at the most. Subsets come in the
/// order in which to go through them: by the golden ratio, so that each one turns far from those just before
/// it. Source of the order: Koehler, IEEE NSS/MIC 2004. @throws GeometryError unless 1 <= count <= views
std::vector<std::vector<Index>> view_subsets(const Scan& scan, Index count);
/// The same for views in the order of their angles, modulo `period` (rad).
std::vector<std::vector<Index>> view_subsets(std::span<const double> angles, double period, Index count);

}  // namespace tandem
