#pragma once

#include <Eigen/Dense>
#include <cmath>

#include "scans.hpp"

namespace tandem::test {

/// A cone beam with views at odd angles and the principal point off the middle.
inline ConeBeam odd_cone(Index views, Index rows, Index bins) {
  Random random(3);
  std::vector<double> angles = irregular_angles(views, random);
  for (double& a : angles) a *= 2;
  return {{bins, rows, 1, 1.3, 0.5 * static_cast<double>(bins - 1) + 0.7},
          angles,
          40,
          75,
          0.5 * static_cast<double>(rows - 1) - 0.4};
}

/// A cone beam from farther away, so that voxels of a cell's size lie within.
inline ConeBeam far_cone(Index views, Index rows, Index bins) {
  ConeBeam scan = odd_cone(views, rows, bins);
  scan.sod = 90, scan.sdd = 170;
  return scan;
}

inline VolumeGrid box(Index nx, Index ny, Index nz, double pitch) {
  return {{nx, ny, nz}, {pitch, pitch, 0.9 * pitch}, {0.3, -0.2, 0.1}};
}

inline double hat(double distance) { return std::max(0.0, 1 - std::abs(distance)); }

/// entry(view, row, bin, iz, iy, ix) for all of them: rows (view, row, bin), columns (slice, y, x).
template <class Entry>
Eigen::MatrixXd cone_matrix(const ConeBeam& scan, const VolumeGrid& grid, const Entry& entry) {
  const Index rows = scan.detector.rows, bins = scan.detector.bins, nx = grid.size[0], ny = grid.size[1];
  Eigen::MatrixXd a(views_of(scan) * rows * bins, nx * ny * grid.size[2]);
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = 0; j < a.cols(); ++j)
      a(i, j) = entry(scan.angles[static_cast<std::size_t>(i / bins / rows)], i / bins % rows, i % bins,
                      j / nx / ny, j / nx % ny, j % nx);
  return a;
}

/// Joseph 1982 in three dimensions, from the source and the cell in space: the ray steps over x or y, and
/// weighs the four voxels around where it crosses a plane with the length of its step.
inline Eigen::MatrixXd cone_joseph_matrix(const ConeBeam& scan, const VolumeGrid& grid) {
  return cone_matrix(scan, grid, [&](double a, Index row, Index bin, Index iz, Index iy, Index ix) {
    const double u = (static_cast<double>(bin) - scan.detector.axis_bin) * scan.detector.bin_pitch,
                 v = (static_cast<double>(row) - scan.midplane_row) * scan.detector.row_pitch;
    const Eigen::Vector3d source(scan.sod * std::sin(a), -scan.sod * std::cos(a), 0),
        cell = source + Eigen::Vector3d(u * std::cos(a) - scan.sdd * std::sin(a),
                                        u * std::sin(a) + scan.sdd * std::cos(a), v);
    const Eigen::Vector3d ray = (cell - source).normalized(),
                          voxel(grid.x(static_cast<double>(ix)), grid.y(static_cast<double>(iy)),
                                grid.z(static_cast<double>(iz)));
    const int major = std::abs(ray.x()) >= std::abs(ray.y()) ? 0 : 1;
    const double length = (voxel - source)[major] / ray[major];
    const Eigen::Vector3d away = source + length * ray - voxel;
    return hat(away[1 - major] / grid.pitch[0]) * hat(away.z() / grid.pitch[2]) * grid.pitch[0] /
           std::abs(ray[major]);
  });
}

/// A voxel on the four cells around where its centre falls: conventions.md; V sdd r / (cell d^2) in all.
inline Eigen::MatrixXd cone_pixel_driven_matrix(const ConeBeam& scan, const VolumeGrid& grid) {
  return cone_matrix(scan, grid, [&](double a, Index row, Index bin, Index iz, Index iy, Index ix) {
    const Detector& at = scan.detector;
    const double x = grid.x(static_cast<double>(ix)), y = grid.y(static_cast<double>(iy)),
                 z = grid.z(static_cast<double>(iz)), d = scan.sod - x * std::sin(a) + y * std::cos(a);
    const double b = at.axis_bin + scan.sdd * (x * std::cos(a) + y * std::sin(a)) / (d * at.bin_pitch),
                 r = scan.midplane_row + scan.sdd * z / (d * at.row_pitch);
    const double length = std::hypot(scan.sdd, (static_cast<double>(bin) - at.axis_bin) * at.bin_pitch,
                                     (static_cast<double>(row) - scan.midplane_row) * at.row_pitch);
    return grid.pitch[0] * grid.pitch[1] * grid.pitch[2] * scan.sdd * length /
           (at.bin_pitch * at.row_pitch * d * d) * hat(b - static_cast<double>(bin)) *
           hat(r - static_cast<double>(row));
  });
}

}  // namespace tandem::test
