#pragma once

#include <Eigen/Dense>
#include <cmath>

#include "../../geometry/views.hpp"

namespace tandem::test {

/// The bin on which a point falls (docs/conventions.md), in double.
inline double bin_of(const ParallelBeam& scan, double angle, double x, double y) {
  return scan.detector.axis_bin + (x * std::cos(angle) + y * std::sin(angle)) / scan.detector.bin_pitch;
}

/// The matrix of one slice, rows (view, bin), columns (y, x): pitch^2 / bin_pitch max(0, 1 - |h - b|).
inline Eigen::MatrixXd pixel_driven_matrix(const ParallelBeam& scan, const VolumeGrid& grid) {
  const Index bins = scan.detector.bins, nx = grid.size[0], ny = grid.size[1];
  Eigen::MatrixXd a(views_of(scan) * bins, nx * ny);
  const double area = grid.pitch[0] * grid.pitch[1] / scan.detector.bin_pitch;
  Index row = 0;
  for (double angle : scan.angles)
    for (Index b = 0; b < bins; ++b, ++row)
      for (Index j = 0; j < ny; ++j)
        for (Index i = 0; i < nx; ++i) {
          const double h =
              bin_of(scan, angle, grid.x(static_cast<double>(i)), grid.y(static_cast<double>(j)));
          a(row, j * nx + i) = area * std::max(0.0, 1 - std::abs(h - static_cast<double>(b)));
        }
  return a;
}

/// The same for Joseph 1982, by marching along the ray x cos + y sin = u, not by the hat. It steps over the
/// axis that the ray runs along, and interpolates between the two pixels that it passes.
inline Eigen::MatrixXd joseph_matrix(const ParallelBeam& scan, const VolumeGrid& grid) {
  const Index bins = scan.detector.bins, nx = grid.size[0], ny = grid.size[1];
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(views_of(scan) * bins, nx * ny);
  Index row = 0;
  for (double angle : scan.angles) {
    const double c = std::cos(angle), s = std::sin(angle);
    const bool columns = std::abs(s) >= std::abs(c);
    const Index steps = columns ? nx : ny, across = columns ? ny : nx;
    for (Index b = 0; b < bins; ++b, ++row) {
      const double ray = (static_cast<double>(b) - scan.detector.axis_bin) * scan.detector.bin_pitch;
      for (Index i = 0; i < steps; ++i) {
        const double along = columns ? grid.x(static_cast<double>(i)) : grid.y(static_cast<double>(i));
        const double at = columns ? (ray - along * c) / s : (ray - along * s) / c;
        const double position = (at - (columns ? grid.y(0) : grid.x(0))) / grid.pitch[0];
        const Index j = static_cast<Index>(std::floor(position));
        const double f = position - std::floor(position);
        const double length = grid.pitch[0] / std::abs(columns ? s : c);
        const auto add = [&](Index k, double weight) {
          if (0 <= k && k < across) a(row, columns ? k * nx + i : i * nx + k) += weight * length;
        };
        add(j, 1 - f);
        add(j + 1, f);
      }
    }
  }
  return a;
}

inline Eigen::MatrixXd reference_matrix(const ParallelBeam& scan, const VolumeGrid& grid, Model model) {
  return model == Model::joseph ? joseph_matrix(scan, grid) : pixel_driven_matrix(scan, grid);
}

}  // namespace tandem::test
