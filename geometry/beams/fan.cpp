#include "fan.hpp"

#include <cmath>

#include "../../core/error.hpp"

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
