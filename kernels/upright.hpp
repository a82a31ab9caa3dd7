#pragma once

#include <algorithm>

#include "../core/array.hpp"
#include "../core/host_device.hpp"

// The places from which the frames of an upright detector of a cone beam take their values, the same on the
// CPU and on a GPU: bicubic interpolation (Keys, IEEE Transactions on Acoustics, Speech, and Signal
// Processing 29, 1153, 1981), with the values at the edges beyond the edges.

namespace tandem::kernels {

struct DetectorPlace {
  double row, bin;
};

/// Maps a place on the upright detector to the place where its ray meets the measured detector. That one is
/// rolled about the beam, and the axis is tilted against it. Lengths in mm; rows count from the first one of
/// the frames.
struct UprightRays {
  double bin_pitch, row_pitch, axis_bin, midplane_row, sdd;  ///< numbers of the upright detector
  double roll_cos, roll_sin, tilt_cos, tilt_sin;

  TANDEM_HOST_DEVICE DetectorPlace operator()(double row, double bin) const {
    const double U = (bin - axis_bin) * bin_pitch, V = (row - midplane_row) * row_pitch;
    // the ray in the frame of the beam: (U, y, z) from the source, where the real detector is at y = real_sdd
    const double y = sdd * tilt_cos + V * tilt_sin, z = V * tilt_cos - sdd * tilt_sin;
    const double real_sdd = sdd / tilt_cos, u = U * real_sdd / y, v = z * real_sdd / y;
    const double principal_row = midplane_row + real_sdd * tilt_sin / row_pitch;
    return {principal_row + (v * roll_cos - u * roll_sin) / row_pitch,
            axis_bin + (u * roll_cos + v * roll_sin) / bin_pitch};
  }
};

/// The four neighbours of a place among `count` values, and their weights.
struct CubicTaps {
  Index at[4];
  double weights[4];

  TANDEM_HOST_DEVICE CubicTaps(double place, Index count) {
    const double last = count - 1, within = place < 0 ? 0 : place > last ? last : place;
    const auto second = static_cast<Index>(within);
    for (Index k = 0; k < 4; ++k) {
      const Index next = second + k - 1;
      at[k] = next < 0 ? 0 : next > count - 1 ? count - 1 : next;
    }
    const double t = within - second, t2 = t * t, t3 = t2 * t;
    weights[0] = -0.5 * t3 + t2 - 0.5 * t;
    weights[1] = 1.5 * t3 - 2.5 * t2 + 1;
    weights[2] = -1.5 * t3 + 2 * t2 + 0.5 * t;
    weights[3] = 0.5 * t3 - 0.5 * t2;
  }
};

/// Interpolates bicubically. `value`: a function of a row and a bin.
template <class Value>
TANDEM_HOST_DEVICE float bicubic(const CubicTaps& rows, const CubicTaps& bins, const Value& value) {
  double sum = 0;
  TANDEM_UNROLL
  for (int i = 0; i < 4; ++i) {
    double along = 0;
    TANDEM_UNROLL
    for (int k = 0; k < 4; ++k) along += bins.weights[k] * value(rows.at[i], bins.at[k]);
    sum += rows.weights[i] * along;
  }
  return static_cast<float>(sum);
}

/// How many frames a GPU makes upright at once. It also holds these as they came.
inline Index upright_at_once(Index views, Index rows, Index bins) {
  constexpr Index floats = Index{1} << 24;
  return std::clamp<Index>(floats / (rows * bins), 1, views);
}

}  // namespace tandem::kernels
