#include "coverage.hpp"

#include <algorithm>
#include <cmath>

namespace tandem {

namespace {

/// Where a height falls at most and at least, as voxel columns come near to the source and go far from it.
struct Reach {
  double nearest, farthest;  ///< of columns, along the normal of the detector, mm
  Reach(const ConeBeam& scan, const VolumeGrid& grid) {
    double radius = 0;
    for (const double ix : {0.0, static_cast<double>(grid.size[0] - 1)})
      for (const double iy : {0.0, static_cast<double>(grid.size[1] - 1)})
        radius = std::max(radius, std::hypot(grid.x(ix), grid.y(iy)));
    nearest = scan.sod - radius, farthest = scan.sod + radius;
  }
};

/// From the source's plane to the nearer and to the farther edge of a fan's row, in rows; 0 for both where
/// there is no fan.
struct Fan {
  double nearer = 0, farther = 0;
  Fan(const ConeBeam& scan, const VolumeGrid& grid) {
    const double off = std::abs(scan.midplane_row);
    if (scan.detector.rows == 1 && grid.size[2] == 1 && off < 0.5) nearer = 0.5 - off, farther = 0.5 + off;
  }
};

/// The height at which a distance on the detector is seen at a distance from the source, mm.
double height_of(const ConeBeam& scan, double rows, double distance) {
  return rows * scan.detector.row_pitch * distance / scan.sdd;
}

VolumeGrid with_height(VolumeGrid grid, double height) {
  grid.pitch[2] = height, grid.centre[2] = 0;
  return grid;
}

double row_of(const ConeBeam& scan, double z, double distance) {
  return scan.midplane_row + scan.sdd * z / (distance * scan.detector.row_pitch);
}

}  // namespace

Range rows_met(const ConeBeam& scan, const VolumeGrid& grid, Range slices) {
  constexpr double rounding = 1e-6;  // rows
  const Reach reach(scan, grid);
  const double low = grid.z(static_cast<double>(slices.first) - 0.5),
               high = grid.z(static_cast<double>(slices.last) - 0.5);
  const double first = row_of(scan, low, low < 0 ? reach.nearest : reach.farthest),
               last = row_of(scan, high, high > 0 ? reach.nearest : reach.farthest);
  const auto cell = [&](double row) {
    return static_cast<Index>(std::clamp(row, 0.0, static_cast<double>(scan.detector.rows)));
  };
  return {cell(std::floor(first + 0.5 - rounding)), cell(std::ceil(last + 0.5 + rounding))};
}

Range slices_met(const ConeBeam& scan, const VolumeGrid& grid, Range rows) {
  Range met{grid.size[2], 0};
  for (Index z = 0; z < grid.size[2]; ++z) {
    const Range of_slice = rows_met(scan, grid, {z, z + 1});
    if (of_slice.first >= rows.last || of_slice.last <= rows.first) continue;
    met.first = std::min(met.first, z);
    met.last = z + 1;
  }
  return met.last > met.first ? met : Range{0, 0};
}

VolumeGrid tall_for_fan(const ConeBeam& scan, const VolumeGrid& grid) {
  const Fan fan(scan, grid);
  if (fan.farther == 0) return grid;
  return with_height(grid, 3 * height_of(scan, fan.farther, Reach(scan, grid).farthest));  // 2 would do
}

VolumeGrid flat_for_fan(const ConeBeam& scan, const VolumeGrid& grid) {
  const Fan fan(scan, grid);
  if (fan.farther == 0) return grid;
  return with_height(grid, height_of(scan, fan.nearer, Reach(scan, grid).nearest));  // half of what would do
}

}  // namespace tandem
