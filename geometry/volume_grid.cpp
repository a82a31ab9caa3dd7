#include "volume_grid.hpp"

#include <algorithm>
#include <cmath>

#include "../core/error.hpp"
#include "../core/extents.hpp"

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

namespace {

/// Voxels whose middles lie within a circle about the axis, along x or y.
Index within(double radius, double pitch) {
  constexpr double rounding = 1e-6;
  return static_cast<Index>(std::floor(2 * radius / pitch + rounding)) + 1;
}

}  // namespace

VolumeGrid fitting_grid(const ParallelBeam& scan) {
  validate(scan);
  const Detector& d = scan.detector;
  const Index n = half_acquisition(scan) ? within(sides(d).farther, 1) : d.bins;
  return {{n, n, d.rows}, {d.bin_pitch, d.bin_pitch, d.row_pitch}, {}};
}

VolumeGrid fitting_grid(const ConeBeam& scan) {
  validate(scan);
  const Detector& d = scan.detector;
  const double m = scan.magnification(), pitch = d.bin_pitch / m, height = d.row_pitch / m;
  Index n = d.bins;
  if (half_acquisition(scan)) {
    const double tangent = sides(d).farther * d.bin_pitch / scan.sdd;
    n = std::max(n, within(scan.sod * tangent / std::hypot(1, tangent), pitch));
  }
  const double middle = 0.5 * static_cast<double>(d.rows - 1) - scan.midplane_row;
  return {{n, n, d.rows}, {pitch, pitch, height}, {0, 0, middle * height}};
}

VolumeGrid fitting_grid(const Scan& scan) {
  return std::visit([](const auto& s) { return fitting_grid(s); }, scan);
}

VolumeGrid region(const VolumeGrid& grid, Range x, Range y, Range z) {
  VolumeGrid part = grid;
  const std::array<Range, 3> ranges{x, y, z};
  for (int i = 0; i < 3; ++i) {
    const Range r = ranges[i];
    require<GeometryError>(0 <= r.first && r.first < r.last && r.last <= grid.size[i], "region ", r.first,
                           ":", r.last, " along ", "xyz"[i], " is empty or outside 0:", grid.size[i]);
    part.size[i] = r.size();
    const double middle = 0.5 * static_cast<double>(r.first + r.last - grid.size[i]);
    part.centre[i] += middle * grid.pitch[i];
  }
  return part;
}

Space volume_space(const VolumeGrid& grid, Device device) {
  return Space(grid.shape(), Blocks::slices, device);
}

Space projection_space(const ParallelBeam& scan, Device device) {
  return Space({static_cast<Index>(scan.angles.size()), scan.detector.rows, scan.detector.bins}, Blocks::rows,
               device, fingerprint(scan));
}

Space cone_volume_space(const VolumeGrid& grid, Device device) {
  return Space(grid.shape(), Blocks::whole, device);
}

Space projection_space(const ConeBeam& scan, Device device) {
  return Space({static_cast<Index>(scan.angles.size()), scan.detector.rows, scan.detector.bins},
               Blocks::whole, device, fingerprint(scan));
}

Space projection_space(const Scan& scan, Device device) {
  return std::visit([&](const auto& s) { return projection_space(s, device); }, scan);
}

}  // namespace tandem
