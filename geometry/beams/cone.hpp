#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "../../core/public.hpp"
#include "../../core/space.hpp"
#include "../detector.hpp"
#include "../view_angles.hpp"
#include "../volume_grid.hpp"

namespace TANDEM_PUBLIC tandem {

/// A point source on a circle at sod (sin a, -cos a, 0) for the view angle a in rad, and a flat detector at
/// the distance sdd from it, bins along (cos a, sin a, 0), rows along z. A point at t = x cos a + y sin a and
/// d = sod - x sin a + y cos a falls on bin = axis_bin + sdd t / (d bin_pitch) and on
/// row = midplane_row + sdd z / (d row_pitch): these two are the principal point. One row at the height of
/// the source is a `FanBeam`.
struct ConeBeam {
  static constexpr std::string_view kind = "cone";
  static constexpr bool rows_are_slices = false;
  static constexpr bool needs_mm = true;
  static constexpr double period = whole_turn;

  Detector detector;
  std::vector<double> angles{};
  double sod = 0, sdd = 0;  ///< mm
  double midplane_row = 0;  ///< centred: (rows - 1) / 2
  double magnification() const { return sdd / sod; }
};

/// @throws GeometryError naming the field, its value and its unit.
void validate(const ConeBeam& scan);

/// As for a parallel beam, of a circle.
bool half_acquisition(const ConeBeam& scan);

/// What each ray counts in FDK, (view, bin), rad: the view's share of the orbit, halved since a circle sees
/// every line twice, and where rays are not seen twice, what makes up for it. All rows of the detector are
/// alike.
///
/// An arc: Parker 1982, with the arc's own excess over half a turn in the place of the fan angle.
///
/// A circle whose detector reaches farther on one side of the axis: rays are halved but for those beyond the
/// end of its nearer side, after Wang 2002. His weight rises along all that is seen from both sides, which
/// adds a fifth of noise and lets values bend where opposite views differ. Here it rises in a band beside
/// that end, as a squared sine: 16 bins, or what the rim of the field moves in two views if that is more,
/// and no more than there is. Chosen by measurement (docs/kernels.md). A ray and its opposite count one.
std::vector<float> ray_shares(const ConeBeam& scan);

/// The scan with bins added on the side where its detector reaches less far from the axis, until both are
/// alike: filtered rows go on there, where rays were seen from the other side alone. Itself for an arc.
ConeBeam symmetric(const ConeBeam& scan);

/// The detector on which filtered rows lie.
inline Detector filtered_detector(const ConeBeam& scan) { return symmetric(scan).detector; }

/// How much an arc falls short of half a turn and the fan, in rad; 0 for a circle or an arc that is long
/// enough.
double missing_arc(const ConeBeam& scan);

/// The part of a scan that some rows, views and bins make up; the principal point keeps its place in space.
ConeBeam crop(const ConeBeam& scan, Range views, Range rows, Range bins);
ConeBeam crop(const ConeBeam& scan, Range views, Range rows);  ///< all bins

/// The scan after averaging 2^level x 2^level cells, of one row 1 x 2^level; incomplete cells at the end are
/// dropped. Its pitch is always known.
ConeBeam bin_down(const ConeBeam& scan, int level, bool pitch_known = true);

/// A number that differs between scans that differ; never 0. See Space::key.
std::uint64_t fingerprint(const ConeBeam& scan);

/// Square voxels as large as bins appear at the axis, as many along x and y as there are bins (for a half
/// acquisition as many as its field is wide), each slice at the height at which its row meets the axis.
VolumeGrid fitting_grid(const ConeBeam& scan);

/// Volume and projections of a cone beam are one problem.
Space cone_volume_space(const VolumeGrid& grid, Device device = Device::cpu());
Space projection_space(const ConeBeam& scan, Device device = Device::cpu());

/// @throws GeometryError unless all voxels of the grid are on the detector's side of the source. `reach`: how
/// far beyond the middle of the last voxel one reaches, in voxels.
void require_source_outside(const ConeBeam& scan, const VolumeGrid& grid, double reach = 0.5);

/// Rows of the detector that voxels of these slices can meet in any view: never too few, and few too many.
/// Empty where no ray meets them. @throws GeometryError where the source would pass through the grid
Range rows_met(const ConeBeam& scan, const VolumeGrid& grid, Range slices);

/// Slices whose voxels these rows can meet in any view.
Range slices_met(const ConeBeam& scan, const VolumeGrid& grid, Range rows);

/// How near to the axis a ray passes that falls on the detector at a distance (mm) from where the axis does,
/// mm.
double distance_from_axis(const ConeBeam& scan, double on_detector);

/// The least and the largest distance of a grid's voxel columns from the source, along the normal of the
/// detector, mm.
struct ColumnReach {
  double nearest, farthest;
};
ColumnReach column_reach(const ConeBeam& scan, const VolumeGrid& grid);

}  // namespace tandem
