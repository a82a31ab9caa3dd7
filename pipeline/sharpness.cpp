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

namespace tandem::pipeline {

namespace {

constexpr std::size_t quarters = 4;
constexpr double least_difference = 1e-3;  // relative difference of scores; smaller ones may come from noise

constexpr std::size_t bars = 256;
using Bars = std::array<double, bars>;

/// Which quarter of which slice is left out.
struct LeftOut {
  std::size_t slice, quarter;
  bool operator==(const LeftOut&) const = default;
};

/// The score of all slices, without one quarter of one of them.
double score_without(const Swept& some, Score score, const std::optional<LeftOut>& out) {
  double sum = 0, count = 0, energy = 0;
  for (std::size_t s = 0; s < some.slices.size(); ++s) {
    const Sharpness& one = some.slices[s];
    const auto is_out = [&](std::size_t quarter) { return out && *out == LeftOut{s, quarter}; };
    if (score == Score::entropy) {
      sum += out && out->slice == s ? one.entropy_without[out->quarter] : one.entropy;
      continue;
    }
    for (std::size_t q = 0; q < quarters; ++q) {
      if (is_out(q)) continue;
      sum += score == Score::sharpness ? one.variation[q] : one.opposite.squares[q];
      if (score == Score::opposite) count += one.opposite.counts[q];
      if (score == Score::sharpness && !one.energy.empty()) energy += one.energy[q];
    }
  }
  if (energy > 0) return sum / std::sqrt(energy);
  return score == Score::opposite ? sum / std::max(count, 1.0) : sum;
}

std::vector<double> curve_without(const std::vector<Swept>& values, Score score,
                                  const std::optional<LeftOut>& out) {
  std::vector<double> curve;
  for (const Swept& some : values) curve.push_back(score_without(some, score, out));
  return curve;
}

/// Over the lowest one.
std::vector<double> relative_curve(std::vector<double> curve) {
  const double least = *std::ranges::min_element(curve);
  for (double& value : curve) value = least > 0 ? value / least : 1;
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

/// The jackknife's standard deviation of the lowest place, in steps.
double spread_of_place(const std::vector<Swept>& values, Score score) {
  const std::size_t slices = values.front().slices.size();
  std::vector<double> places;
  for (std::size_t s = 0; s < slices; ++s)
    for (std::size_t q = 0; q < quarters; ++q)
      places.push_back(lowest_place(curve_without(values, score, LeftOut{s, q})));
  const double n = places.size();
  const double mean = std::accumulate(places.begin(), places.end(), 0.0) / n;
  double squares = 0;
  for (const double place : places) squares += (place - mean) * (place - mean);
  return std::sqrt((n - 1) / n * squares);
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

/// The score that doubts this one: each sees the other's mistakes. Opposite views are no slices.
std::optional<Score> doubter_of(Score score) {
  if (score == Score::opposite) return std::nullopt;
  return score == Score::sharpness ? Score::entropy : Score::sharpness;
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
  if (const auto doubter = doubter_of(score))
    if (const auto other = other_value(all.score, curve_without(values, *doubter, {}), values, steps))
      return {Verdict::ambiguous, std::string("ambiguous: ") + best_by(score) + " at " + best + ", but " +
                                      best_by(*doubter) + " at " + text_of_value(*other)};
  const auto as_good = [&](std::size_t k) { return all.score[k] < 1 + least_difference; };
  if (const std::size_t end = as_good(0) ? 0 : last; as_good(end))
    return {Verdict::railed, "railed: the best value is at an end of the range; try values beyond " +
                                 text_of_value(values[end].value)};
  if (has_rival(all.score, all.best))
    return {Verdict::ambiguous, "ambiguous: the score has two valleys that are about as deep"};
  if (steps > std::max(1.0, 0.25 * last))
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

}  // namespace

double Sharpness::total() const { return std::accumulate(variation.begin(), variation.end(), 0.0); }

Sharpness sharpness_of(const SharpLook& look, double low, double high) {
  constexpr double least_share = 0.01;  // share of the energy, where noise is nearly all of it
  const Index width = look.width, height = look.height;
  Sharpness all{std::vector<double>(quarters), 0, std::vector<double>(quarters)};
  std::array<Bars, quarters> counts{};
  std::array<double, quarters> squares{};
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
      all.energy[quarter] += 4 * (ex * (gx - ex) + ey * (gy - ey));
      squares[quarter] += gx * gx + gy * gy;
      const double bar = high > low ? (look.slice[at] - low) / (high - low) * bars : 0;
      ++counts[quarter][static_cast<std::size_t>(std::clamp(bar, 0.0, bars - 1.0))];
    }
  for (std::size_t q = 0; q < quarters; ++q)
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
  const std::vector<double> curve = curve_without(values, score, {});
  all.best = std::ranges::min_element(curve) - curve.begin();
  all.score = relative_curve(curve);
  all.unsharpness = relative_curve(curve_without(values, Score::sharpness, {}));
  all.entropy = curve_without(values, Score::entropy, {});
  for (double& entropy : all.entropy) entropy /= values.front().slices.size();
  if (views) all.opposite = curve_without(values, Score::opposite, {});
  for (double& squares : all.opposite) squares = std::sqrt(squares);
  const double step = values.size() > 1 ? values[1].value - values[0].value : 0,
               steps = std::hypot(spread_of_place(values, score), least);
  all.value = values.front().value + step * lowest_place(curve);
  all.uncertainty = step * steps;
  const Doubt doubt = doubt_of(all, values, score, steps);
  all.verdict = doubt.verdict;
  all.words = doubt.verdict == Verdict::resolved ? "resolved: " + with_error(all.value, all.uncertainty)
                                                 : doubt.words;
  return all;
}

}  // namespace tandem::pipeline
