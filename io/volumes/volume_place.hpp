#pragma once

#include <array>
#include <string>

#include "../../core/range.hpp"
#include "../../geometry/volume_grid.hpp"

namespace tandem::io {

/// Where the voxels of a volume lie, and of which grid they are a part. Lengths are in mm or, if no pitch is
/// known, in bins of the scan's file.
struct VolumePlace {
  VolumeGrid grid;
  bool in_mm = false;
  std::array<Index, 3> full_size{};  ///< nx, ny, nz of the grid that `grid` is a region of
  std::array<Index, 3> first{};      ///< the voxel of the full grid where the region begins

  /// The unit of the values: attenuation per mm, or per voxel along x.
  std::string unit() const { return in_mm ? "1/mm" : "1/pixel"; }
  Range slices() const { return {first[2], first[2] + grid.size[2]}; }  ///< counted in the full grid
  const char* unit_of_length() const { return in_mm ? "mm" : "bin"; }
};

/// The place of a whole grid.
VolumePlace whole_place(const VolumeGrid& grid, bool in_mm);

/// The difference between two grids, in words. Empty if no edge of one is farther than 1/1000 voxel from that
/// of the other.
std::string difference(const VolumePlace& a, const VolumePlace& b);

}  // namespace tandem::io
