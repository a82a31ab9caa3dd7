#include <algorithm>
#include <cmath>
#include <vector>

#include "../../kernels/logarithm.hpp"
#include "interpolate.hpp"
#include "step.hpp"

namespace tandem::pipeline {

const Option<Number> option::most_floored{
    "minus-log:floored",
    "percentage of transmissions that may lie below the floor of the logarithm, half a count (default 1)",
    Number{0, 100, "%"}};
const Option<TrueOrFalse> option::minus_log{
    "minus-log",
    "default true; false: the data are line integrals already; flats and darks are still "
    "applied where there are any",
    TrueOrFalse{},
    {most_floored}};

namespace {

/// The floors of a row that was divided by its air; -inf in dead cells.
std::vector<float> floors_beside_air(const ViewRow& row) {
  const Reference& reference = row.reference;
  const bool counts = reference.flats ? reference.counts[row.row] != 0 : row.air.mean > counts_begin;
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
  interpolate(own, [&own](Index b) { return !(own[b] > 0); });
  return own;
}

/// Notes the variances of line integrals, and perhaps the sum of all that count. Dead cells have none.
template <class VarianceOf>
void note_variances(ViewRow& row, bool noise, const VarianceOf& variance_of) {
  if (row.met.filled) return;
  double sum = 0;
  for (Index bin = row.counted.first; noise && bin < row.counted.last; ++bin)
    if (row.span()[bin] != 0) sum += variance_of(bin);
  row.met.variance += sum;
  for (Index bin = 0; bin < std::ssize(row.variance); ++bin)
    if (row.span()[bin] != 0) row.variance[bin] = static_cast<float>(variance_of(bin));
}

/// The variance of one line integral. @pre its cell is not dead
double variance_of(const ViewRow& row, std::span<const float> floors, Index b) {
  const bool had_scatter = !row.variance.empty() && std::isfinite(row.variance[b]);
  const float counts_for_each = had_scatter ? row.variance[b] : 1;
  return kernels::variance_of_log(std::max(row.y[b], floors[b]) / counts_for_each, row.span()[b],
                                  row.flat.variance[b], row.air, row.reference.photons_a_count);
}

Index take_logarithm(ViewRow& row, bool noise) {
  const std::vector<float> own = own_floors(row);
  const std::span<const float> floors = own.empty() ? row.flat.floor : own;
  row.met.floor.add(own.empty() ? row.flat.floor_range : range_of(floors));
  note_variances(row, noise, [&](Index b) { return variance_of(row, floors, b); });
  return kernels::take_logarithms(row.y, floors);
}

void note_variances_on_gpu(GpuData& data, const Air* air, bool noise) {
  if (noise || data.variances.data)
    data.noise = kernels::counts(data.stream.device())
                     ->variances(data.how, air, data.counted, data.y, data.variances, data.stream);
}

std::optional<Index> take_logarithms_on_gpu(GpuData& data, bool noise) {
  const kernels::CountsKernels& kernels = *kernels::counts(data.stream.device());
  const auto* air = data.air ? reinterpret_cast<const Air*>(data.air->data()) : nullptr;
  note_variances_on_gpu(data, air, noise);
  const kernels::CountsTally met = kernels.logarithms(data.how, air, data.mended, data.y, data.stream);
  data.met.lowest_floor = met.lowest_floor, data.met.highest_floor = met.highest_floor;
  return met.floored;
}

}  // namespace

Step minus_log_step() {
  return {.name = "minus-log",
          .help = "line integrals, -log(transmission); a transmission below half a count is raised to it",
          .options = {option::minus_log},
          .in_pass = [](const kernels::CountsTally& met) { return met.floored; },
          .on_gpu = [](const Preprocessing& how) -> GpuWork {
            return [noise = how.noise](GpuData& data) { return take_logarithms_on_gpu(data, noise); };
          },
          .on_row = [](const Preprocessing& how) -> RowWork {
            if (!how.minus_log || how.keeps_transmissions) return {};
            return [noise = how.noise](ViewRow& row) { return take_logarithm(row, noise); };
          }};
}

/// Data that are line integrals already stay as they are: their photons in air tell their noise.
Step photons_step() {
  return {.name = "photons",
          .help = "the noise of line integrals, of which {photons} says how many photons they had in air",
          .on_gpu = [](const Preprocessing& how) -> GpuWork {
            return [noise = how.noise](GpuData& data) {
              note_variances_on_gpu(data, nullptr, noise);
              return std::optional<Index>(0);
            };
          },
          .on_row = [](const Preprocessing& how) -> RowWork {
            if (how.minus_log || how.photons == 0) return {};
            return [photons = how.photons, noise = how.noise](ViewRow& row) {
              note_variances(row, noise, [&](Index b) {
                return kernels::variance_of_line(row.y[b], photons, row.reference.photons_a_count);
              });
              return Index{0};
            };
          }};
}

}  // namespace tandem::pipeline
