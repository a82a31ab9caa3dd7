#include "sharpness.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <sstream>

namespace tandem::pipeline {

namespace {

constexpr std::size_t quarters = 4;
constexpr double least_difference = 1e-3;  // relative difference of scores; smaller ones may come from noise

/// The variation of all slices, without one quarter of one of them.
double variation_without(const Swept& some, std::size_t slice, std::size_t quarter) {
  double sum = 0;
  for (const Sharpness& one : some.slices) sum += one.total();
  return slice < some.slices.size() ? sum - some.slices[slice].variation[quarter] : sum;
}

std::vector<double> curve_without(const std::vector<Swept>& values, std::size_t slice, std::size_t quarter) {
  std::vector<double> curve;
  for (const Swept& some : values) curve.push_back(variation_without(some, slice, quarter));
  return curve;
}

/// The position where a curve is lowest, in steps from its first value. It is found by a parabola through the
/// lowest value and its two neighbours, if it has two.
double lowest_place(const std::vector<double>& curve) {
  const auto k = static_cast<std::size_t>(std::ranges::min_element(curve) - curve.begin());
  const auto place = static_cast<double>(k);
  if (k == 0 || k + 1 == curve.size()) return place;
  const double bend = curve[k - 1] - 2 * curve[k] + curve[k + 1];
  return bend > 0 ? place + 0.5 * (curve[k - 1] - curve[k + 1]) / bend : place;
}

/// The jackknife's standard deviation of the lowest place, in steps.
double spread_of_place(const std::vector<Swept>& values) {
  const std::size_t slices = values.front().slices.size();
  std::vector<double> places;
  for (std::size_t s = 0; s < slices; ++s)
    for (std::size_t q = 0; q < quarters; ++q) places.push_back(lowest_place(curve_without(values, s, q)));
  const auto n = static_cast<double>(places.size());
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
    const auto first = curve.begin() + static_cast<std::ptrdiff_t>(std::min(k, best)),
               last = curve.begin() + static_cast<std::ptrdiff_t>(std::max(k, best));
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
  text.precision(std::clamp(1 - static_cast<int>(std::floor(std::log10(error))), 0, 12));
  text << value << " +- " << error;
  return text.str();
}

struct Doubt {
  Verdict verdict;
  std::string words;
};

/// The value with the lowest entropy of the histogram, if it is clearly another one than that with the
/// sharpest edges.
std::optional<double> other_value(const SweepResult& all, const std::vector<Swept>& values, double steps) {
  const auto [tidy, untidy] = std::ranges::minmax(all.entropy);
  const double place = lowest_place(all.entropy);
  if (untidy - tidy <= least_difference * untidy ||
      std::abs(place - lowest_place(all.score)) <= std::max(2.0, 3 * steps))
    return std::nullopt;
  return values[static_cast<std::size_t>(std::lround(place))].value;
}

/// The reasons to doubt the minimum. `steps`: its uncertainty.
Doubt doubt_of(const SweepResult& all, const std::vector<Swept>& values, double steps) {
  const std::size_t last = values.size() - 1;
  const auto [least, most] = std::ranges::minmax(all.score);
  const std::string best = text_of_value(values[all.best].value);
  if (most - least < least_difference)
    return {Verdict::flat,
            "flat: all slices are as sharp, within 0.1 %, so none of these values is the best"};
  if (const auto other = other_value(all, values, steps))
    return {Verdict::ambiguous, "ambiguous: edges are sharpest at " + best +
                                    ", but the histogram is tidiest at " + text_of_value(*other)};
  if (all.best == 0 || all.best == last)
    return {Verdict::railed,
            "railed: the sharpest slice is at an end of the range; try values beyond " + best};
  if (has_rival(all.score, all.best))
    return {Verdict::ambiguous, "ambiguous: the score has two valleys that are about as deep"};
  if (steps > std::max(1.0, 0.25 * static_cast<double>(last)))
    return {Verdict::ambiguous, "ambiguous: parts of the slices are sharpest at different values"};
  return {Verdict::resolved, ""};
}

}  // namespace

double Sharpness::total() const { return std::accumulate(variation.begin(), variation.end(), 0.0); }

Sharpness sharpness_of(std::span<const float> slice, Index width, Index height, double low, double high) {
  constexpr std::size_t bars = 256;
  const double radius = 0.4 * static_cast<double>(std::min(width, height));
  const auto at = [&](Index y, Index x) {
    return static_cast<double>(slice[static_cast<std::size_t>(y * width + x)]);
  };
  Sharpness all{std::vector<double>(quarters), 0};
  std::array<double, bars> counts{};
  double pixels = 0;
  for (Index y = 0; y + 1 < height; ++y)
    for (Index x = 0; x + 1 < width; ++x) {
      const Index right = 2 * x + 1 - width, down = 2 * y + 1 - height;
      if (std::hypot(static_cast<double>(right), static_cast<double>(down)) >= 2 * radius) continue;
      all.variation[(right > 0 ? 1U : 0U) + (down > 0 ? 2U : 0U)] +=
          std::hypot(at(y, x + 1) - at(y, x), at(y + 1, x) - at(y, x));
      const double bar = high > low ? (at(y, x) - low) / (high - low) * bars : 0;
      counts[static_cast<std::size_t>(std::clamp(bar, 0.0, bars - 1.0))] += 1, pixels += 1;
    }
  for (const double count : counts)
    if (count > 0) all.entropy -= count / pixels * std::log2(count / pixels);
  return all;
}

std::string_view name_of(Verdict verdict) {
  constexpr std::array<std::string_view, 4> names{"resolved", "railed", "ambiguous", "flat"};
  return names[static_cast<std::size_t>(verdict)];
}

SweepResult judged(const std::vector<Swept>& values) {
  SweepResult all{};
  const std::vector<double> curve = curve_without(values, values.front().slices.size(), 0);
  all.best = static_cast<std::size_t>(std::ranges::min_element(curve) - curve.begin());
  for (std::size_t k = 0; k < values.size(); ++k) {
    all.score.push_back(curve[all.best] > 0 ? curve[k] / curve[all.best] : 1);
    double sum = 0;
    for (const Sharpness& one : values[k].slices) sum += one.entropy;
    all.entropy.push_back(sum / static_cast<double>(values[k].slices.size()));
  }
  const double step = values.size() > 1 ? values[1].value - values[0].value : 0,
               steps = std::hypot(spread_of_place(values), 0.1);
  all.value = values.front().value + step * lowest_place(curve);
  all.uncertainty = step * steps;
  const Doubt doubt = doubt_of(all, values, steps);
  all.verdict = doubt.verdict;
  all.words = doubt.verdict == Verdict::resolved ? "resolved: " + with_error(all.value, all.uncertainty)
                                                 : doubt.words;
  return all;
}

}  // namespace tandem::pipeline
