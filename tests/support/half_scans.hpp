#pragma once

// Half acquisitions and the whole scans that they are cut from, of a disc in the field.

#include <cmath>

#include "../../geometry/phantom.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/fbp.hpp"
#include "../../operators/fourier.hpp"
#include "../../operators/projector.hpp"
#include "scans.hpp"

namespace tandem::test {

constexpr Padding paddings[] = {Padding::none, Padding::edge, Padding::cosine};

inline Filter padded(Padding padding, std::optional<Index> over = {}) {
  return {.window = Window::ramp, .cutoff = {}, .padding = padding, .padding_bins = over};
}

/// A whole detector, and how many bins half of it lacks: its nearer side is 0.08 of the other.
struct Width {
  Index whole, missing;
};
constexpr Width widths[] = {{300, 138}, {1500, 690}, {3000, 1380}};

/// About an axis in the middle, or half of it. Opposite rays fall on bins.
inline ParallelBeam parallel_scan(const Width& width, bool half, Index views = 60) {
  const Index missing = half ? width.missing : 0;
  return {{width.whole - missing, 1, 1, 1,
           0.5 * static_cast<double>(width.whole - 1) - static_cast<double>(missing)},
          regular_angles(views, whole_turn),
          {}};
}

inline FanBeam fan_scan(const Width& width, bool half) {
  const ParallelBeam flat = parallel_scan(width, half, 180);
  const auto n = static_cast<double>(width.whole);
  FanBeam scan{{flat.detector, flat.angles, 4 * n, 6 * n, 0}};
  scan.detector.bin_pitch = scan.detector.row_pitch = 1.5;
  return scan;
}

inline ConeBeam cone_scan(const Width& width, bool half) {
  ConeBeam scan = fan_scan(width, half);
  scan.detector.rows = 5, scan.midplane_row = 2;
  return scan;
}

constexpr double mu_of_disc = 0.73;

/// In the field of the whole detector, unless it is larger.
inline Phantom disc_aside(Index whole, double radius = 0.32) {
  const auto n = static_cast<double>(whole);
  return {{{mu_of_disc, {radius * n, radius * n, INFINITY}, {0.08 * n, 0.04 * n, 0}, 0}}};
}

template <class Kind>
Array line_integrals_of(const Phantom& body, const Kind& scan) {
  Array y(projection_space(scan));
  project(body, scan, {0, scan.detector.rows}, {y.data(), static_cast<std::size_t>(y.size())});
  return y;
}

/// A model of projections, and where and how it runs.
struct Way {
  Model model;
  Device device = Device::cpu();
  Execution how{};
};

inline LinearOperator fbp_by(const Way& way, const ParallelBeam& scan, const VolumeGrid& grid,
                             const Filter& filter) {
  if (way.model == Model::fourier) return fourier_fbp(scan, grid, filter, way.device, way.how);
  return fbp(projector(symmetric(scan), grid, way.model, way.device, way.how), scan, grid, filter);
}
template <class Cone>
LinearOperator fbp_by(const Way& way, const Cone& scan, const VolumeGrid& grid, const Filter& filter) {
  return fdk(scan, grid, filter, way.model, way.device);
}

/// Means of some pixels in the disc: near the axis, where the nearer side of the half ends, and farther out.
template <class Kind>
std::vector<double> readings(const Way& way, const Width& width, const Kind& scan, Padding padding) {
  const Array y = on_device(line_integrals_of(disc_aside(width.whole), scan), way.device);
  const auto n = static_cast<double>(width.whole);
  std::vector<double> found;
  for (const double x : {0.0, 0.5 * n - static_cast<double>(width.missing), 0.25 * n}) {
    const VolumeGrid grid{{16, 8, 1}, {1, 1, 1}, {x, 0.03 * n, 0}};
    const Array slice = on_device(fbp_by(way, scan, grid, padded(padding)) * y, Device::cpu());
    double sum = 0;
    for (Index i = 0; i < slice.size(); ++i) sum += static_cast<double>(slice.data()[i]);
    found.push_back(sum / static_cast<double>(slice.size()) / mu_of_disc);
  }
  return found;
}

}  // namespace tandem::test
