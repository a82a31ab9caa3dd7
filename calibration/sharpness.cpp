#include "sharpness.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <sstream>

#include "../core/error.hpp"
#include "../core/names.hpp"
#include "../core/rounding.hpp"
#include "../core/spelled.hpp"
#include "../geometry/view_angles.hpp"
#include "views_of_turn.hpp"

namespace tandem::calibration {

namespace {

constexpr std::size_t quarters = 4;
constexpr double least_difference = 1e-3;  // relative difference of scores; smaller ones may come from noise

constexpr std::size_t bars = 256;
using Bars = std::array<double, bars>;

/// Which quarter of which slice is left out, and what share of it.
struct LeftOut {
  std::size_t slice, quarter;
  double share;
  double kept(std::size_t s, std::size_t q) const { return slice == s && quarter == q ? 1 - share : 1; }
};
constexpr LeftOut nothing{0, 0, 0};

/// The score of all slices, without a share of one quarter of one of them.
double score_without(const Swept& some, Score score, const LeftOut& out) {
  double sum = 0, count = 0, energy = 0;
  for (std::size_t s = 0; s < some.slices.size(); ++s) {
    const Sharpness& one = some.slices[s];
    if (score == Score::entropy) {
      sum += one.entropy;
      if (out.share > 0 && out.slice == s)  // an entropy is a mean over quarters, nearly
        sum += out.share * (quarters - 1) / (quarters - out.share) *
               (one.entropy_without[out.quarter] - one.entropy);
      continue;
    }
    for (std::size_t q = 0; q < quarters; ++q) {
      const double kept = out.kept(s, q);
      sum += kept * (score == Score::sharpness ? one.variation[q] : one.opposite.squares[q]);
      if (score == Score::opposite) count += kept * one.opposite.counts[q];
      if (score == Score::sharpness && !one.energy.empty()) energy += kept * one.energy[q];
    }
  }
  if (energy > 0) return sum / std::sqrt(energy);
  return score == Score::opposite ? sum / std::max(count, 1.0) : sum;
}

/// Scores of all values. A slice without an edge is not sharp, and its histogram not tidy: it shows nothing.
std::vector<double> curve_without(const std::vector<Swept>& values, Score score,
                                  const LeftOut& out = nothing) {
  std::vector<double> curve;
  double worst = 0;
  for (const Swept& some : values) {
    const bool shows =
        score == Score::opposite || std::ranges::any_of(some.slices, [](const Sharpness& each) {
          return each.total() > 0 && std::isfinite(each.total());
        });
    const double one = score_without(some, score, out);
    curve.push_back(shows && std::isfinite(one) ? one : NAN);
    worst = std::fmax(worst, curve.back());
  }
  for (double& one : curve)
    if (std::isnan(one)) one = worst;
  return curve;
}

/// Over the lowest one, or over a millionth of the highest one.
std::vector<double> relative_curve(std::vector<double> curve) {
  constexpr double least_share = 1e-6;
  const auto [low, high] = std::ranges::minmax(curve);
  const double least = std::max(low, least_share * high);
  for (double& value : curve) value = least > 0 ? std::max(value, least) / least : 1;
  return curve;
}

/// The position where a curve is lowest, in steps from its first value. It is found by a parabola through the
/// lowest value and its two neighbours, if it has two.
double lowest_place(const std::vector<double>& curve) {
  const std::size_t k = std::ranges::min_element(curve) - curve.begin();
  const double place = k;
  if (k == 0 || k + 1 == curve.size()) return place;
  const double bend = curve[k - 1] - 2 * curve[k] + curve[k + 1];
  return bend > 0 ? place + 0.5 * (curve[k - 1] - curve[k + 1]) / bend : place;
}

/// The jackknife's standard deviation of the lowest place, in steps, from places without a share of each
/// part.
double spread_of_place(const std::vector<Swept>& values, Score score, double share) {
  const std::size_t slices = values.front().slices.size();
  std::vector<double> places;
  for (std::size_t s = 0; s < slices; ++s)
    for (std::size_t q = 0; q < quarters; ++q)
      places.push_back(lowest_place(curve_without(values, score, {s, q, share})));
  const double n = places.size();
  const double mean = std::accumulate(places.begin(), places.end(), 0.0) / n;
  double squares = 0;
  for (const double place : places) squares += (place - mean) * (place - mean);
  return (n - share) / share * std::sqrt(squares / n / (n - 1));
}

/// Whether a curve falls to its lowest value and rises from there: of seven numbers by chance, 0.3 % do.
bool is_one_valley(const std::vector<double>& curve) {
  const auto lowest = std::ranges::min_element(curve);
  return curve.size() >= 7 && lowest - curve.begin() >= 2 && curve.end() - lowest > 2 &&
         std::is_sorted(curve.begin(), lowest + 1, std::greater<>()) && std::is_sorted(lowest, curve.end());
}

/// An uncertainty, in steps, that is too large for a sweep of so many values.
bool parts_disagree(double steps, std::size_t values) { return steps > std::max(1.0, 0.25 * (values - 1)); }

/// The scores that doubt this one: each sees the others' mistakes. Opposite views are not always there.
std::vector<Score> doubters_of(Score score) {
  if (score == Score::opposite) return {Score::sharpness, Score::entropy};
  return {score == Score::sharpness ? Score::entropy : Score::sharpness};
}

/// Whether a score has one valley, and one that doubts it has its own within a step of it.
bool is_told_twice(const std::vector<Swept>& values, Score score, const std::vector<double>& curve) {
  return is_one_valley(curve) && std::ranges::any_of(doubters_of(score), [&](Score other) {
           const std::vector<double> its = curve_without(values, other);
           return is_one_valley(its) && std::abs(lowest_place(its) - lowest_place(curve)) <= 1;
         });
}

/// The uncertainty of the lowest place, in steps. Where one quarter shows nearly all that there is, the rest
/// tells nothing without it; then each gets a little less weight instead, if two scores have one valley.
double steps_of(const std::vector<Swept>& values, Score score, const std::vector<double>& curve) {
  constexpr double little = 0.01;
  const double steps = spread_of_place(values, score, 1);
  const bool one_sided = parts_disagree(steps, values.size()) && is_told_twice(values, score, curve);
  return one_sided ? spread_of_place(values, score, little) : steps;
}

/// Whether another valley of the curve is nearly as deep as its deepest one, with a ridge between them.
bool has_rival(const std::vector<double>& curve, std::size_t best) {
  constexpr double near = 0.1, ridge = 0.2;  // shares of the whole height
  const auto [low, high] = std::ranges::minmax(curve);
  for (std::size_t k = 1; k + 1 < curve.size(); ++k) {
    if (k == best || curve[k] > curve[k - 1] || curve[k] > curve[k + 1]) continue;
    const auto first = curve.begin() + std::min(k, best), last = curve.begin() + std::max(k, best);
    const double top = *std::max_element(first, last + 1);
    if (curve[k] - low < near * (high - low) && top - curve[k] > ridge * (high - low)) return true;
  }
  return false;
}

/// Whether a value farther away than the next one is as good, where a parabola through the best one and its
/// neighbours is not: a plateau.
bool is_plateau(const std::vector<double>& score, std::size_t best) {
  if (best == 0 || best + 1 == score.size()) return false;
  const double bend = score[best - 1] - 2 * score[best] + score[best + 1], place = lowest_place(score);
  for (std::size_t k = 0; k < score.size(); ++k) {
    const double rise = 0.5 * bend * (std::pow(k - place, 2) - std::pow(best - place, 2));
    if (score[k] < 1 + least_difference && rise > 2 * least_difference && k + 1 != best && k != best + 1 &&
        k != best)
      return true;
  }
  return false;
}

/// Whether slices of every second view have no more in common with those of the rest than chance gives them.
bool is_noise(const Swept& some) {
  constexpr double most = 8;  // filtered noise has a standard deviation of up to 2.5
  double in_common = 0, squares = 0;
  for (const Sharpness& one : some.slices) in_common += one.in_common, squares += std::pow(one.by_chance, 2);
  return squares > 0 && std::abs(in_common) < most * std::sqrt(squares);
}

std::string text_of_value(double value) {
  std::ostringstream text;
  text.precision(7);
  text << value;
  return text.str();
}

/// A value with its uncertainty, in two digits.
std::string with_error(double value, double error) {
  std::ostringstream text;
  text << std::fixed;
  text.precision(std::clamp(1 - floor_int(std::log10(error)), 0, 12));
  text << value << " +- " << error;
  return text.str();
}

struct Doubt {
  Verdict verdict;
  std::string words;
};

/// How words name the slice that is best by a score.
const char* best_by(Score score) {
  constexpr std::array<const char*, 3> words{"edges are sharpest", "the histogram is tidiest",
                                             "opposite views agree best"};
  return row_of(words, score);
}

/// The value that is best by another score, if that is clearly elsewhere.
std::optional<double> other_value(const std::vector<double>& score, const std::vector<double>& other,
                                  const std::vector<Swept>& values, double steps) {
  const auto [least, most] = std::ranges::minmax(other);
  const double place = lowest_place(other);
  if (most - least <= least_difference * most ||
      std::abs(place - lowest_place(score)) <= std::max(2.0, 3 * steps))
    return std::nullopt;
  return values[std::lround(place)].value;
}

/// What speaks against the minimum. `steps`: its uncertainty.
Doubt doubt_of(const SweepResult& all, const std::vector<Swept>& values, Score score, double steps) {
  const std::size_t last = values.size() - 1;
  const auto [least, most] = std::ranges::minmax(all.score);
  const std::string best = text_of_value(values[all.best].value);
  if (most - least < least_difference)
    return {Verdict::flat, "flat: all slices are as good, within 0.1 %, so none of these values is the best"};
  if (is_noise(values[all.best]))
    return {Verdict::flat,
            "flat: slices of every second view have nothing in common with slices of the other "
            "views: noise, air, or views at wrong angles"};
  const auto as_good = [&](std::size_t k) { return all.score[k] < 1 + least_difference; };
  if (const std::size_t end = as_good(0) ? 0 : last; as_good(end))
    return {Verdict::railed, "railed: the best value is at an end of the range; try values beyond " +
                                 text_of_value(values[end].value)};
  for (const Score doubter : doubters_of(score))
    if (const auto other = other_value(all.score, curve_without(values, doubter), values, steps))
      return {Verdict::ambiguous, std::string("ambiguous: ") + best_by(score) + " at " + best + ", but " +
                                      best_by(doubter) + " at " + text_of_value(*other)};
  if (has_rival(all.score, all.best))
    return {Verdict::ambiguous, "ambiguous: the score has two valleys that are about as deep"};
  if (is_plateau(all.score, all.best))
    return {Verdict::ambiguous, "ambiguous: values that do not lie side by side are as good, within 0.1 %"};
  if (parts_disagree(steps, values.size()))
    return {Verdict::ambiguous, "ambiguous: parts of the slices are best at different values"};
  return {Verdict::resolved, ""};
}

double entropy_of(const Bars& counts) {
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
  double entropy = 0;
  for (const double count : counts)
    if (count > 0) entropy -= count / all * std::log2(count / all);
  return entropy;
}

/// The view that is nearest to half a turn away, if it is no farther off than `most`.
std::optional<std::size_t> opposite_of(std::size_t view, const std::vector<double>& angles, double most) {
  const auto off = [&](double angle) {
    return std::abs(std::remainder(angle - angles[view] - half_turn, whole_turn));
  };
  const auto best = std::ranges::min_element(angles, {}, off);
  if (off(*best) > most) return std::nullopt;
  return best - angles.begin();
}

/// Between bins; NaN beyond the ends.
double value_at(std::span<const float> row, double bin) {
  const double last = row.size() - 1;
  if (!(bin >= 0 && bin <= last)) return std::numeric_limits<double>::quiet_NaN();
  const auto k = std::min(floor_index(bin), std::ssize(row) - 2);
  const double t = bin - k;
  return (1 - t) * row[k] + t * row[k + 1];
}

}  // namespace

double Sharpness::total() const { return std::accumulate(variation.begin(), variation.end(), 0.0); }

Sharpness sharpness_of(const SharpLook& look, double low, double high) {
  constexpr double least_share = 0.01;  // share of the energy, where noise is nearly all of it
  const Index width = look.width, height = look.height;
  Sharpness all{std::vector<double>(quarters), 0, std::vector<double>(quarters)};
  std::array<Bars, quarters> counts{};
  std::array<double, quarters> squares{};
  double pixels = 0;
  for (Index y = 0; y + 1 < height; ++y)
    for (Index x = 0; x + 1 < width; ++x) {
      const Index right = 2 * x + 1 - width, down = 2 * y + 1 - height, at = y * width + x;
      if (std::hypot(right, down) >= 2 * look.radius) continue;
      const auto gradient = [&](std::span<const float> of) {
        const double here = of[at];
        return std::array{of[at + 1] - here, of[at + width] - here};
      };
      const std::size_t quarter = (right > 0 ? 1U : 0U) + (down > 0 ? 2U : 0U);
      const auto [gx, gy] = gradient(look.slice);
      const auto [ex, ey] = gradient(look.even);
      all.variation[quarter] += std::hypot(gx, gy);
      const double common = 4 * (ex * (gx - ex) + ey * (gy - ey));
      all.energy[quarter] += common;
      all.in_common += common, ++pixels;
      squares[quarter] += gx * gx + gy * gy;
      const double bar = high > low ? (look.slice[at] - low) / (high - low) * bars : 0;
      ++counts[quarter][static_cast<std::size_t>(std::clamp(bar, 0.0, bars - 1.0))];
    }
  for (std::size_t q = 0; q < quarters; ++q)
    all.by_chance += squares[q] / std::sqrt(std::max(pixels, 1.0)),
        all.energy[q] = std::max(all.energy[q], least_share * squares[q]);
  Bars sum{};
  for (const Bars& some : counts)
    for (std::size_t k = 0; k < bars; ++k) sum[k] += some[k];
  all.entropy = entropy_of(sum);
  for (const Bars& out : counts) {
    Bars rest = sum;
    for (std::size_t k = 0; k < bars; ++k) rest[k] -= out[k];
    all.entropy_without.push_back(entropy_of(rest));
  }
  return all;
}

std::span<const std::string_view> names_of_scores() {
  static constexpr std::array<std::string_view, 3> names{"sharpness", "entropy", "opposite"};
  return names;
}

Score score_named(std::string_view name) { return value_named<Score>(names_of_scores(), name, "score"); }

std::string_view name_of(Verdict verdict) {
  constexpr std::array<std::string_view, 4> names{"resolved", "railed", "ambiguous", "flat"};
  return row_of(names, verdict);
}

SweepResult judged(const std::vector<Swept>& values, Score score, double least) {
  const bool views = std::ranges::all_of(values, [](const Swept& some) {
    return std::ranges::all_of(some.slices, [](const Sharpness& one) { return one.opposite.any(); });
  });
  require<GeometryError>(
      score != Score::opposite || views,
      spelled("score") +
          " opposite: there are no opposite views; a parallel beam over half a turn or more is needed");
  SweepResult all{};
  const std::vector<double> curve = curve_without(values, score);
  all.best = std::ranges::min_element(curve) - curve.begin();
  all.score = relative_curve(curve);
  all.unsharpness = relative_curve(curve_without(values, Score::sharpness));
  for (const Swept& some : values)
    all.entropy.push_back(score_without(some, Score::entropy, nothing) / some.slices.size());
  if (views) all.opposite = curve_without(values, Score::opposite);
  for (double& squares : all.opposite) squares = std::sqrt(squares);
  const double step = values.size() > 1 ? values[1].value - values[0].value : 0,
               steps = std::hypot(steps_of(values, score, curve), least);
  all.value = values.front().value + step * lowest_place(curve);
  all.uncertainty = step * steps;
  const Doubt doubt = doubt_of(all, values, score, steps);
  all.verdict = doubt.verdict;
  all.words = doubt.verdict == Verdict::resolved ? "resolved: " + with_error(all.value, all.uncertainty)
                                                 : doubt.words;
  return all;
}

OppositeViews opposite_views_of(std::span<const float> sinogram, const Scan& scan) {
  constexpr double rounding = 1e-6;  // rad
  const std::vector<double>& angles = angles_of(scan);
  const std::vector<double>& shifts = view_shifts_of(scan);
  const std::size_t bins = sinogram.size() / angles.size();
  const double axis = detector_of(scan).axis_bin,
               most = std::min(ViewsOfTurn(angles).step(), 0.5 * half_turn) + rounding;
  OppositeViews all{std::vector<double>(quarters), std::vector<double>(quarters)};
  const auto shift_of = [&](std::size_t view) { return shifts.empty() ? 0 : shifts[view]; };
  const auto row_of = [&](std::size_t view) { return sinogram.subspan(view * bins, bins); };
  for (std::size_t view = 0; view < angles.size(); ++view) {
    const std::optional<std::size_t> other = opposite_of(view, angles, most);
    if (!other) continue;
    for (std::size_t bin = 0; bin < bins; ++bin) {
      const double s = bin - axis - shift_of(view);
      const double there = value_at(row_of(*other), axis + shift_of(*other) - s);
      if (!std::isfinite(there)) continue;
      const double difference = row_of(view)[bin] - there;
      all.squares[quarters * bin / bins] += difference * difference;
      all.counts[quarters * bin / bins] += 1;
    }
  }
  if (std::ranges::all_of(all.counts, [](double count) { return count == 0; })) return {};
  return all;
}

}  // namespace tandem::calibration
