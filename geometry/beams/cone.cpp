#include "cone.hpp"

#include <cmath>

#include "../../core/error.hpp"
#include "../../core/rounding.hpp"
#include "../fingerprint.hpp"
#include "rows_and_slices.hpp"

namespace tandem {

namespace {

/// The height at which a distance on the detector is seen at a distance from the source, mm.
double height_of(const ConeBeam& scan, double rows, double distance) {
  return rows * scan.detector.row_pitch * distance / scan.sdd;
}

VolumeGrid with_height(VolumeGrid grid, double height) {
  grid.pitch[2] = height, grid.centre[2] = 0;
  return grid;
}

}  // namespace

void validate(const ConeBeam& scan) {
  validate(scan.detector);
  validate_angles("ConeBeam", scan.angles);
  require<GeometryError>(std::isfinite(scan.sod) && scan.sod > 0, "ConeBeam: sod = ", scan.sod,
                         " mm; a positive length is needed");
  require<GeometryError>(std::isfinite(scan.sdd) && scan.sdd > scan.sod, "ConeBeam: sdd = ", scan.sdd,
                         " mm is not beyond sod = ", scan.sod, " mm; the detector is behind the axis");
  require<GeometryError>(std::isfinite(scan.midplane_row), "ConeBeam: midplane_row = ", scan.midplane_row,
                         "; a finite number of rows is needed");
}

void keep_views(ConeBeam& scan, std::span<const Index> views) { scan.angles = chosen(scan.angles, views); }

ConeBeam crop(const ConeBeam& scan, Range views, Range rows, Range bins) {
  ConeBeam part = scan;
  part.detector = crop(scan.detector, rows, bins);
  part.angles = crop(scan.angles, views);
  part.midplane_row -= rows.first;
  if (rows.size() < scan.detector.rows) part.whole_height = scan.farthest_row() * scan.detector.row_pitch;
  part.cut = {scan.cut[0] && rows.first == 0, scan.cut[1] && rows.last == scan.detector.rows};
  return part;
}

ConeBeam crop(const ConeBeam& scan, Range views, Range rows) {
  return crop(scan, views, rows, {0, scan.detector.bins});
}

ConeBeam of_rows_needed(const ConeBeam& scan, Range rows) {
  ConeBeam part = crop(scan, {0, views_of(scan)}, rows);
  part.cut = {scan.cut[0] || rows.first > 0, scan.cut[1] || rows.last < scan.detector.rows};
  return part;
}

namespace {

/// The rows beyond an edge of the detector, which is so many rows outwards from the midplane, on which voxels
/// of slices fall that reach up to this edge at the axis. One more makes up for what models interpolate.
Index rows_beyond(const ConeBeam& wide, double edge) {
  constexpr double nearest = 1.0 / 3;  // share of sod
  constexpr Index most = 4096;         // a midplane that is given wrong takes no endless memory
  const Sides side = sides(wide.detector);
  const double radius = distance_from_axis(wide, (side.farther + 0.5) * wide.detector.bin_pitch) / wide.sod;
  const double farthest_fall = edge > 0 ? edge / std::max(nearest, 1 - radius) : edge / (1 + radius);
  return std::min(most, ceil_index(farthest_fall - edge) + 1);
}

}  // namespace

ConeBeam filtered_scan(const ConeBeam& scan) {
  ConeBeam wide = symmetric(scan);
  if (scan.detector.rows == 1 && scan.cut == std::array{false, false}) return wide;
  const double farthest = scan.farthest_row() + 0.5;
  const Index below = scan.cut[0] ? 0 : rows_beyond(wide, scan.midplane_row + 0.5),
              above = scan.cut[1] ? 0 : rows_beyond(wide, scan.detector.rows - 0.5 - scan.midplane_row);
  wide.whole_height = (farthest + rows_beyond(wide, farthest)) * scan.detector.row_pitch;
  wide.detector.rows += below + above;
  wide.midplane_row += below;
  return wide;
}

ConeBeam bin_down(const ConeBeam& scan, int level, bool) {
  ConeBeam binned = scan;
  binned.detector = bin_down(scan.detector, level, true);
  binned.midplane_row = binned_position(scan.midplane_row, rows_together(scan.detector.rows, level));
  return binned;
}

std::uint64_t fingerprint(const ConeBeam& scan) {
  Fingerprint all;
  all.add(scan.detector);
  all.add(std::vector<double>{scan.sod, scan.sdd, scan.midplane_row});
  all.add(scan.angles);
  return all.value();
}

VolumeGrid fitting_grid(const ConeBeam& scan) {
  validate(scan);
  const Detector& d = scan.detector;
  const double m = scan.magnification(), pitch = d.bin_pitch / m, height = d.row_pitch / m;
  Index n = d.bins;
  if (half_acquisition(scan)) {
    const double tangent = sides(d).farther * d.bin_pitch / scan.sdd;
    n = std::max(n, voxels_within(scan.sod * tangent / std::hypot(1, tangent), pitch));
  }
  const double middle = 0.5 * (d.rows - 1) - scan.midplane_row;
  return {{n, n, d.rows}, {pitch, pitch, height}, {0, 0, middle * height}};
}

Space cone_volume_space(const VolumeGrid& grid, Device device) {
  return Space(grid.shape(), Blocks::whole, device);
}

Space projection_space(const ConeBeam& scan, Device device) {
  return Space({views_of(scan), scan.detector.rows, scan.detector.bins}, Blocks::whole, device,
               fingerprint(scan))
      .split();
}

void require_source_outside(const ConeBeam& scan, const VolumeGrid& grid, double reach) {
  const auto farthest = [&](int axis) {  // from the rotation axis
    return std::abs(grid.centre[axis]) + (0.5 * (grid.size[axis] - 1) + reach) * grid.pitch[axis];
  };
  const double radius = std::hypot(farthest(0), farthest(1));
  require<GeometryError>(radius < scan.sod, "ConeBeam: sod = ", scan.sod, " mm, but the grid reaches ",
                         radius, " mm from the axis: the source would pass through it; take a smaller grid");
}

ColumnReach column_reach(const ConeBeam& scan, const VolumeGrid& grid) {
  double radius = 0;
  for (const double ix : {0.0, grid.size[0] - 1.0})
    for (const double iy : {0.0, grid.size[1] - 1.0})
      radius = std::max(radius, std::hypot(grid.x(ix), grid.y(iy)));
  return {scan.sod - radius, scan.sod + radius};
}

namespace {

double row_of(const ConeBeam& scan, double z, double distance) {
  return scan.midplane_row + scan.sdd * z / (distance * scan.detector.row_pitch);
}

}  // namespace

Range rows_met(const ConeBeam& scan, const VolumeGrid& grid, Range slices) {
  require_source_outside(scan, grid);
  const ColumnReach reach = column_reach(scan, grid);
  const double low = grid.z(slices.first - 0.5), high = grid.z(slices.last - 0.5);
  return rows_between(row_of(scan, low, low < 0 ? reach.nearest : reach.farthest),
                      row_of(scan, high, high > 0 ? reach.nearest : reach.farthest), scan.detector.rows);
}

Range slices_met(const ConeBeam& scan, const VolumeGrid& grid, Range rows) {
  return slices_meeting(rows, grid.size[2], [&](Index z) { return rows_met(scan, grid, {z, z + 1}); });
}

double distance_from_axis(const ConeBeam& scan, double on_detector) {
  return scan.sod * std::sin(std::atan(on_detector / scan.sdd));
}

void validate(const FanBeam& scan) {
  validate(static_cast<const ConeBeam&>(scan));
  require<GeometryError>(scan.detector.rows == 1, "FanBeam: ", scan.detector.rows,
                         " rows; a fan beam has one");
  require<GeometryError>(std::abs(scan.midplane_row) < 0.5, "FanBeam: midplane_row = ", scan.midplane_row,
                         "; the source is at the height of row 0, so it is between -0.5 and 0.5");
}

FanBeam crop(const FanBeam& scan, Range views, Range rows, Range bins) {
  return {crop(static_cast<const ConeBeam&>(scan), views, rows, bins)};
}

FanBeam bin_down(const FanBeam& scan, int level, bool pitch_known) {
  return {bin_down(static_cast<const ConeBeam&>(scan), level, pitch_known)};
}

VolumeGrid tall_voxels(const FanBeam& scan, const VolumeGrid& grid) {
  if (grid.size[2] != 1) return grid;
  const double farther_edge = 0.5 + std::abs(scan.midplane_row);  // distance from the source's plane, rows
  return with_height(grid,
                     3 * height_of(scan, farther_edge, column_reach(scan, grid).farthest));  // 2 would do
}

VolumeGrid flat_voxels(const FanBeam& scan, const VolumeGrid& grid) {
  if (grid.size[2] != 1) return grid;
  const double nearer_edge = 0.5 - std::abs(scan.midplane_row);
  return with_height(
      grid, height_of(scan, nearer_edge, column_reach(scan, grid).nearest));  // half of what would do
}

}  // namespace tandem
