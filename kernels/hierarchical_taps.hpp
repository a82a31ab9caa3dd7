#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "../core/space.hpp"

namespace tandem::kernels {

constexpr int most_taps = 12, powers_of_taps = 8;

/// An interpolation between equal steps. The value at position p comes from samples floor(p) - count / 2 + 1
/// and the next ones. Their weights are polynomials of p - floor(p) - 1/2, and they sum to 1.
struct Taps {
  int count = 0;
  float powers[powers_of_taps][most_taps] = {};  ///< [power][tap]

  float weight(int tap, float middle_distance) const {
    float sum = powers[powers_of_taps - 1][tap];
    for (int p = powers_of_taps - 2; p >= 0; --p) sum = sum * middle_distance + powers[p][tap];
    return sum;
  }
  /// The first sample, counted from floor(p).
  int first() const { return 1 - count / 2; }
};

/// How taps are chosen: `count` weights make the least error for waves of up to band / 2 cycles a sample.
/// Each wave counts by cos^(2 flatness) of pi times its frequency.
struct TapDesign {
  int count;
  double band, flatness;
};
/// `boxes`: widths, in samples, over which a wave is to come out as the mean of the mean; 0 for none.
Taps taps_of(const TapDesign& design, std::array<double, 2> boxes = {0, 0});
/// Taps that interpolate linearly between two samples.
Taps linear_taps();

/// What taps leave of a wave of f cycles a sample: the mean over all positions between two samples.
double mean_response(const Taps& taps, double f);
/// What taps leave of the power of a wave.
double mean_power(const Taps& taps, double f);

/// How exactly things are interpolated: taps of views along u and v, of groups along u and v, and along t.
struct HierarchicalDesign {
  double accuracy;  ///< measured, see docs/kernels/hierarchical.md: relative L2 of what is back-projected
  TapDesign of_views, across, depth;
  double depth_oversampling;  ///< alpha
};
/// The coarsest design that gives an accuracy; 0: the usual one. @throws GeometryError if there is none
const HierarchicalDesign& hierarchical_design(double accuracy);

struct HierarchicalTaps {
  Taps of_views, across, depth;
};
/// The taps of a design, made once.
const HierarchicalTaps& hierarchical_taps(const HierarchicalDesign& design);

/// Cells that become fewer samples; sample i lies at cell `ratio` i. A sample is a mean over cells by taps
/// that are `ratio` times wider.
struct Thinning {
  Range samples;                    ///< samples that read a cell
  std::vector<std::int32_t> cells;  ///< the first one of each sample
  int count;                        ///< cells a sample
  std::vector<float> weights;       ///< [sample][cell]; 0 if there is no such cell
};
Thinning thinning_of(const Taps& taps, double ratio, Index cells);

}  // namespace tandem::kernels
