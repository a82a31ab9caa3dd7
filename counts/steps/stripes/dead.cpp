#include <algorithm>
#include <cmath>

#include "../../../kernels/columns.hpp"
#include "../interpolate.hpp"
#include "columns.hpp"
#include "gpu/gpu_columns.hpp"
#include "stripe_method.hpp"

namespace tandem::pipeline::stripes {

namespace {

const Option<PositiveNumber> vo_dead_snr{"vo-dead:snr", "how far a column must stand out (default 3)",
                                         PositiveNumber{1e6}};
const Option<WholeNumber> vo_dead_size = window("vo-dead:size", "bins of the median (default 51)");
const Option<TrueOrFalse> vo_dead_norm{"vo-dead:norm", "vo-large follows (default true)", TrueOrFalse{}};

/// How much each column goes up and down: the sum of distances to the mean of ten views around each.
std::vector<float> fluctuations_of(const Plane& sinogram) {
  constexpr Index before = kernels::FluctuationBox::before, behind = kernels::FluctuationBox::behind;
  const Index views = sinogram.rows;
  std::vector<double> sums(sinogram.columns, 0.0), box = sums;
  const auto add = [&](Index view, double sign) {
    const float* row = sinogram.row(reflected(view, views));
    for (std::size_t b = 0; b < box.size(); ++b) box[b] += sign * row[b];
  };
  for (Index view = -before; view <= behind; ++view) add(view, 1);
  for (Index view = 0; view < views; ++view) {
    const float* row = sinogram.row(view);
    for (std::size_t b = 0; b < box.size(); ++b)
      sums[b] += std::abs(row[b] - static_cast<float>(box[b] / kernels::FluctuationBox::size));
    add(view - before, -1);
    add(view + 1 + behind, 1);
  }
  return {sums.begin(), sums.end()};
}

/// How much each column changes, compared with those around it.
std::vector<double> changes_of(std::span<const float> changes, Index size) {
  const std::vector<float> usual = medians(changes, size);
  std::vector<double> factors;
  for (std::size_t k = 0; k < usual.size(); ++k)
    factors.push_back(usual[k] != 0 ? 1.0 * changes[k] / usual[k] : 1);
  return factors;
}

/// Marked columns and their neighbours, but never the outer two.
std::vector<bool> to_interpolate(const std::vector<bool>& marked) {
  std::vector<bool> marks = dilated(marked);
  const std::size_t bins = marks.size();
  for (const std::size_t edge : {std::size_t{0}, std::size_t{1}, bins - 1, bins - 2})
    if (edge < bins) marks[edge] = false;
  return marks;
}

/// Interpolates columns across each row. @returns how many
Index interpolate_columns(Plane& sinogram, const std::vector<bool>& marks) {
  const Index count = std::ranges::count(marks, true);
  for (Index view = 0; view < sinogram.rows && count > 0; ++view)
    interpolate({sinogram.row(view), marks.size()}, [&](Index b) { return marks[b]; });
  return count;
}

}  // namespace

LargeStripes large_after(const DeadStripes& how) { return {.snr = how.snr, .size = how.size}; }

std::vector<bool> dead_columns(std::span<const float> fluctuations, const DeadStripes& how) {
  return to_interpolate(outstanding(changes_of(fluctuations, how.size), how.snr));
}

/// Columns that change much more or much less than those around them, and their neighbours, are interpolated
/// across the row. Then large stripes are removed (`norm`).
Index remove_dead_stripes(Plane& sinogram, const DeadStripes& how) {
  const Index count = interpolate_columns(sinogram, dead_columns(fluctuations_of(sinogram), how));
  if (how.norm) remove_large_stripes(sinogram, large_after(how));
  return count;
}

/// Whether columns change much more, or much less, than both columns beside them. A sample changes its
/// neighbours nearly as much.
bool stands_out(const std::vector<double>& changes, std::size_t first, std::size_t last) {
  constexpr double factor = 1.5;
  if (first == last || first == 0 || last == changes.size()) return true;
  const auto [least, most] = std::minmax_element(changes.begin() + first, changes.begin() + last);
  const auto [lower, higher] = std::minmax(changes[first - 1], changes[last]);
  return *most < 1 ? lower > factor * *most : higher * factor < *least;
}

std::vector<bool> useless_columns(std::span<const float> fluctuations, std::span<const float> deviations) {
  constexpr Index size = 51, widest = 3;
  constexpr double many = 3;
  const Index bins = fluctuations.size();
  const std::vector<double> changes = changes_of(fluctuations, std::min(size, bins));
  std::vector<bool> marks = outstanding(changes, many);
  const auto is_marked = [&](std::size_t k) { return k < marks.size() && marks[k]; };
  for (std::size_t k = 0; k < marks.size(); ++k)
    marks[k] = marks[k] && (changes[k] > many || changes[k] < 1 / many);
  for (std::size_t first = 0; first < marks.size(); ++first) {
    std::size_t last = first;
    while (is_marked(last)) ++last;
    if (last - first > static_cast<std::size_t>(widest) || !stands_out(changes, first, last))
      for (std::size_t k = first; k < last; ++k) marks[k] = false;
    first = last;
  }
  const std::vector<bool> failing = failing_columns(deviations, bins);
  for (std::size_t k = 0; k < marks.size(); ++k) marks[k] = marks[k] || failing[k];
  return to_interpolate(marks);
}

Index remove_useless_columns(Plane& sinogram) {
  const ColumnSpreads beside =
      spreads_of(transposed(sinogram), beside_others(), deviation_rank(sinogram.rows));
  return interpolate_columns(sinogram, useless_columns(fluctuations_of(sinogram), beside.distances));
}

namespace {

DeadStripes asked_dead(const Preprocessing& how) {
  return {vo_dead_snr.of(how.values).value_or(3), window_of(how, vo_dead_size, 51),
          vo_dead_norm.of(how.values).value_or(true)};
}

}  // namespace

Method dead_method() {
  return {.name = "vo-dead",
          .help = "interpolates columns that do not respond or fluctuate, then vo-large (Vo 6)",
          .options = {vo_dead_snr, vo_dead_size, vo_dead_norm},
          .planes = 6,
          .begin = begin_with<asked_dead, remove_dead_stripes>,
          .on_gpu = [](const Preprocessing& how) { return on_gpu({.dead = asked_dead(how)}); },
          .gpu_bytes = [](const Preprocessing&, Shape shape) { return gpu_bytes(GpuColumns{}, shape); }};
}

}  // namespace tandem::pipeline::stripes
