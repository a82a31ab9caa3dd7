#pragma once

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

/// A scan with parallel rays. A point (x, y) falls on bin = axis_bin + (x cos a + y sin a) / bin_pitch for
/// the view angle a in rad, plus the shift of the view. Angles may have any order. Each detector row sees
/// exactly one slice.
struct ParallelBeam {
  static constexpr std::string_view kind = "parallel";  ///< its name in files and commands
  static constexpr bool rows_are_slices = true;  ///< each detector row sees one slice, a problem of its own
  static constexpr bool rays_cross_slices = false;
  static constexpr bool needs_mm = false;      ///< lengths may be in bins if the pitch is not known
  static constexpr double period = half_turn;  ///< rad, after which views see the same lines again

  Detector detector;
  std::vector<double> angles{};         ///< rad, one for each view
  std::vector<double> row_axis_bins{};  ///< axis bin of each row if they differ, else empty
  /// How far the image of each view lies towards higher bins, because sample or detector moved; empty:
  /// nowhere.
  std::vector<double> view_shift_bins{};
  double shift_of(std::size_t view) const { return view_shift_bins.empty() ? 0 : view_shift_bins[view]; }
};

/// @throws GeometryError naming the field, its value and its unit.
void validate(const ParallelBeam& scan);

/// The number of views, and their order by angle.
inline Index views_of(const ParallelBeam& scan) { return scan.angles.size(); }
inline std::vector<Index> order_of_views(const ParallelBeam& scan) {
  return order_of_angles(scan.angles, scan.period);
}

/// The bin on which the axis of rotation falls.
inline std::optional<double> axis_of(const ParallelBeam& scan) { return scan.detector.axis_bin; }

inline bool has_upright_views(const ParallelBeam&) { return true; }

/// Leaves the scan these of its views, in this order.
void keep_views(ParallelBeam& scan, std::span<const Index> views);

/// Whether this is a half acquisition: the views go all round, and one side of the detector is more than a
/// tenth shorter than the other, so that the detector sees clearly more after half a turn.
bool half_acquisition(const ParallelBeam& scan);

/// The weight of each view in FBP, rad: its share of the half turn that shows everything. For a half
/// acquisition it is half the view's share of the whole turn, because every line is then seen twice, or
/// counted as if.
std::vector<float> view_shares(const ParallelBeam& scan);

/// The weights of the bins of a half acquisition beside that, (row, bin): 1, but 2 for rays that only the
/// farther side of the detector sees, and less at the end of the nearer side. A line that both sides see
/// counts one, with the weights of `ray_shares` of a cone beam, about the row's own axis. Empty for other
/// scans.
std::vector<float> bin_shares(const ParallelBeam& scan);

/// A half acquisition with bins added on the nearer side of its detector until both sides reach equally far
/// from the axis: filtered rows go on there. Other scans stay as they are.
ParallelBeam symmetric(const ParallelBeam& scan);

/// The part of a scan with these views, rows and bins. The axis keeps its place in space.
ParallelBeam crop(const ParallelBeam& scan, Range views, Range rows, Range bins);

/// The scan after averaging 2^level x 2^level cells, or 1 x 2^level cells if there is one row. Incomplete
/// cells at the end are dropped. If no pitch is known (`pitch_known` is false), the new bin is the new unit
/// of length.
ParallelBeam bin_down(const ParallelBeam& scan, int level, bool pitch_known);

/// A number that is different for different scans, and never 0. See `Space`.
std::uint64_t fingerprint(const ParallelBeam& scan);

/// A grid of square voxels as wide as a bin, as many along x and y as there are bins, with a slice for each
/// row, centred on the axis. For a half acquisition it is as wide as the field of view: all that the farther
/// side of the detector sees as it goes round.
VolumeGrid fitting_grid(const ParallelBeam& scan);

/// The space of projections (view, row, bin). Rows are independent problems.
Space projection_space(const ParallelBeam& scan, Device device = Device::cpu());

/// The detector rows that these slices fall on, and the slices that these rows see. Row k is slice k.
Range rows_met(const ParallelBeam& scan, const VolumeGrid& grid, Range slices);
Range slices_met(const ParallelBeam& scan, const VolumeGrid& grid, Range rows);

/// The distance from the axis at which a ray passes, mm, if it meets the detector at the distance
/// `on_detector` (mm) from the axis.
double distance_from_axis(const ParallelBeam& scan, double on_detector);

}  // namespace tandem
