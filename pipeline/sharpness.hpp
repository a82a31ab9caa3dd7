#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../core/space.hpp"

namespace tandem::pipeline {

/// How sharp a slice is. Both scores are lower for a sharper one.
struct Sharpness {
  /// The sum of the lengths of gradients in each of four quarters, of a circle of four fifths of the width.
  /// About a wrong axis an edge becomes several.
  std::vector<double> variation;
  /// The entropy of the histogram of the same pixels, in 256 bars between `low` and `high`, bits.
  double entropy = 0;

  double total() const;
};

Sharpness sharpness_of(std::span<const float> slice, Index width, Index height, double low, double high);

/// What slices tell of a parameter.
enum class Verdict {
  resolved,   ///< one value is the sharpest, and its uncertainty is known
  railed,     ///< the sharpest value is at an end of the range
  ambiguous,  ///< another value is about as good, or the two scores or parts of slices do not agree
  flat        ///< all slices are as sharp, within 0.1 %
};
std::string_view name_of(Verdict verdict);

/// The slices for one value of a parameter.
struct Swept {
  double value;
  std::vector<Sharpness> slices;
};

struct SweepResult {
  Verdict verdict;
  std::size_t best;             ///< of the values that were tried, the one of the lowest variation
  double value;                 ///< where a parabola through it and its neighbours is lowest
  double uncertainty;           ///< of `value`, one standard deviation, if it is resolved
  std::vector<double> score;    ///< of each value: the variation over the lowest one
  std::vector<double> entropy;  ///< mean over the slices, bits
  std::string words;            ///< the verdict as a sentence
};

/// Judges values in ascending order, of equal steps. The uncertainty is that of the jackknife: each quarter
/// of each slice is left out once, and how far that moves the minimum tells how far it can be trusted. A
/// tenth of a step is added for the parabola, which the score is not. @pre there are values, with as many
/// slices each
SweepResult judged(const std::vector<Swept>& values);

}  // namespace tandem::pipeline
