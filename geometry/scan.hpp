#pragma once

#include <concepts>
#include <variant>

#include "../core/public.hpp"
#include "beams/cone.hpp"
#include "beams/fan.hpp"
#include "beams/parallel.hpp"

namespace TANDEM_PUBLIC tandem {

/// What every kind of beam answers for itself. The functions below ask any scan for it. Other folders have
/// overloads for each kind: its projector, filter, back-projector and phantom integrals.
template <class Kind>
concept Beam = requires(Kind scan, const VolumeGrid& grid, Range range, Device device) {
  { Kind::kind } -> std::convertible_to<std::string_view>;
  { Kind::rows_are_slices } -> std::convertible_to<bool>;
  { Kind::needs_mm } -> std::convertible_to<bool>;
  { Kind::period } -> std::convertible_to<double>;
  { scan.detector } -> std::same_as<Detector&>;
  { scan.angles } -> std::same_as<std::vector<double>&>;
  validate(scan);
  { views_of(scan) } -> std::same_as<Index>;
  { half_acquisition(scan) } -> std::same_as<bool>;
  { crop(scan, range, range, range) } -> std::same_as<Kind>;
  { bin_down(scan, 0, true) } -> std::same_as<Kind>;
  { fingerprint(scan) } -> std::same_as<std::uint64_t>;
  { fitting_grid(scan) } -> std::same_as<VolumeGrid>;
  { projection_space(scan, device) } -> std::same_as<Space>;
  { rows_met(scan, grid, range) } -> std::same_as<Range>;
  { slices_met(scan, grid, range) } -> std::same_as<Range>;
  { filtered_detector(scan) } -> std::same_as<Detector>;
  { distance_from_axis(scan, 0.0) } -> std::same_as<double>;
};

/// A scan of any kind. This is the list of kinds.
template <Beam... Kinds>
using AnyOf = std::variant<Kinds...>;
using Scan = AnyOf<ParallelBeam, FanBeam, ConeBeam>;

/// A scan with a point source: a fan beam if its detector is one row at the height of the source, else a cone
/// beam.
Scan point_source_scan(ConeBeam scan);

/// The scan as a cone beam, if it is a cone beam or a fan beam; for code that serves both. @throws
/// GeometryError for other kinds
const ConeBeam& point_source_of(const Scan& scan);

std::string_view kind_of(const Scan& scan);
bool rows_are_slices(const Scan& scan);
bool needs_mm(const Scan& scan);
double period_of(const Scan& scan);
const Detector& detector_of(const Scan& scan);
Detector& detector_of(Scan& scan);
const std::vector<double>& angles_of(const Scan& scan);
std::vector<double>& angles_of(Scan& scan);
const std::vector<double>& row_axes_of(const Scan& scan);  ///< empty if all rows have the same axis
void share_axis(Scan& scan);                               ///< gives all rows the same axis

void validate(const Scan& scan);
Index views_of(const Scan& scan);  ///< their number
bool half_acquisition(const Scan& scan);
/// A part of a cone beam may be a fan beam.
Scan crop(const Scan& scan, Range views, Range rows, Range bins);
Scan bin_down(const Scan& scan, int level, bool pitch_known);
VolumeGrid fitting_grid(const Scan& scan);
Space projection_space(const Scan& scan, Device device = Device::cpu());
Detector filtered_detector(const Scan& scan);
Range rows_met(const Scan& scan, const VolumeGrid& grid, Range slices);
Range slices_met(const Scan& scan, const VolumeGrid& grid, Range rows);
double distance_from_axis(const Scan& scan, double on_detector);

}  // namespace tandem
