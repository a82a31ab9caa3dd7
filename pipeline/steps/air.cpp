#include <algorithm>

#include "../../core/error.hpp"
#include "step.hpp"

namespace tandem::pipeline::step {

namespace {

/// The mean of the good cells among the air columns.
Air air_of(const ViewRow& row, Range bins) {
  const std::span<const float> y = row.y, span = row.span();
  double sum = 0, variance = 0;
  Index good = 0;
  for (auto b = static_cast<std::size_t>(bins.first); b < static_cast<std::size_t>(bins.last); ++b)
    if (span[b] > 0)
      sum += y[b], variance += std::max(0.0f, y[b]) / (span[b] * row.reference.photons_a_count), ++good;
  require<FileError>(sum > 0, "--air-columns: the mean of their ", good,
                     " good cells is not above the dark in every view; choose columns that see no sample");
  return {sum / static_cast<double>(good), variance / (sum * sum)};
}

Index divide(ViewRow& row, Range bins) {
  row.air = air_of(row, bins);
  for (float& y : row.y) y = static_cast<float>(y / row.air.mean);
  return 0;
}

/// Air that is not above the dark is an error, which the CPU describes.
std::optional<Index> divide_on_gpu(GpuData& data, Range bins) {
  const Device gpu = data.stream.device();
  data.air.emplace(Space({data.y.n0, data.y.n1, 2}, Blocks::whole, gpu), data.stream);
  auto* means = reinterpret_cast<double*>(data.air->data());
  if (kernels::counts(gpu)->divide_by_air(data.how, bins, data.y, means, data.stream) > 0) return {};
  return 0;
}

}  // namespace

Step air() {
  return {.name = "air",
          .help = "each view is divided by the mean of its air columns, which takes the beam's drift away",
          .options = {{"--air-columns",
                       "air in every view: divide each view by the mean of these columns, after the flats if "
                       "there are any (half open)",
                       Columns{}}},
          .on_gpu = [](const Preprocessing& how) -> GpuWork {
            if (!how.air_bins) return {};
            return [bins = *how.air_bins](GpuData& data) { return divide_on_gpu(data, bins); };
          },
          .on_row = [](const Preprocessing& how) -> RowWork {
            if (!how.air_bins) return {};
            return [bins = *how.air_bins](ViewRow& row) { return divide(row, bins); };
          }};
}

}  // namespace tandem::pipeline::step
