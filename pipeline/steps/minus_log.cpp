#include <algorithm>
#include <cmath>
#include <vector>

#include "../../kernels/logarithm.hpp"
#include "interpolate.hpp"
#include "step.hpp"

namespace tandem::pipeline::step {

namespace {

/// The floors of a row that was divided by its air; -inf in dead cells.
std::vector<float> floors_beside_air(const ViewRow& row) {
  const Reference& reference = row.reference;
  const bool counts = reference.flats ? reference.counts[static_cast<std::size_t>(row.row)] != 0
                                      : row.air.mean > counts_begin;
  std::vector<float> floors(row.y.size(), -INFINITY);
  for (std::size_t b = 0; b < floors.size(); ++b)
    if (const float span = row.span()[b]; span != 0)
      floors[b] = transmission_floor(span, row.air.mean, counts);
  return floors;
}

/// The floors of a row; empty if they are those of the reference. Dead cells that have values already have
/// floors like their neighbours.
std::vector<float> own_floors(const ViewRow& row) {
  std::vector<float> own;
  if (row.air.mean != 1) own = floors_beside_air(row);
  if (!row.met.mended || row.reference.dead == 0) return own;
  if (own.empty()) own.assign(row.flat.floor.begin(), row.flat.floor.end());
  interpolate(own, [&own](Index b) { return !(own[static_cast<std::size_t>(b)] > 0); });
  return own;
}

/// The variance of the line integrals that count: 1 / photons of the datum, of its flats and of its air.
double variance_of(const ViewRow& row, std::span<const float> floors) {
  const auto span = row.span(), flat_variance = row.flat.variance;
  double variance = 0;
  for (auto b = static_cast<std::size_t>(row.counted.first); b < static_cast<std::size_t>(row.counted.last);
       ++b)
    if (span[b] != 0) {
      const double one_count = 1 / (span[b] * row.air.mean);  // as a transmission
      variance += one_count / (std::max(row.y[b], floors[b]) * row.reference.photons_a_count) +
                  flat_variance[b] + row.air.variance;
    }
  return variance;
}

template <bool noise>
Index take_logarithm(ViewRow& row) {
  const std::vector<float> own = own_floors(row);
  const std::span<const float> floors = own.empty() ? row.flat.floor : own;
  row.met.floor.add(own.empty() ? row.flat.floor_range : range_of(floors));
  if (noise && !row.met.filled) row.met.variance += variance_of(row, floors);
  return kernels::take_logarithms(row.y, floors);
}

}  // namespace

Step minus_log() {
  return {.name = "minus-log",
          .help = "line integrals, -log(transmission); a transmission below half a count is raised to it",
          .options = {{"--minus-log",
                       "default true; false: the data are line integrals already; flats and darks are still "
                       "applied where there are any",
                       TrueOrFalse{}}},
          .on_gpu = [](const kernels::CountsTally& met) { return met.floored; },
          .on_row = [](const Preprocessing& how) -> RowWork {
            if (!how.minus_log) return {};
            return how.noise ? take_logarithm<true> : take_logarithm<false>;
          }};
}

}  // namespace tandem::pipeline::step
