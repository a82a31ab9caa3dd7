#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "../../core/public.hpp"
#include "../../core/space.hpp"
#include "../detector.hpp"
#include "../volume_grid.hpp"

namespace TANDEM_PUBLIC tandem {

using Vector3 = std::array<double, 3>;  ///< x, y and z, mm

/// Where the source and the detector are in one view. The middle of the detector is the middle of cell
/// ((rows - 1) / 2, (bins - 1) / 2), as in the vectors of ASTRA.
struct FlexibleView {
  Vector3 source;    ///< for a parallel beam the direction of its rays, of any length
  Vector3 detector;  ///< the middle of the detector
  Vector3 bin_step;  ///< from a bin to the next one
  Vector3 row_step;  ///< from a row to the next one
};

/// A scan of any geometry, view by view: a helix, laminography, tomosynthesis, a detector that rolls or
/// leans, a source that wanders. All lengths are in mm, in the frame of the volume, which does not turn. Such
/// a scan has neither angles nor an axis. The pitches of `detector` are the lengths of the steps in the first
/// view.
struct FlexibleBeam {
  static constexpr std::string_view kind = "flexible";
  static constexpr bool rows_are_slices = false;
  static constexpr bool rays_cross_slices = true;
  static constexpr bool needs_mm = true;

  Detector detector;
  std::vector<FlexibleView> views{};
  bool parallel = false;  ///< whether rays are parallel in each view
  /// Whether it is a part of a scan with views that lean: its pair is that of the whole.
  bool leaning = false;
  /// Whether the detector lies on a cylinder about the source, with columns parallel to its axis: equal
  /// angles lie between bins, `bin_pitch` is along the arc, and `bin_step` its direction in the middle.
  bool curved = false;
};

/// Whether the detectors of all views are upright, as in a circle, in a helix, or if a source wanders. Then
/// the pair is that of circular cone beams, which is faster. Rows of an upright detector go upwards along z.
/// Its bins go along x and y, to the right for somebody who looks from the source. Both may be off by an
/// angle that moves a shadow by 0.01 cells in 2000.
bool has_upright_views(const FlexibleBeam& scan);

/// A scan of these views, with the detector that they say. @throws GeometryError as `validate` does
FlexibleBeam flexible_beam(Index rows, Index bins, std::vector<FlexibleView> views, bool parallel,
                           bool curved = false);

/// @throws GeometryError naming the view and its field: numbers that are not finite, steps of no length or
/// along one line, rays in the plane of the detector, a curved detector that is not about the source
void validate(const FlexibleBeam& scan);

/// A view whose detector is moved over itself, so that its middle comes so many rows and bins further.
/// `point_on` is the place where the middle then is.
FlexibleView moved(const FlexibleBeam& scan, const FlexibleView& view, double rows, double bins);
inline Vector3 point_on(const FlexibleBeam& scan, const FlexibleView& view, double rows, double bins) {
  return moved(scan, view, rows, bins).detector;
}

inline Index views_of(const FlexibleBeam& scan) { return scan.views.size(); }
/// The order in which sources go round, if they go along a circle or a helix; else the order of the scan.
std::vector<Index> order_of_views(const FlexibleBeam& scan);
inline std::optional<double> axis_of(const FlexibleBeam&) { return std::nullopt; }
void keep_views(FlexibleBeam& scan, std::span<const Index> views);
inline bool half_acquisition(const FlexibleBeam&) { return false; }
inline FlexibleBeam symmetric(const FlexibleBeam& scan) { return scan; }

/// The part of a scan with these views, rows and bins. Cells keep their places in space.
FlexibleBeam crop(const FlexibleBeam& scan, Range views, Range rows, Range bins);
/// The scan after averaging 2^level x 2^level cells, or 1 x 2^level cells if there is one row.
FlexibleBeam bin_down(const FlexibleBeam& scan, int level, bool pitch_known = true);

std::uint64_t fingerprint(const FlexibleBeam& scan);

/// How many times as large a length at the origin, across the rays, appears on the detector: the mean over
/// all views. 1 for a parallel beam.
double magnification(const FlexibleBeam& scan);

/// A grid of cubes about the origin, as large as a bin appears there. There are as many along x and y as
/// there are bins. Along z they are where the middle rays pass, and as high as rows cover about that.
VolumeGrid fitting_grid(const FlexibleBeam& scan);

/// (view, row, bin), one block.
Space projection_space(const FlexibleBeam& scan, Device device = Device::cpu());

/// @throws GeometryError unless all voxels of the grid lie on the detector's side of the source in all views,
/// at least 4 voxels away; it names the view
void require_source_outside(const FlexibleBeam& scan, const VolumeGrid& grid);

/// The detector rows that voxels of these slices can meet in any view, and the slices that rows can meet.
Range rows_met(const FlexibleBeam& scan, const VolumeGrid& grid, Range slices);
Range slices_met(const FlexibleBeam& scan, const VolumeGrid& grid, Range rows);

/// The distance from the origin at which a ray passes, mm, if it meets the detector at the distance
/// `on_detector` from the ray through the origin.
double distance_from_axis(const FlexibleBeam& scan, double on_detector);

}  // namespace tandem
