#include "volume_grid.hpp"

#include <cmath>

#include "../core/error.hpp"
#include "../core/extents.hpp"
#include "../core/rounding.hpp"

namespace tandem {

void validate(const VolumeGrid& grid) {
  constexpr const char* axis = "xyz";
  for (int i = 0; i < 3; ++i) {
    require<GeometryError>(grid.size[i] > 0, "VolumeGrid: ", grid.size[i], " voxels along ", axis[i],
                           "; at least 1 is needed");
    require<GeometryError>(std::isfinite(grid.pitch[i]) && grid.pitch[i] > 0, "VolumeGrid: pitch along ",
                           axis[i], " = ", grid.pitch[i], " mm; a positive length is needed");
    require<GeometryError>(std::isfinite(grid.centre[i]), "VolumeGrid: centre along ", axis[i], " = ",
                           grid.centre[i], " mm; a finite number is needed");
  }
  require<GeometryError>(countable(grid.shape()), "VolumeGrid: ", grid.size[0], " x ", grid.size[1], " x ",
                         grid.size[2], " voxels are more than 2^60; take a smaller grid");
  require<GeometryError>(grid.pitch[0] == grid.pitch[1], "VolumeGrid: pitch ", grid.pitch[0], " mm along x, ",
                         grid.pitch[1], " mm along y; voxels are square in a slice");
}

Index voxels_within(double radius, double pitch) {
  constexpr double rounding = 1e-6;
  return floor_index(2 * radius / pitch + rounding) + 1;
}

VolumeGrid region(const VolumeGrid& grid, Range x, Range y, Range z) {
  VolumeGrid part = grid;
  const std::array<Range, 3> ranges{x, y, z};
  for (int i = 0; i < 3; ++i) {
    const Range r = ranges[i];
    require<GeometryError>(0 <= r.first && r.first < r.last && r.last <= grid.size[i], "region ", r.first,
                           ":", r.last, " along ", "xyz"[i], " is empty or outside 0:", grid.size[i]);
    part.size[i] = r.size();
    const double middle = 0.5 * (r.first + r.last - grid.size[i]);
    part.centre[i] += middle * grid.pitch[i];
  }
  return part;
}

Space volume_space(const VolumeGrid& grid, Device device) {
  return Space(grid.shape(), Blocks::slices, device);
}

}  // namespace tandem
