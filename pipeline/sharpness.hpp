#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../core/space.hpp"

namespace tandem::pipeline {

/// How sharp a slice is. Both scores are lower for a sharper slice.
struct Sharpness {
  /// The sum of the lengths of gradients in each quarter of a circle whose diameter is four fifths of the
  /// width. A wrong axis splits an edge into several, and so makes the sum larger.
  std::vector<double> variation;
  /// The entropy, bits, of the histogram of the same pixels in 256 bars between `low` and `high`.
  double entropy = 0;

  double total() const;
};

Sharpness sharpness_of(std::span<const float> slice, Index width, Index height, double low, double high);

/// What the slices tell about a parameter.
enum class Verdict {
  resolved,   ///< one value is the sharpest, and its uncertainty is known
  railed,     ///< the sharpest value is at an end of the range
  ambiguous,  ///< another value is about as good, or the two scores or parts of slices do not agree
  flat        ///< all slices are equally sharp, within 0.1 %
};
std::string_view name_of(Verdict verdict);

/// The slices for one value of a parameter.
struct Swept {
  double value;
  std::vector<Sharpness> slices;
};

struct SweepResult {
  Verdict verdict;
  std::size_t best;             ///< number of the value with the lowest variation
  double value;                 ///< minimum of a parabola through this value and its neighbours
  double uncertainty;           ///< standard deviation of `value`, if it is resolved
  std::vector<double> score;    ///< variation for each value, divided by the lowest one
  std::vector<double> entropy;  ///< mean entropy over the slices, for each value, bits
  std::string words;            ///< the verdict as a sentence
};

/// Judges values in ascending order, with equal steps. The uncertainty is found by the jackknife: each
/// quarter of each slice is left out once, and the minimum moves. A tenth of a step is added because the
/// score is not exactly a parabola. @pre there are values, and all have the same number of slices
SweepResult judged(const std::vector<Swept>& values);

}  // namespace tandem::pipeline
