#pragma once

#include <array>
#include <string>

#include "../../geometry/volume_grid.hpp"

namespace tandem::io {

/// The place of the voxels of a volume, and the full grid of which they are a part. Lengths are in mm, or in
/// bins of the scan's file if no pitch is known.
struct VolumePlace {
  VolumeGrid grid;
  bool in_mm = false;
  std::array<Index, 3> full_size{};  ///< nx, ny, nz of the full grid, of which `grid` is a region
  std::array<Index, 3> first{};      ///< the first voxel of the region in the full grid

  /// The unit of the values: attenuation per mm, or per voxel along x.
  std::string unit() const { return in_mm ? "1/mm" : "1/pixel"; }
  Range slices() const { return {first[2], first[2] + grid.size[2]}; }  ///< slices of the full grid
  const char* unit_of_length() const { return in_mm ? "mm" : "bin"; }
};

VolumePlace whole_place(const VolumeGrid& grid, bool in_mm);

/// The difference between two grids, in words. Empty if all edges agree within 1/1000 voxel.
std::string difference(const VolumePlace& a, const VolumePlace& b);

}  // namespace tandem::io
