#include "titarenko.hpp"

#include <cmath>
#include <numeric>
#include <span>

#include "../../../core/error.hpp"
#include "../../../core/spelled.hpp"
#include "banded.hpp"
#include "columns.hpp"
#include "gpu/gpu_columns.hpp"
#include "stripe_method.hpp"

// V. Titarenko, Optics Letters and Applied Mathematics Letters 23, 1489 (2010),
// doi 10.1016/j.aml.2010.08.022.

namespace tandem::pipeline::stripes {

namespace {

const Option<PositiveNumber> ti_beta{
    "ti:beta", "the larger, the narrower the neighbourhood (default 0.022; 0.1 for faint, narrow stripes)",
    PositiveNumber{1}};
const Option<PositiveNumber> ti_mask{
    "ti:mask", "share of the row, around its middle, that is changed (default 1)", PositiveNumber{1}};
const Option<WholeNumber> ti_nblock{"ti:nblock",
                                    "the form of tomopy, for blocks of views (default 1)",
                                    WholeNumber{0, 10000},
                                    {},
                                    "blocks of views"};
const Option<PositiveNumber> ti_alpha{
    "ti:alpha", "the form of tomopy; what is above 0 lifts all values (default 0, in tomopy 1.5)",
    PositiveNumber{1e6}};

/// The change that brings the mean a of each column, in the middle part `mask` of the row, to the mean of its
/// neighbourhood: (Gamma - delta) * (a - a_0), circular, Gamma_k = beta ((1 - beta) / (1 + beta))^|k|. This
/// is the form of tomocupy.
std::vector<double> softening(std::span<const double> a, double beta, double mask) {
  const Index bins = a.size();
  std::vector<double> kernel, twice;  // Gamma, and a - a_0 two times
  for (Index k = 0; k < bins; ++k)
    kernel.push_back(beta * std::pow((1 - beta) / (1 + beta), std::min(k, bins - k)));
  for (Index k = 0; k < 2 * bins; ++k) twice.push_back(a[k % bins] - a.front());
  const Index wide = std::lround(mask * bins);
  const Index first = bins / 2 - wide / 2;
  std::vector<double> changes(a.size(), 0.0);
  for (Index b = first; b < first + wide; ++b) {
    double& change = changes[b];
    const double* from = &twice[b];
    change = -*from;
    for (std::size_t k = 0; k < kernel.size(); ++k) change += kernel[k] * from[k];  // Gamma is symmetric
  }
  return changes;
}

/// The e of (D^T D + alpha I) e = - D^T D a, where D takes differences of the columns.
std::vector<double> excess(std::span<const double> a, std::span<const double> difference, double alpha) {
  Banded matrix(a.size());
  std::vector<double> e(a.size(), 0.0);
  for (std::size_t row = 0; row + difference.size() <= a.size(); ++row) {
    matrix.add_square(row, difference);
    double step = 0;
    for (std::size_t i = 0; i < difference.size(); ++i) step += difference[i] * a[row + i];
    for (std::size_t i = 0; i < difference.size(); ++i) e[row + i] -= difference[i] * step;
  }
  for (std::size_t i = 0; i < a.size(); ++i) matrix(i, i) += alpha;
  matrix.solve(e);
  return e;
}

}  // namespace

std::vector<Range> BlockedTitarenko::blocks_of(Index views) const {
  require<GeometryError>(blocks <= views, words_of("ti:nblock="), blocks, ": there are ", views,
                         " views; give at most as many blocks");
  const Index count = std::max<Index>(blocks, 1), size = views / count;
  std::vector<Range> all;
  for (Index k = 0; k < count; ++k) all.push_back({k * size, k + 1 == count ? views : (k + 1) * size});
  return all;
}

double BlockedTitarenko::lift(float least) const { return alpha * std::abs(least); }

/// The weight is that of tomopy, 1 / (2 range) of the sums of the views. If all sums are equal it is
/// infinite, and nothing is added.
std::vector<double> excess_of(std::span<const double> means, std::span<const double> sums,
                              std::span<const double> difference) {
  const auto [lowest, highest] = std::ranges::minmax(sums);
  return highest > lowest ? excess(means, difference, 0.5 / (highest - lowest))
                          : std::vector<double>(means.size(), 0.0);
}

namespace {

std::vector<double> sums_of_views(const Plane& sinogram, Range views) {
  std::vector<double> sums;
  for (Index view = views.first; view < views.last; ++view)
    sums.push_back(std::accumulate(sinogram.row(view), sinogram.row(view) + sinogram.columns, 0.0));
  return sums;
}

void straighten(Plane& sinogram, const BlockedTitarenko& how) {
  Plane other = sinogram;
  for (const Range views : how.blocks_of(sinogram.rows)) {
    const std::vector<double> means = means_of_columns(sinogram, views),
                              sums = sums_of_views(sinogram, views);
    add_to_columns(sinogram, views, excess_of(means, sums, how.first));
    add_to_columns(other, views, excess_of(means, sums, how.second));
  }
  for (std::size_t i = 0; i < other.values.size(); ++i) sinogram.values[i] *= other.values[i];
  const double lift = how.lift(std::ranges::min(sinogram.values));
  for (float& p : sinogram.values) p = static_cast<float>(std::sqrt(std::max(0.0, p + lift)));
}

ColumnChanges softening_of(const Preprocessing& how) {
  return [beta = ti_beta.of(how.values).value_or(0.022), mask = ti_mask.of(how.values).value_or(1)](
             std::span<const double> means) { return softening(means, beta, mask); };
}

/// Empty unless an option of this form is given.
std::optional<BlockedTitarenko> as_tomopy(const StepValues& values) {
  const auto blocks = ti_nblock.of(values);
  const auto alpha = ti_alpha.of(values);
  if (!blocks && !alpha) return {};
  return BlockedTitarenko{blocks.value_or(1), alpha.value_or(0)};
}

Work begin(const Preprocessing& how) {
  if (const auto blocked = as_tomopy(how.values))
    return [own = *blocked](Plane& sinogram, Notes&) { straighten(sinogram, own); };
  return [change = softening_of(how)](Plane& sinogram, Notes&) {
    const Range all{0, sinogram.rows};
    add_to_columns(sinogram, all, change(means_of_columns(sinogram, all)));
  };
}

std::string conflict(const StepValues& values) {
  const bool tomocupy = ti_beta.is_given(values) || ti_mask.is_given(values);
  return as_tomopy(values) && tomocupy ? spelled("remove-stripe-method") +
                                             " ti: nblock and alpha do not go with beta and mask, which are "
                                             "of another form of ti; give those of one form"
                                       : "";
}

}  // namespace

Method titarenko_method() {
  return {.name = "ti",
          .help = "takes the means of columns to those of their neighbours (Titarenko)",
          .options = {ti_beta, ti_mask, ti_nblock, ti_alpha},
          .planes = 3,
          .begin = begin,
          .on_gpu =
              [](const Preprocessing& how) {
                const auto blocked = as_tomopy(how.values);
                return blocked ? straighten_on_gpu(*blocked) : on_gpu(softening_of(how));
              },
          .gpu_bytes = [](const Preprocessing& how,
                          Shape shape) { return as_tomopy(how.values) ? gpu_bytes_of_blocks(shape) : 0.0; },
          .conflict = conflict};
}

}  // namespace tandem::pipeline::stripes
