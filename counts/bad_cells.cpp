#include "bad_cells.hpp"

#include <algorithm>
#include <cmath>

#include "../core/parallel.hpp"
#include "pixels.hpp"

namespace tandem::pipeline {

namespace {

constexpr float deviations = 6, mad_to_deviation = 1.48f, harmless = 0.01f;  // thresholds for a hot cell
constexpr float weakest = 0.2f;  // least part of the span around a cell
constexpr Index reach = 2;       // half of the window around a cell
constexpr double rare = 0.01;

/// Median of the finite values; 0 if there are none. The order of the values is lost.
float finite_median(std::vector<float>& values) {
  std::erase_if(values, [](float v) { return !std::isfinite(v); });
  if (values.empty()) return 0;
  const auto middle = values.begin() + values.size() / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

float median_of(std::span<const float> row) {
  std::vector<float> values(row.begin(), row.end());
  return finite_median(values);
}

template <class T>
std::span<const T> row_of(std::span<const T> cells, const CellFrames& frames, Index row) {
  if (cells.empty()) return {};
  return cells.subspan(row * frames.bins, frames.bins);
}

void mark_hot(std::span<const float> dark, std::span<const float> span, std::span<char> bad) {
  if (dark.empty()) return;
  const float middle = median_of(dark);
  std::vector<float> distances;
  for (const float d : dark) distances.push_back(std::abs(d - middle));
  const float spread = deviations * mad_to_deviation * finite_median(distances);
  const float least = std::max(spread, span.empty() ? 0 : harmless * median_of(span));
  for (std::size_t b = 0; b < dark.size(); ++b)
    if (least > 0 && dark[b] - middle > least) bad[b] = 1;
}

void mark_dead(const CellFrames& frames, Index row, std::span<char> bad) {
  std::vector<float> around;
  for (Index bin = 0; bin < frames.bins; ++bin) {
    around.clear();
    for (Index r = std::max<Index>(0, row - reach); r <= std::min(frames.rows - 1, row + reach); ++r)
      for (Index b = std::max<Index>(0, bin - reach); b <= std::min(frames.bins - 1, bin + reach); ++b)
        around.push_back(frames.span[r * frames.bins + b]);
    const float own = frames.span[row * frames.bins + bin];
    if (own < weakest * finite_median(around)) bad[bin] = 1;
  }
}

void mark_stuck(std::span<const char> constant, std::span<char> bad) {
  const auto count = std::ranges::count(constant, 1);
  if (count > std::max(3.0, rare * constant.size())) return;
  for (std::size_t b = 0; b < constant.size(); ++b)
    if (constant[b]) bad[b] = 1;
}

}  // namespace

std::vector<char> constant_cells(const io::FramesView& flats) {
  const auto [count, rows, bins] = flats.shape;
  if (count < 3) return {};
  std::vector<char> constant(rows * bins, 1);
  with_pixels(flats, [&, count = count, rows = rows, bins = bins](const auto* pixels) {
    parallel_for(rows, [&](Index row) {
      const auto* first = pixels + row * flats.row_step;
      for (Index f = 1; f < count; ++f)
        for (Index b = 0; b < bins; ++b)
          constant[row * bins + b] &= first[f * flats.frame_step + b] == first[b];
    });
  });
  return constant;
}

std::vector<char> bad_cells(const CellFrames& frames) {
  std::vector<char> bad(frames.rows * frames.bins, 0);
  parallel_for(frames.rows, [&](Index row) {
    const std::span own(bad.data() + row * frames.bins, frames.bins);
    mark_hot(row_of(frames.dark, frames, row), row_of(frames.span, frames, row), own);
    if (!frames.span.empty()) mark_dead(frames, row, own);
    mark_stuck(row_of(frames.constant, frames, row), own);
  });
  return bad;
}

}  // namespace tandem::pipeline
