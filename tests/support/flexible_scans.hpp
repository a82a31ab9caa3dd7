#pragma once

// Scans of any geometry, and what the coefficient of a voxel and a cell stands for in them: the chord of the
// voxel, averaged over the rays to the cell.

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "../../core/random.hpp"
#include "../../geometry/beams/flexible.hpp"
#include "../../geometry/scan.hpp"
#include "../../geometry/vector3.hpp"

namespace tandem::test {

/// The views of a circle, as free views.
inline FlexibleBeam as_flexible(const ConeBeam& scan) {
  std::vector<FlexibleView> views;
  const Detector& d = scan.detector;
  for (const double a : scan.angles) {
    const double c = std::cos(a), s = std::sin(a);
    const Vector3 along{c, s, 0}, up{0, 0, 1}, away{-s, c, 0}, source = -scan.sod * away;
    const double bins = 0.5 * static_cast<double>(d.bins - 1) - d.axis_bin,
                 rows = 0.5 * static_cast<double>(d.rows - 1) - scan.midplane_row;
    views.push_back({source, source + scan.sdd * away + bins * d.bin_pitch * along + rows * d.row_pitch * up,
                     d.bin_pitch * along, d.row_pitch * up});
  }
  return flexible_beam(d.rows, d.bins, views, false);
}

/// `a` turned about a direction of length 1.
inline Vector3 turned(const Vector3& a, const Vector3& about, double angle) {
  return std::cos(angle) * a + std::sin(angle) * cross(about, a) +
         (1 - std::cos(angle)) * dot(about, a) * about;
}

/// How views stand: rays rise by `elevation` over the plane of slices, the detector is rolled about the
/// middle ray, and leans towards it by `pitch`; all rad.
struct Stand {
  double elevation = 0, roll = 0, pitch = 0;
};

/// Views all round z. The source is at the distance `sod` from the origin, the detector at `sdd` from it.
inline FlexibleBeam standing(Index views, Index rows, Index bins, double sod, double sdd, const Stand& stand,
                             bool parallel = false, double cell = 1) {
  std::vector<FlexibleView> all;
  for (Index k = 0; k < views; ++k) {
    const double a = (static_cast<double>(k) + 0.13) * 2 * std::numbers::pi / static_cast<double>(views);
    const Vector3 level{-std::sin(a), std::cos(a), 0}, side{std::cos(a), std::sin(a), 0};
    const Vector3 ray = turned(level, side, stand.elevation);
    const Vector3 bins_along = turned(side, ray, stand.roll);
    const Vector3 rows_along = turned(cross(bins_along, ray), bins_along, stand.pitch);
    all.push_back({parallel ? ray : -sod * ray, (sdd - sod) * ray, cell * bins_along, cell * rows_along});
  }
  return flexible_beam(rows, bins, all, parallel);
}

/// Views at random around a ball of this radius, which their detectors see.
inline FlexibleBeam random_views(Index views, Index rows, Index bins, double radius, Random& random,
                                 bool parallel) {
  const auto between = [&](double low, double high) { return low + (high - low) * random.uniform(); };
  std::vector<FlexibleView> all;
  for (Index k = 0; k < views; ++k) {
    const double sod = radius * between(3, 6), sdd = sod * between(1.5, 3);
    const double degree = std::numbers::pi / 180;
    const Stand stand{between(-80, 80) * degree, between(0, 90) * degree, between(-20, 20) * degree};
    FlexibleView view = standing(1, rows, bins, sod, sdd, stand, parallel, between(0.5, 1.5)).views.front();
    const double angle = between(0, 2 * std::numbers::pi);
    for (Vector3* each : {&view.source, &view.detector, &view.bin_step, &view.row_step})
      *each = turned(*each, {0, 0, 1}, angle);
    view.detector = view.detector + between(-2, 2) * view.bin_step + between(-2, 2) * view.row_step;
    view.row_step = between(0.7, 1.4) * view.row_step;
    all.push_back(view);
  }
  return flexible_beam(rows, bins, all, parallel);
}

/// Upright views at random around a ball of this radius: sources that wander in three directions, detectors
/// that are turned about z, nearer or farther, aside, up and down.
inline FlexibleBeam random_upright_views(Index views, Index rows, Index bins, double radius, Random& random) {
  const auto between = [&](double low, double high) { return low + (high - low) * random.uniform(); };
  std::vector<FlexibleView> all;
  for (Index k = 0; k < views; ++k) {
    const double a = between(0, 2 * std::numbers::pi), yaw = a + between(-0.3, 0.3);
    const Vector3 ray{-std::sin(a), std::cos(a), 0}, along{std::cos(yaw), std::sin(yaw), 0}, up{0, 0, 1};
    const double sod = radius * between(3, 6), sdd = sod * between(1.5, 3);
    const double height = 0.5 * radius * between(-1, 1);  // above the plane through the origin
    const Vector3 source = -sod * ray + height * up, ahead = source + sdd * ray - sdd / sod * height * up;
    all.push_back({source, ahead + between(-9, 9) * along + between(-0.3, 0.3) * up, 1.1 * along, 0.9 * up});
  }
  return flexible_beam(rows, bins, all, false);
}

/// A helix with a jitter in three directions: so many turns, and mm up the axis a turn.
inline FlexibleBeam jittered_helix(Index views, Index rows, Index bins, double turns, double rise,
                                   double jitter, Random& random) {
  ConeBeam scan{{bins, rows, 1, 1, 0.5 * static_cast<double>(bins - 1)},
                {},
                90,
                170,
                0.5 * static_cast<double>(rows - 1)};
  for (Index k = 0; k < views; ++k)
    scan.angles.push_back(2 * std::numbers::pi * turns * static_cast<double>(k) / static_cast<double>(views));
  FlexibleBeam helix = as_flexible(scan);
  for (std::size_t k = 0; k < helix.views.size(); ++k) {
    const double above = rise * (scan.angles[k] / (2 * std::numbers::pi) - 0.5 * turns);
    for (Vector3* each : {&helix.views[k].source, &helix.views[k].detector}) {
      *each = *each + Vector3{0, 0, above};
      for (double& number : *each) number += jitter * (random.uniform() - 0.5);
    }
  }
  return helix;
}

/// The chord of a box along the ray to a place on the detector, mm.
inline double chord(const FlexibleView& view, bool parallel, const Vector3& place, const Vector3& middle,
                    const std::array<double, 3>& edges) {
  const Vector3 way = parallel ? view.source : place - view.source, from = parallel ? place : view.source;
  double first = -INFINITY, last = INFINITY;
  for (std::size_t k = 0; k < 3; ++k) {
    if (way[k] == 0) {
      if (std::abs(from[k] - middle[k]) >= 0.5 * edges[k]) return 0;
      continue;
    }
    const double a = (middle[k] - 0.5 * edges[k] - from[k]) / way[k],
                 b = (middle[k] + 0.5 * edges[k] - from[k]) / way[k];
    first = std::max(first, std::min(a, b)), last = std::min(last, std::max(a, b));
  }
  return std::max(0.0, last - first) * length(way);
}

/// f(row, bin) over a cell: the mean over `samples` places that lie on no line (additive recurrence with the
/// plastic number).
template <class F>
double mean_over_cell(Index row, Index bin, int samples, const F& f) {
  constexpr double plastic = 1.3247179572447461;
  double sum = 0;
  for (int k = 0; k < samples; ++k) {
    const double u = std::fmod((k + 0.5) / plastic, 1.0), v = std::fmod((k + 0.5) / (plastic * plastic), 1.0);
    sum += f(static_cast<double>(row) + u - 0.5, static_cast<double>(bin) + v - 0.5);
  }
  return sum / samples;
}

/// The place on the detector at a row and a bin, mm.
inline Vector3 place_of(const FlexibleBeam& scan, Index view, double row, double bin) {
  return point_on(scan, scan.views[static_cast<std::size_t>(view)],
                  row - 0.5 * static_cast<double>(scan.detector.rows - 1),
                  bin - 0.5 * static_cast<double>(scan.detector.bins - 1));
}

/// The mean chord of a voxel, mm.
inline double mean_chord(const FlexibleBeam& scan, Index view, Index row, Index bin, const VolumeGrid& voxel,
                         int samples) {
  return mean_over_cell(row, bin, samples, [&](double r, double b) {
    return chord(scan.views[static_cast<std::size_t>(view)], scan.parallel, place_of(scan, view, r, b),
                 {voxel.x(0), voxel.y(0), voxel.z(0)}, voxel.pitch);
  });
}

/// The row and the bin on which a point falls.
inline std::array<double, 2> shadow_of(const FlexibleBeam& scan, Index view, const Vector3& point) {
  const FlexibleView& v = scan.views[static_cast<std::size_t>(view)];
  const Vector3 normal = cross(v.bin_step, v.row_step), way = scan.parallel ? v.source : point - v.source;
  const Vector3 there = point + dot(v.detector - point, normal) / dot(way, normal) * way - v.detector;
  const double square = dot(normal, normal);
  return {dot(cross(normal, v.bin_step), there) / square + 0.5 * static_cast<double>(scan.detector.rows - 1),
          dot(cross(v.row_step, normal), there) / square + 0.5 * static_cast<double>(scan.detector.bins - 1)};
}

}  // namespace tandem::test
