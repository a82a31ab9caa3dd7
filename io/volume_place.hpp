#pragma once

#include <array>
#include <string>

#include "../core/range.hpp"
#include "../geometry/volume_grid.hpp"

namespace tandem::io {

/// Where the voxels of a volume lie, and of what grid they are a part. Lengths are in mm or, where no pitch
/// is known, in bins of the scan's file.
struct VolumePlace {
  VolumeGrid grid;
  bool in_mm = false;
  std::array<Index, 3> full_size{};  ///< nx, ny, nz of the grid that `grid` is a region of
  std::array<Index, 3> first{};      ///< the voxel of the full grid where the region begins

  /// Of the values: attenuation for each mm, or for each voxel along x.
  std::string unit() const { return in_mm ? "1/mm" : "1/pixel"; }
  Range slices() const { return {first[2], first[2] + grid.size[2]}; }  ///< of the full grid
  const char* unit_of_length() const { return in_mm ? "mm" : "bin"; }
};

/// The place of a grid that is no region.
VolumePlace whole_place(const VolumeGrid& grid, bool in_mm);

/// What makes `a` another grid than `b`, in words; empty if no edge of either is farther than 1/1000 voxel
/// from its twin.
std::string difference(const VolumePlace& a, const VolumePlace& b);

}  // namespace tandem::io
