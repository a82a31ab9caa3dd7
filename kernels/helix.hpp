#pragma once

#include <cmath>

#include "../core/array.hpp"
#include "../core/host_device.hpp"
#include "../core/rounding.hpp"
#include "../geometry/parallel_fans.hpp"
#include "flexible_footprint.hpp"
#include "upright.hpp"

// Weighted filtered back-projection of a helix (Stierstorfer, Rauscher, Boese, Bruder, Schaller and Flohr,
// Physics in Medicine and Biology 49, 2209, 2004), the same on the CPU and on a GPU: rays sorted to parallel
// fans, and what each fan counts in a voxel. Derivation: docs/kernels/helix.md.

namespace tandem::kernels {

/// The four views around an angle, and their weights: those of the cubic through them (Lagrange), whatever
/// steps lie between.
struct ViewTaps {
  Index first;
  double weights[4];

  TANDEM_HOST_DEVICE ViewTaps(const FanView* views, Index count, double angle) {
    Index low = 0, high = count - 1;
    while (high - low > 1) {
      const Index middle = (low + high) / 2;
      if (views[middle].angle <= angle)
        low = middle;
      else
        high = middle;
    }
    first = low - 1 < 0 ? 0 : low - 1 > count - 4 ? count - 4 : low - 1;
    for (int i = 0; i < 4; ++i) {
      weights[i] = 1;
      for (int k = 0; k < 4; ++k)
        if (k != i)
          weights[i] *= (angle - views[first + k].angle) / (views[first + i].angle - views[first + k].angle);
    }
  }
};

/// The ray of a bin in a parallel fan.
struct FanRay {
  double sine, cosine;     ///< sine and cosine of its angle in the fan of its source
  double along, outwards;  ///< where it passes the axis, seen from its source, mm
  double height_a_row;     ///< height of a row there, mm
  double angle;            ///< rad

  TANDEM_HOST_DEVICE FanRay(const ParallelFans& fans, Index bin) {
    const double p = (bin - fans.axis_bin) * fans.bin_pitch;
    sine = p / fans.radius, cosine = std::sqrt(1 - sine * sine);
    along = p * cosine, outwards = p * sine;
    height_a_row = fans.row_slope * fans.radius * cosine * cosine;
    angle = std::asin(sine);
  }
  TANDEM_HOST_DEVICE DetectorPlace met(const ParallelFans& fans, const FanView& view, Index row) const {
    const double height = (row - fans.level_row) * height_a_row,
                 depth = view.depth.at(along, outwards, height);
    return {view.row.at(along, outwards, height) / depth, view.bin.at(along, outwards, height) / depth};
  }
  /// The cosine of the angle with the plane across the axis.
  TANDEM_HOST_DEVICE double slant(const ParallelFans& fans, Index row) const {
    const double rises = (row - fans.level_row) * fans.row_slope * cosine;
    return 1 / std::sqrt(1 + rises * rises);
  }
};

/// The rays of a bin in a fan, in all rows, and the views that they come from: some views, as they stood.
struct RaysOfBin {
  FanRay ray;
  ViewTaps near;

  TANDEM_HOST_DEVICE RaysOfBin(const ParallelFans& fans, const FanView* views, Index count, double angle,
                               Index bin)
      : ray(fans, bin), near(views, count, fans.way * (angle + ray.angle)) {}

  /// Calls use(view, row, bin, weight) for all that makes a cell, but for its slant. `rows`, `bins`: size of
  /// a view.
  template <class Use>
  TANDEM_HOST_DEVICE void for_taps(const ParallelFans& fans, bool upright, Index rows, Index bins,
                                   const FanView* views, Index row, const Use& use) const {
    for (int v = 0; v < 4; ++v) {
      const DetectorPlace at = ray.met(fans, views[near.first + v], row);
      const CubicTaps of_bins(at.bin, bins);
      const double weight = near.weights[v];
      if (upright) {
        for (int k = 0; k < 4; ++k)
          use(near.first + v, row, of_bins.at[k], static_cast<float>(weight * of_bins.weights[k]));
        continue;
      }
      const CubicTaps of_rows(at.row, rows);
      for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 4; ++k)
          use(near.first + v, of_rows.at[i], of_bins.at[k],
              static_cast<float>(weight * of_rows.weights[i] * of_bins.weights[k]));
    }
  }
};

/// Numbers of a helix in float.
struct FanShape {
  float radius, square;     ///< mm, mm^2
  float half_rise, per_mm;  ///< rise of sources in half a turn, as views go, mm; its inverse
  float climb;              ///< rise of the source of a ray, mm/rad of its angle in the fan
  float rows_a_slope, level_row, last_row, axis_bin, last_bin, bin_pitch;
  float usual;  ///< 1 / the slope of rays by which half turns differ
  float window, per_fade, per_edge;
  float none = 0, all = 1;  ///< 0 and 1 as variables: compilers make branches of constants, and no SIMD
};

