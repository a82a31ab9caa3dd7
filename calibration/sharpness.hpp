#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../core/space.hpp"
#include "../geometry/scan.hpp"

namespace tandem::calibration {

/// How far opposite views of a row differ. Both are mean squares.
struct OppositeViews {
  std::vector<double> squares;  ///< sums over each of four quarters of the bins that both views see
  std::vector<double> counts;   ///< how many bins these are
  bool any() const { return !counts.empty(); }
};

/// How sharp a slice is, in each quarter of a disc.
///
/// Over half a turn, views about a wrong axis add false edges: the variation rises, and the energy stays.
/// Over a whole turn each edge is seen from both sides, and is split into two of half the height: the energy
/// falls, and the variation does not tell. So the variation over the root of the energy is lowest at the true
/// axis, for any arc. Noise adds to energy, but not to what slices from two halves of the views have in
/// common.
struct Sharpness {
  std::vector<double> variation;  ///< the sum of the lengths of gradients
  /// The entropy, bits, of the histogram of the same pixels in 256 bars between `low` and `high`.
  double entropy = 0;
  /// The sum of products of the gradients of slices from even and from odd views, where both make up the
  /// slice, or a hundredth of the sum of squares of the gradients of the slice, if that is more. None: the
  /// variation alone judges.
  std::vector<double> energy{};
  std::vector<double> entropy_without{};  ///< the same without each of the quarters
  OppositeViews opposite{};               ///< line integrals behind the slice, if they were compared
  /// The sum of the products behind `energy`, and what it is by chance: the sum of squares of the gradients
  /// over the root of the number of pixels.
  double in_common = 0, by_chance = 0;

  double total() const;
};

/// A slice whose sharpness is looked at.
struct SharpLook {
  std::span<const float> slice,
      even;  ///< (y, x), from all views, and what the even ones among them add to it
  Index width, height;
  double radius;  ///< radius of a disc about the middle of the slice, voxels
};

/// Which score judges.
enum class Score { sharpness, entropy, opposite };
/// "sharpness", "entropy", "opposite"
std::span<const std::string_view> names_of_scores();
/// @throws GeometryError if no score has this name
Score score_named(std::string_view name);

Sharpness sharpness_of(const SharpLook& look, double low, double high);

/// Compares each view of a parallel beam with the one half a turn later, mirrored about the axis, linearly
/// between bins. `sinogram`: (view, bin). A view counts as opposite if it is no farther off than views lie
/// apart; there is none if views cover less than half a turn.
OppositeViews opposite_views_of(std::span<const float> sinogram, const Scan& scan);

/// What the slices tell about a parameter.
enum class Verdict {
  resolved,   ///< one value is the best, and its uncertainty is known
  railed,     ///< an end of the range is the best value, or as good within 0.1 %
  ambiguous,  ///< another value is about as good, or two scores or parts of slices do not agree
  flat        ///< all slices are as good, within 0.1 %, or are noise
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
  std::vector<double> unsharpness;  ///< the score of sharpness over the lowest one
  std::vector<double> entropy;      ///< mean over the slices, bits
  std::vector<double> opposite;     ///< root mean square by which opposite views differ, if that is known
  std::string words;                ///< the verdict as a sentence
};

/// Judges values in ascending order, of equal steps. The uncertainty is that of the jackknife: each quarter
/// of each slice is left out once, and how far that moves the minimum tells how far it can be trusted. Where
/// two scores fall to one value and rise from there, each quarter may be left out by a little. `least` is
/// added for the parabola, which the score is not, and for what interpolation makes of slices: a share of a
/// step. Sharpness and entropy doubt each other, and both doubt opposite views. A value whose slices have no
/// edge at all, or whose score is no number, is the worst. @pre there are values, with as many slices each.
/// @throws GeometryError for the score of opposite views if there are none
SweepResult judged(const std::vector<Swept>& values, Score score = Score::sharpness, double least = 0.1);

}  // namespace tandem::calibration
