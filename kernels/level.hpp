#pragma once

#include <algorithm>
#include <cmath>

#include "../core/array.hpp"
#include "../core/host_device.hpp"
#include "../geometry/level_scan.hpp"
#include "upright.hpp"

// Views of any geometry with level rows, weighed for the ramp, the same on the CPU and on a GPU: bicubic
// interpolation of detectors whose rows are not level, with what is beyond the edges as at the edges.

namespace tandem::kernels {

/// The weight of a ray before the ramp, mm/rad. In the plane of the source and a row, rays q = c - a from the
/// source a to cells c of the row count |a' x q| / (|e x q| |q|) = ((e . a') q^2 - (e . q) (a' . q)) / (|q|
/// (q^2 - (e . q)^2)), where a' is the speed of the source and e the direction of the row. For a circle and a
/// row along its tangent that is the radius over the length of the ray.
TANDEM_HOST_DEVICE inline float weight_of_ray(const LevelView& view, Index row, Index bin) {
  double square = 0, along = 0, swept = 0, speed = 0;
  for (int k = 0; k < 3; ++k) {
    const double q = view.to_first_cell[k] + bin * view.to_next_bin[k] + row * view.to_next_row[k];
    square += q * q, along += view.along[k] * q, swept += view.speed[k] * q;
    speed += view.along[k] * view.speed[k];
  }
  return static_cast<float>((speed * square - along * swept) /
                            (std::sqrt(square) * (square - along * along)));
}

/// The row, or the outermost one if it lies beyond, as which it is weighed.
TANDEM_HOST_DEVICE inline Index own_row(const LevelView& view, Index row) {
  return std::clamp(row, view.own_rows.first, view.own_rows.last - 1);
}

/// A level cell: what falls on it, times the weight of its ray. `value`: a function of a row and a bin.
template <class Value>
TANDEM_HOST_DEVICE float level_cell(const LevelView& view, Index rows, Index bins, Index row, Index bin,
                                    const Value& value) {
  const CellPlace place = view.place(row, bin);
  const CubicTaps of_rows(place.row, rows), of_bins(place.bin, bins);
  const float taken =
      view.as_it_stood ? value(of_rows.at[1], of_bins.at[1]) : bicubic(of_rows, of_bins, value);
  return weight_of_ray(view, own_row(view, row), bin) * taken;
}

/// Its transpose: add(row, bin, weight) for all that falls on it.
template <class Add>
TANDEM_HOST_DEVICE void from_level_cell(const LevelView& view, Index rows, Index bins, Index row, Index bin,
                                        const Add& add) {
  const CellPlace place = view.place(row, bin);
  const CubicTaps of_rows(place.row, rows), of_bins(place.bin, bins);
  const float weight = weight_of_ray(view, own_row(view, row), bin);
  if (view.as_it_stood) return add(of_rows.at[1], of_bins.at[1], weight);
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 4; ++k)
      add(of_rows.at[i], of_bins.at[k], weight * static_cast<float>(of_rows.weights[i] * of_bins.weights[k]));
}

/// Projections (view, row, bin) to level ones, whose detector may have other rows and bins.
struct LevelKernels {
  void (*level)(const LevelViews& views, Image<const float> in, Image<float> level, Stream& stream);
  /// out <- alpha Lt level + beta out. If beta = 0, `out` is never read. Null on a GPU, where it would add
  /// with atomics.
  void (*transpose)(const LevelViews& views, float alpha, Image<const float> level, float beta,
                    Image<float> out, Stream& stream);
};

/// @throws DeviceError if the build lacks the backend
const LevelKernels& level(Device device);

}  // namespace tandem::kernels