inline FanShape shape_of(const FanPlaces& places) {
  constexpr double edge = 0.15;   // part of the rows, on each side
  constexpr double usual = 0.88;  // part of the slope of a ray from a quarter of the pitch away
  const ParallelFans& f = places.fans;
  const double half_rise = 0.5 * f.way * f.rise;
  const auto number = [](double value) { return static_cast<float>(value); };
  return {.radius = number(f.radius),
          .square = number(f.radius * f.radius),
          .half_rise = number(half_rise),
          .per_mm = number(1 / half_rise),
          .climb = number(f.rise / whole_turn),
          .rows_a_slope = number(1 / f.row_slope),
          .level_row = number(f.level_row),
          .last_row = static_cast<float>(f.rows - 1),
          .axis_bin = number(f.axis_bin),
          .last_bin = static_cast<float>(f.bins - 1),
          .bin_pitch = number(f.bin_pitch),
          .usual = number(2 * f.radius / (usual * std::abs(half_rise))),
          .window = number(places.window),
          .per_fade = number(1 / places.fade),
          .per_edge = number(2 / (edge * f.rows))};
}

/// A smooth step from 0 at 0 to 1 at 1, with level ends.
TANDEM_HOST_DEVICE inline float smooth(const FanShape& s, float x) {
  x = std::min(std::max(x, s.none), s.all);
  return x * x * (3 - 2 * x);
}

/// The weight of a fan in a voxel, before it is divided by the sum of the weights of all fans of its
/// direction. `turns`: half turns from the middle of the window. The less a ray rises, the more it counts; if
/// it misses the detector, it counts hardly anything.
TANDEM_HOST_DEVICE inline float weight_of_fan(const FanShape& s, float slope, float row, float meets,
                                              float turns) {
  constexpr float hardly = 1e-5f;
  const float steep = slope * s.usual, square = steep * steep,
              inside = smooth(s, (std::min(row, s.last_row - row) + 0.5f) * s.per_edge);
  return smooth(s, (s.window - std::fabs(turns)) * s.per_fade) * std::max(meets * inside, hardly) /
         (1 + square * square);
}

/// Numbers that a fan and the fans against it share in a voxel, whatever its height.
struct FanColumn {
  /// Distances from the source of the ray, and from that of the ray against it, mm.
  float to_source, to_other;
  float climb;         ///< height of the source of the ray above that of the middle ray, mm
  float to_rows;       ///< rows for a slope of 1
  float meets, other;  ///< 1 if the ray, and the ray against it, fall on a bin of the detector; else 0
};

/// The numbers for a voxel that falls on `bin`, and is `depth` nearer to the source than the axis.
TANDEM_HOST_DEVICE inline FanColumn fan_column(const FanShape& s, float bin, float depth) {
  const float aside = (bin - s.axis_bin) * s.bin_pitch,
              away = std::sqrt(std::max(s.square - aside * aside, 1e-3f * s.square)),
              cosine = away / s.radius;
  // the angle from the sine of its half
  const float half = aside / (s.radius * std::sqrt(2 + 2 * cosine)), h = half * half,
              angle =
                  2 * half * (1 + h * (1.0f / 6 + h * (3.0f / 40 + h * (5.0f / 112 + h * (35.0f / 1152)))));
  const auto is_there = [&](float b) { return std::min(b, s.last_bin - b) > -0.5f ? 1.0f : 0.0f; };
  return {away - depth,    away + depth,
          s.climb * angle, s.rows_a_slope / cosine,
          is_there(bin),   is_there(2 * s.axis_bin - bin)};
}

/// The weight of a fan in a voxel, and the row on which the voxel falls.
struct FanShare {
  float weight, row;
};

/// The share of a fan in a voxel that is `height` above the source of the middle ray. At most three half
/// turns see the voxel; the middle one is no more than a quarter of a turn away from where sources are level
/// with it.
TANDEM_HOST_DEVICE inline FanShare fan_share(const FanShape& s, const FanColumn& c, float height,
                                             float before_first, float before_last) {
  const float turns = -std::min(std::max(height * s.per_mm, before_first), before_last),
              beside = nearest_cell(turns).beside, steps = turns - beside;
  // 1 if half a turn lies between this fan and the middle one, before or behind; else 0
  const float up = std::min(std::max(steps, s.none), s.all), down = std::min(std::max(-steps, s.none), s.all),
              odd = up + down, even = 1 - odd;
  const float here = even * c.to_source + odd * c.to_other, there = even * c.to_other + odd * c.to_source,
              climb = (even - odd) * c.climb, meets = even * c.meets + odd * c.other,
              other = even * c.other + odd * c.meets, level = height + steps * s.half_rise;
  const auto weight = [&](float above, float away, float seen, float later) {
    const float slope = above / away;
    return weight_of_fan(s, slope, s.level_row + slope * c.to_rows, seen, beside + later);
  };
  const float middle = weight(level - climb, here, meets, 0),
              before = weight(level + s.half_rise + climb, there, other, -1),
              behind = weight(level - s.half_rise + climb, there, other, 1);
  const float own = even * middle + up * behind + down * before, sum = middle + before + behind;
  constexpr float steep = 1e20f, little = 1e-30f;
  const float within = std::min(std::max((s.window - std::fabs(turns)) * steep, s.none), s.all),
              slope = (height - c.climb) / c.to_source;
  return {within * own / std::max(sum, little), s.level_row + slope * c.to_rows};
}

