#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "../../core/public.hpp"
#include "../../core/space.hpp"
#include "../detector.hpp"
#include "../view_angles.hpp"
#include "../volume_grid.hpp"

namespace TANDEM_PUBLIC tandem {

/// A scan with a point source on a circle and a flat detector. For the view angle a in rad the source is at
/// sod (sin a, -cos a, 0). The detector is at the distance sdd from the source; its bins lie along (cos a,
/// sin a, 0), its rows along z. With t = x cos a + y sin a and d = sod - x sin a + y cos a, a point falls on
/// bin = axis_bin + sdd t / (d bin_pitch) and on row = midplane_row + sdd z / (d row_pitch). So
/// (midplane_row, axis_bin) is the principal point. A scan of one row at the height of the source is a
/// `FanBeam`.
struct ConeBeam {
  static constexpr std::string_view kind = "cone";
  static constexpr bool rows_are_slices = false;
  static constexpr bool rays_cross_slices = true;  ///< so that all slices are one problem
  static constexpr bool needs_mm = true;
  static constexpr double period = whole_turn;

  Detector detector;
  std::vector<double> angles{};
  double sod = 0, sdd = 0;  ///< mm
  double midplane_row = 0;  ///< centred: (rows - 1) / 2
  /// If these rows are part of a detector: how far from the midplane its rows reach, mm on the detector, so
  /// that what is approximated for all rows is the same for each part. 0 for a whole detector.
  double whole_height = 0;
  /// Whether rows below, and above, these are left out because no slice needs them (`of_rows_needed`).
  std::array<bool, 2> cut{false, false};
  double magnification() const { return sdd / sod; }
  /// The row that is farthest from the midplane, of the whole detector: how far, in rows.
  double farthest_row() const {
    const double own = std::max(midplane_row, static_cast<double>(detector.rows - 1) - midplane_row);
    return std::max(own, whole_height / detector.row_pitch);
  }
};

/// @throws GeometryError naming the field, its value and its unit.
void validate(const ConeBeam& scan);

/// The number of views, and their order by angle.
inline Index views_of(const ConeBeam& scan) { return scan.angles.size(); }
inline std::vector<Index> order_of_views(const ConeBeam& scan) {
  return order_of_angles(scan.angles, scan.period);
}

/// The bin on which the axis of rotation falls.
inline std::optional<double> axis_of(const ConeBeam& scan) { return scan.detector.axis_bin; }

inline bool has_upright_views(const ConeBeam&) { return true; }

/// Leaves the scan these of its views, in this order.
void keep_views(ConeBeam& scan, std::span<const Index> views);

/// Whether this is a half acquisition, as for a parallel beam.
bool half_acquisition(const ConeBeam& scan);

/// The weight of each ray in FDK, (view, bin), rad. It is half the share of the view in the orbit, because a
/// circle sees every line twice. It makes up for rays that are not seen twice. All rows of the detector have
/// the same values.
///
/// Views fill a circle if they go all round (`all_round`). If they leave one hole, which opposite rays fill,
/// and the axis is not aside, they are an arc. N views in equal steps over an arc cover N steps.
///
/// For an arc these are the weights of Parker 1982. The excess of the arc over half a turn takes the place of
/// the fan angle.
///
/// For a circle whose detector reaches farther on one side of the axis, rays are halved except those beyond
/// the end of the nearer side, after Wang 2002. Wang's weight rises along all that is seen from both sides.
/// This adds a fifth of noise and bends values where opposite views differ. Here the weight rises as a
/// squared sine in a band beside that end. The band is 16 bins wide, or as wide as the rim of the field moves
/// in two views if that is more, and at most all that there is. This was chosen by measurement
/// (docs/kernels.md). A ray and its opposite ray together count one.
std::vector<float> ray_shares(const ConeBeam& scan);

/// The scan with bins added on the nearer side of its detector until both sides reach equally far from the
/// axis. Filtered rows go on there, although only the other side saw these rays. An arc stays as it is.
ConeBeam symmetric(const ConeBeam& scan);

/// The scan on whose detector the filtered rows of FDK lie: `symmetric`, with rows beyond the first and the
/// last one, with which the sample is taken to go on. There are as many as the slices of `fitting_grid` need
/// within the field of view, so far as it reaches two thirds of the way to the source. A single row has none.
ConeBeam filtered_scan(const ConeBeam& scan);

/// The part of a scan with the rows that some slices need.
ConeBeam of_rows_needed(const ConeBeam& scan, Range rows);

/// The widest gap between neighbouring views of the circle or the arc, rad.
double gap_between_views(const ConeBeam& scan);

/// How much an arc is shorter than half a turn plus the fan angle, in rad; 0 for a circle or an arc that is
/// long enough.
double missing_arc(const ConeBeam& scan);

/// The part of a scan with these views, rows and bins. The principal point keeps its place in space.
ConeBeam crop(const ConeBeam& scan, Range views, Range rows, Range bins);
ConeBeam crop(const ConeBeam& scan, Range views, Range rows);  ///< all bins

/// The scan after averaging 2^level x 2^level cells, or 1 x 2^level cells if there is one row. Incomplete
/// cells at the end are dropped. The pitch of a cone beam is always known.
ConeBeam bin_down(const ConeBeam& scan, int level, bool pitch_known = true);

/// A number that is different for different scans, and never 0. See `Space`.
std::uint64_t fingerprint(const ConeBeam& scan);

/// A grid of square voxels as large as a bin appears at the axis. There are as many along x and y as there
/// are bins; for a half acquisition the grid is as wide as the field of view. Each slice has the height at
/// which its row meets the axis.
VolumeGrid fitting_grid(const ConeBeam& scan);

/// The spaces of volumes (slice, y, x) and of projections (view, row, bin). Each is one block, because all
/// slices of a cone beam are one problem.
Space cone_volume_space(const VolumeGrid& grid, Device device = Device::cpu());
Space projection_space(const ConeBeam& scan, Device device = Device::cpu());

/// @throws GeometryError unless all voxels of the grid are on the detector's side of the source. `reach` says
/// how far beyond the middle of the last voxel the grid counts, in voxels.
void require_source_outside(const ConeBeam& scan, const VolumeGrid& grid, double reach = 0.5);

/// The detector rows that voxels of these slices can meet in any view. None is missing, and few are too many.
/// The range is empty if no ray meets the slices. @throws GeometryError if the source would pass through the
/// grid
Range rows_met(const ConeBeam& scan, const VolumeGrid& grid, Range slices);

/// The slices whose voxels these rows can meet in any view.
Range slices_met(const ConeBeam& scan, const VolumeGrid& grid, Range rows);

/// The distance from the axis at which a ray passes, mm, if it meets the detector at the distance
/// `on_detector` (mm) from where the axis falls.
double distance_from_axis(const ConeBeam& scan, double on_detector);

/// The least and the largest distance of the voxel columns of a grid from the source, along the normal of the
/// detector, mm.
struct ColumnReach {
  double nearest, farthest;
};
ColumnReach column_reach(const ConeBeam& scan, const VolumeGrid& grid);

/// A cone beam with one detector row at the height of its source: |midplane_row| < 0.5. The row says nothing
/// about heights. So, for a grid of one slice, the projector takes tall voxels, of which the row sees no end,
/// and FDK takes flat voxels, which the row sees from end to end. In files and commands it is a cone beam of
/// one row.
struct FanBeam : ConeBeam {
  static constexpr bool rays_cross_slices = false;
};

/// @throws GeometryError naming the field, its value and its unit.
void validate(const FanBeam& scan);

FanBeam crop(const FanBeam& scan, Range views, Range rows, Range bins);
FanBeam bin_down(const FanBeam& scan, int level, bool pitch_known = true);

/// The grid with the tall voxels, and with the flat voxels, that are described above. A grid of several
/// slices stays as it is.
VolumeGrid tall_voxels(const FanBeam& scan, const VolumeGrid& grid);
VolumeGrid flat_voxels(const FanBeam& scan, const VolumeGrid& grid);

}  // namespace tandem
