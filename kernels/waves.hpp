#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "../core/array.hpp"
#include "unfused.hpp"

namespace tandem::kernels {

/// A few waves, and what part of a line l of n elements they are, each by its weight: what changes slowly if
/// the waves are long. Wave i has h_i / 2 periods over the line.
///
///     slow(v) = sum_i w_i sum_j l(j) cos(pi h_i (v - j) / n)
///
/// Sums are in double, over j and then over i, so that the CPU and a GPU give the same bits. (A Fourier
/// transform in float does not, and a sort of its results would take other values for the smallest.)
struct Waves {
  Index length = 0;                  ///< n
  Index beside = 0;                  ///< elements before the line of the data, and behind it, as in a mirror
  std::vector<Index> halves = {};    ///< h, from 0 to n
  std::vector<double> weights = {};  ///< w
};

/// cos(pi m / n) and sin(pi m / n).
struct Turn {
  double cosine, sine;
};

/// The turns for m from 0 to 2 n - 1.
inline std::vector<Turn> turns_of(Index n) {
  std::vector<Turn> turns;
  for (Index m = 0; m < 2 * n; ++m) {
    const double angle = std::numbers::pi * m / n;
    turns.push_back({std::cos(angle), std::sin(angle)});
  }
  return turns;
}

/// The m of a wave at the next element.
TANDEM_HOST_DEVICE inline Index next_turn(Index m, Index halves, Index n) {
  m += halves;
  return m < 2 * n ? m : m - 2 * n;
}

/// A line's part of a wave: the sums of l cos and l sin.
struct WaveSums {
  double cosines = 0, sines = 0;
  TANDEM_HOST_DEVICE void add(double value, const Turn& turn) {
    cosines = plus_product(cosines, value, turn.cosine);
    sines = plus_product(sines, value, turn.sine);
  }
  TANDEM_HOST_DEVICE WaveSums times(double weight) const { return {cosines * weight, sines * weight}; }
  /// `sum` and the value of this wave.
  TANDEM_HOST_DEVICE double added_to(double sum, const Turn& turn) const {
    return plus_product(plus_product(sum, cosines, turn.cosine), sines, turn.sine);
  }
};

struct WaveKernels {
  /// Takes the slow part of each column out of sinograms (row, view, bin); it goes to `slow`, of the same
  /// shape and dense, if that is not null.
  void (*take_out)(const Waves& waves, Image<float> sinograms, float* slow, Stream& stream);
  /// Adds it again.
  void (*put_back)(const float* slow, Image<float> sinograms, Stream& stream);
};

/// Bytes that `take_out` holds for sinograms of so many columns.
inline double wave_bytes(const Waves& waves, Index columns) {
  return sizeof(WaveSums) * columns * waves.halves.size();
}

/// Null for the CPU, where the steps of the pipeline do this. @throws DeviceError if the build lacks the
/// backend
const WaveKernels* waves(Device device);

}  // namespace tandem::kernels
