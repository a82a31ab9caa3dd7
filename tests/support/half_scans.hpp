#pragma once

// Half acquisitions and the whole scans that they are cut from, of a disc in the field.

#include <cmath>
#include <optional>

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

/// A scan about an axis in the middle, or half of it. Opposite rays fall on bins.
inline ParallelBeam turned_scan(const Width& width, bool half, Index views) {
  const Index missing = half ? width.missing : 0;
  return {{width.whole - missing, 1, 1, 1,
           0.5 * static_cast<double>(width.whole - 1) - static_cast<double>(missing)},
          regular_angles(views, whole_turn),
          {}};
}

inline ParallelBeam parallel_scan(const Width& width, bool half) { return turned_scan(width, half, 60); }

inline FanBeam fan_scan(const Width& width, bool half) {
  const ParallelBeam flat = turned_scan(width, half, 360);
  const auto n = static_cast<double>(width.whole);
  FanBeam scan{{flat.detector, flat.angles, 4 * n, 6 * n, 0}};
  scan.detector.bin_pitch = scan.detector.row_pitch = 1.5;
  return scan;
}

inline ConeBeam cone_scan(const Width& width, bool half) {
  ConeBeam scan = fan_scan(width, half);
  scan.detector.rows = 3, scan.midplane_row = 1;
  return scan;
}

constexpr double mu_of_disc = 0.73;

/// A disc within the field of the whole detector, unless it is larger.
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

/// B of rows that F has filtered.
inline LinearOperator back_by(const Way& way, const ParallelBeam& scan, const VolumeGrid& grid) {
  return backprojector(projector(symmetric(scan), grid, way.model, way.device, way.how), scan, grid);
}
template <class Cone>
LinearOperator back_by(const Way& way, const Cone& scan, const VolumeGrid& grid) {
  return fdk_backprojector(scan, grid, way.model, way.device);
}

inline double mean_of(const Array& slice) {
  const Array here = on_device(slice, Device::cpu());
  double sum = 0;
  for (Index i = 0; i < here.size(); ++i) sum += static_cast<double>(here.data()[i]);
  return sum / static_cast<double>(here.size());
}

/// Means of the disc over its attenuation, of some pixels near the axis, where the nearer side of the half
/// ends, and farther out. `y` are its line integrals.
template <class Kind>
std::vector<double> readings(const Way& way, const Width& width, const Kind& scan, const Array& y,
                             Padding padding) {
  const auto n = static_cast<double>(width.whole);
  const Array data = on_device(y, way.device);
  std::optional<Array> filtered;
  if (way.model != Model::fourier) filtered.emplace(ramp_filter(scan, padded(padding), way.device) * data);
  std::vector<double> found;
  for (const double x : {0.0, 0.5 * n - static_cast<double>(width.missing), 0.25 * n}) {
    const VolumeGrid grid{{16, 8, 1}, {1, 1, 1}, {x, 0.03 * n, 0}};
    if constexpr (Kind::rows_are_slices)
      if (way.model == Model::fourier) {
        found.push_back(mean_of(fbp_by(way, scan, grid, padded(padding)) * data) / mu_of_disc);
        continue;
      }
    found.push_back(mean_of(back_by(way, scan, grid) * *filtered) / mu_of_disc);
  }
  return found;
}

}  // namespace tandem::test
