#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../core/space.hpp"
#include "opposite_views.hpp"

namespace tandem::pipeline {

/// How sharp a slice is. All scores are lower for a better one.
struct Sharpness {
  /// The sum of the lengths of gradients in each quarter of a circle whose diameter is four fifths of the
  /// width. A wrong axis splits an edge into several, and so makes the sum larger.
  std::vector<double> variation;
  /// The entropy, bits, of the histogram of the same pixels in 256 bars between `low` and `high`.
  double entropy = 0;
  std::vector<double> entropy_without{};  ///< the same without each of the quarters
  OppositeViews opposite{};               ///< line integrals behind the slice, if they were compared

  double total() const;
};

/// Which score judges.
enum class Score { sharpness, entropy, opposite };
/// "sharpness", "entropy", "opposite"
std::span<const std::string_view> names_of_scores();
/// @throws GeometryError if no score has this name
Score score_named(std::string_view name);

Sharpness sharpness_of(std::span<const float> slice, Index width, Index height, double low, double high);

/// What the slices tell about a parameter.
enum class Verdict {
  resolved,   ///< one value is the best, and its uncertainty is known
  railed,     ///< the best value is at an end of the range
  ambiguous,  ///< another value is about as good, or two scores or parts of slices do not agree
  flat        ///< all slices are as good, within 0.1 %
};
std::string_view name_of(Verdict verdict);

/// The slices for one value of a parameter.
struct Swept {
  double value;
  std::vector<Sharpness> slices;
};

struct SweepResult {
  Verdict verdict;
  std::size_t best;                 ///< number of the value with the lowest score
  double value;                     ///< where a parabola through it and its neighbours is lowest
  double uncertainty;               ///< one standard deviation of `value`, if it is resolved
  std::vector<double> score;        ///< score of each value over the lowest one; it judges
  std::vector<double> unsharpness;  ///< the variation over the lowest one
  std::vector<double> entropy;      ///< mean over the slices, bits
  std::vector<double> opposite;     ///< root mean square by which opposite views differ, if that is known
  std::string words;                ///< the verdict as a sentence
};

/// Judges values in ascending order, of equal steps. The uncertainty is that of the jackknife: each quarter
/// of each slice is left out once, and how far that moves the minimum tells how far it can be trusted. A
/// tenth of a step is added for the parabola, which the score is not. Sharpness and entropy doubt each other.
/// @pre there are values, with as many slices each. @throws GeometryError for the score of opposite views if
/// there are none
SweepResult judged(const std::vector<Swept>& values, Score score = Score::sharpness);

}  // namespace tandem::pipeline