/// A place between cells, by linear interpolation: with zeros beside the bins, and beyond the rows as in the
/// last ones. Cell (row, bin) counts low (1 - next_row), the next bin `high`, the next row `next_row`.
struct FanTap {
  int row, bin;
  float next_row, low, high;
};

/// `bin` counts from `first`, near which float has all digits that matter.
TANDEM_HOST_DEVICE inline FanTap fan_tap(const FanShape& s, float row, float bin, int first) {
  const float last_row = s.last_row, last_pair = s.last_bin - 1 - first,
              least_bin = -static_cast<float>(first), least_row = s.none;
  const float at_row = std::min(std::max(row, least_row), last_row), below = last_row - 1,
              first_row = std::max(std::min(at_row - 0.5f, below), least_row),
              first_bin = std::max(std::min(bin - 0.5f, last_pair), least_bin);
  const int r = nearest_cell(first_row).number, b = nearest_cell(first_bin).number;
  const float at = bin - b;
  const auto hat = [](float x) { return std::max(1 - std::fabs(x), 0.0f); };
  return {r, first + b, at_row - r, hat(at), hat(at - 1)};
}

/// A fan about a voxel, in float.
struct FanHere {
  int first_bin;  ///< bin from which bins are counted
  float bin, depth, height, bin_step[3], depth_step[3], height_step[3];
  float before_first, before_last, step;
  bool level;  ///< whether voxels above each other fall on one bin

  FanHere() = default;
  TANDEM_HOST_DEVICE FanHere(const FanPlace& view, double ix, double iy, double iz)
      : first_bin(floor_int(view.bin.at(ix, iy, iz))),
        bin(static_cast<float>(view.bin.at(ix, iy, iz) - first_bin)),
        depth(static_cast<float>(view.depth.at(ix, iy, iz))),
        height(static_cast<float>(view.height.at(ix, iy, iz))),
        before_first(static_cast<float>(view.before_first)),
        before_last(static_cast<float>(view.before_last)),
        step(static_cast<float>(view.step)),
        level(view.bin.step[2] == 0 && view.depth.step[2] == 0) {
    for (int k = 0; k < 3; ++k) {
      bin_step[k] = static_cast<float>(view.bin.step[k]);
      depth_step[k] = static_cast<float>(view.depth.step[k]);
      height_step[k] = static_cast<float>(view.height.step[k]);
    }
  }
  TANDEM_HOST_DEVICE float bin_at(float x, float y, float z) const {
    return bin + (bin_step[0] * x + bin_step[1] * y + bin_step[2] * z);
  }
  TANDEM_HOST_DEVICE float depth_at(float x, float y, float z) const {
    return depth + (depth_step[0] * x + depth_step[1] * y + depth_step[2] * z);
  }
  TANDEM_HOST_DEVICE float height_at(float x, float y, float z) const {
    return height + (height_step[0] * x + height_step[1] * y + height_step[2] * z);
  }
  /// Whether the fan counts nothing in all voxels so far away along each axis.
  TANDEM_HOST_DEVICE bool misses(const FanShape& s, float x, float y, float z) const {
    const float reach =
        std::fabs(height_step[0]) * x + std::fabs(height_step[1]) * y + std::fabs(height_step[2]) * z;
    const auto turns = [&](float h) { return -std::min(std::max(h * s.per_mm, before_first), before_last); };
    const float one = turns(height - reach), other = turns(height + reach);
    return step == 0 || std::min(one, other) > s.window || std::max(one, other) < -s.window;
  }
};

/// Sorting of rays, back-projection, and their transposes, which are null on a GPU.
struct HelixKernels {
  /// Projections of `from` to the fans of `to`. A fan without rays is zero.
  void (*sort)(const FanViews& from, const FanSteps& to, Image<const float> in, Image<float> fans,
               Stream& stream);
  /// out <- alpha St fans + beta out. If beta = 0, `out` is never read.
  void (*sort_back)(const FanViews& from, const FanSteps& to, float alpha, Image<const float> fans,
                    float beta, Image<float> out, Stream& stream);
  /// volume <- alpha B fans + beta volume, in the same way.
  void (*back)(const FanPlaces& places, float alpha, Image<const float> fans, float beta, Image<float> volume,
               Stream& stream);
  void (*forward)(const FanPlaces& places, float alpha, Image<const float> volume, float beta,
                  Image<float> fans, Stream& stream);
};

/// @throws DeviceError if the build lacks the backend
const HelixKernels& helix(Device device);

}  // namespace tandem::kernels
