#include <algorithm>
#include <cmath>

#include "step.hpp"

namespace tandem::pipeline::step {

namespace {

/// The floor of transmissions that are no counts any more.
constexpr float least_transmission = 1e-6f;

/// Adds up the variance of the line integrals: 1 / photons of the datum, of its flats and of its air.
template <bool noise>
Index take_logarithm(ViewRow& row) {
  const Reference& reference = row.reference;
  const bool counts = reference.flats ? reference.counts[static_cast<std::size_t>(row.row)] != 0
                                      : row.air.mean > counts_begin;
  const auto span = row.span(), flat_variance = row.flat_variance();
  const std::span<float> y = row.y;
  RowFindings met = row.met;
  Index raised = 0;
  for (std::size_t b = 0; b < y.size(); ++b) {
    if (span[b] == 0) continue;
    const double one_count = 1 / (span[b] * row.air.mean);  // as a transmission
    const float floor = counts ? static_cast<float>(0.5 * one_count) : least_transmission;
    met.lowest_floor = std::min(met.lowest_floor, floor);
    met.highest_floor = std::max(met.highest_floor, floor);
    raised += y[b] < floor;
    y[b] = std::max(y[b], floor);
    if (const auto bin = static_cast<Index>(b); noise && row.counted.first <= bin && bin < row.counted.last)
      met.variance += one_count / (y[b] * reference.photons_a_count) + flat_variance[b] + row.air.variance;
    y[b] = -std::log(y[b]);
  }
  row.met = met;
  return raised;
}

}  // namespace

Step minus_log() {
  return {.name = "minus-log",
          .help = "line integrals, -log(transmission); a transmission below half a count is raised to it",
          .options = {{"--minus-log",
                       "default true; false: the data are line integrals already; flats and darks are still "
                       "applied where there are any",
                       TrueOrFalse{}}},
          .on_row = [](const Preprocessing& how) -> RowWork {
            if (!how.minus_log) return {};
            return how.noise ? take_logarithm<true> : take_logarithm<false>;
          }};
}

}  // namespace tandem::pipeline::step
