#include "../../../core/rounding.hpp"
#include "columns.hpp"
#include "gpu/gpu_columns.hpp"
#include "stripe_method.hpp"

namespace tandem::pipeline::stripes {

namespace {

const Option<PositiveNumber> vo_large_snr{"vo-large:snr", "how far a column must stand out (default 3)",
                                          PositiveNumber{1e6}};
const Option<WholeNumber> vo_large_size =
    window("vo-large:size", "bins of the median, wider than the stripes (default 51)");
const Option<PositiveNumber> vo_large_drop_ratio{
    "vo-large:drop-ratio", "share of the views, brightest and darkest, that do not count (default 0.1)",
    PositiveNumber{0.8}};
const Option<TrueOrFalse> vo_large_norm{"vo-large:norm", "divide all columns by their factors (default true)",
                                        TrueOrFalse{}};

/// The factor of each column: its mean over that of its smooth neighbourhood, both in ascending order and
/// without the ends.
std::vector<double> factors_of(const Plane& ranks, const Plane& smooth, Range middle) {
  std::vector<double> factors = means_of_columns(ranks, middle);
  const std::vector<double> means = means_of_columns(smooth, middle);
  for (std::size_t k = 0; k < factors.size(); ++k) factors[k] = means[k] != 0 ? factors[k] / means[k] : 1;
  return factors;
}

}  // namespace

Range heeded_ranks(const LargeStripes& how, Index views) {
  const auto drop = floor_index(0.5 * how.drop_ratio * views);
  return {drop, views - drop};
}

/// Divides all columns by their factors (`norm`). Columns whose factor stands out, and their neighbours, get
/// the smooth values, in the order that they have after the division. The order turns round if the factor is
/// negative. A factor of 0 is left alone.
Index remove_large_stripes(Plane& sinogram, const LargeStripes& how) {
  SortedColumns columns = sorted(sinogram);
  const Plane smooth = medians_of_rows(columns.values, how.size);
  const std::vector<double> factors = factors_of(columns.values, smooth, heeded_ranks(how, sinogram.rows));
  const std::vector<bool> marks = dilated(outstanding(factors, how.snr));
  for (Index view = 0; view < sinogram.rows && how.norm; ++view)
    for (Index bin = 0; bin < sinogram.columns; ++bin)
      if (const double factor = factors[bin]; factor != 0)
        sinogram(view, bin) = static_cast<float>(sinogram(view, bin) / factor);
  for (Index bin = 0; bin < sinogram.columns; ++bin) {
    if (!marks[bin]) continue;
    const auto first = columns.order.begin() + bin * sinogram.rows;
    if (how.norm && factors[bin] < 0) std::reverse(first, first + sinogram.rows);
    unsort(smooth, columns, bin, sinogram);
  }
  return std::ranges::count(marks, true);
}

namespace {

LargeStripes asked_large(const Preprocessing& how) {
  return {vo_large_snr.of(how.values).value_or(3), window_of(how, vo_large_size, 51),
          vo_large_drop_ratio.of(how.values).value_or(0.1), vo_large_norm.of(how.values).value_or(true)};
}

}  // namespace

Method large_method() {
  return {.name = "vo-large",
          .help = "divides columns by what sets them apart, and replaces wide stripes (Vo 5)",
          .options = {vo_large_snr, vo_large_size, vo_large_drop_ratio, vo_large_norm},
          .planes = 6,
          .begin = begin_with<asked_large, remove_large_stripes>,
          .on_gpu = [](const Preprocessing& how) { return on_gpu({.large = asked_large(how)}); },
          .gpu_bytes = [](const Preprocessing&, Shape shape) { return gpu_bytes(GpuColumns{}, shape); }};
}

}  // namespace tandem::pipeline::stripes
