#pragma once

#include <array>

#include "../core/public.hpp"
#include "../core/space.hpp"

namespace TANDEM_PUBLIC tandem {

/// The voxels of a volume in space. The rotation axis is z, through the origin. Voxel (iz, iy, ix) lies at x
/// = (ix - (nx - 1) / 2) pitch_x + centre_x, and in the same way for y and z.
struct VolumeGrid {
  std::array<Index, 3> size{};     ///< nx, ny, nz
  std::array<double, 3> pitch{};   ///< mm
  std::array<double, 3> centre{};  ///< mm

  double x(double ix) const { return at(0, ix); }
  double y(double iy) const { return at(1, iy); }
  double z(double iz) const { return at(2, iz); }
  Shape shape() const { return {size[2], size[1], size[0]}; }  ///< (slice, y, x)

 private:
  double at(int axis, double i) const { return (i - 0.5 * (size[axis] - 1)) * pitch[axis] + centre[axis]; }
};

/// @throws GeometryError naming the field, its value and its unit.
void validate(const VolumeGrid& grid);

/// The part of a grid that index ranges cut out. It keeps its place in space. @throws GeometryError if it is
/// empty or reaches outside.
VolumeGrid region(const VolumeGrid& grid, Range x, Range y, Range z);

/// The space of volumes (slice, y, x) on this grid whose slices are independent problems.
Space volume_space(const VolumeGrid& grid, Device device = Device::cpu());

/// How many voxels along x or y have their middle within a circle about the axis; radius and pitch in mm.
Index voxels_within(double radius, double pitch);

}  // namespace tandem
