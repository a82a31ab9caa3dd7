#pragma once

#include <array>

#include "../core/public.hpp"
#include "../core/range.hpp"
#include "scan.hpp"

namespace TANDEM_PUBLIC tandem {

/// Voxels in world space; the rotation axis is z through the origin. Voxel (iz, iy, ix) lies at
/// x = (ix - (nx - 1) / 2) pitch_x + centre_x, and so for y and z.
struct VolumeGrid {
  std::array<Index, 3> size{};     ///< nx, ny, nz
  std::array<double, 3> pitch{};   ///< mm
  std::array<double, 3> centre{};  ///< mm

  double x(double ix) const { return at(0, ix); }
  double y(double iy) const { return at(1, iy); }
  double z(double iz) const { return at(2, iz); }
  Shape shape() const { return {size[2], size[1], size[0]}; }  ///< (slice, y, x)

 private:
  double at(int axis, double i) const {
    return (i - 0.5 * static_cast<double>(size[axis] - 1)) * pitch[axis] + centre[axis];
  }
};

/// @throws GeometryError naming the field, its value and its unit.
void validate(const VolumeGrid& grid);

/// Square voxels of the bin pitch, as many along x and y as there are bins, a slice for each row, centred on
/// the axis. Of a half acquisition as many as its field is wide: all that the farther side of the detector
/// sees as it goes round.
VolumeGrid fitting_grid(const ParallelBeam& scan);

/// The same for cells as large as they appear at the axis; each slice at the height at which its row meets
/// the axis.
VolumeGrid fitting_grid(const ConeBeam& scan);
VolumeGrid fitting_grid(const Scan& scan);

/// The part of a grid that index ranges cut out, where it was in space. @throws GeometryError if it is empty
/// or reaches outside.
VolumeGrid region(const VolumeGrid& grid, Range x, Range y, Range z);

/// A volume of the grid's shape whose slices are independent problems.
Space volume_space(const VolumeGrid& grid, Device device = Device::cpu());

/// Projections (view, row, bin) whose rows are independent problems.
Space projection_space(const ParallelBeam& scan, Device device = Device::cpu());

/// Volume and projections of a cone beam are one problem.
Space cone_volume_space(const VolumeGrid& grid, Device device = Device::cpu());
Space projection_space(const ConeBeam& scan, Device device = Device::cpu());
Space projection_space(const Scan& scan, Device device = Device::cpu());

}  // namespace tandem
