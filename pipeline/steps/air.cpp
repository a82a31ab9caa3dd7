#include <algorithm>
#include <span>

#include "../../core/error.hpp"
#include "step.hpp"

namespace tandem::pipeline::step {

namespace {

using kernels::AirLine, kernels::AirSums;

/// The good cells of some air columns, and the variance of the logarithm of their mean.
struct Margin {
  AirSums sums;
  double variance;
};

Margin margin_of(const ViewRow& row, Range bins) {
  const std::span<const float> y = row.y, span = row.span();
  AirSums sums;
  double variance = 0;
  for (Index bin = bins.first; bin < bins.last; ++bin)
    if (const auto b = static_cast<std::size_t>(bin); span[b] > 0) {
      sums.add(y[b], bin);
      variance += std::max(0.0f, y[b]) / (span[b] * row.reference.photons_a_count);
    }
  require<FileError>(sums.sum > 0, "--air-columns: the mean of their ", sums.good,
                     " good cells is not above the dark in every view; choose columns that see no sample");
  return {sums, variance / (sums.sum * sums.sum)};
}

Index divide(ViewRow& row, const Margin& air) {
  const double mean = air.sums.mean();
  row.air = {mean, air.variance};
  for (float& y : row.y) y = static_cast<float>(y / mean);
  return 0;
}

/// By the line through the means of both margins, at the places of their cells. Between the margins the
/// variance of the line is (1 - t)^2 times that of the one and t^2 times that of the other, a third of both
/// on the average.
Index divide(ViewRow& row, const Margin& left, const Margin& right) {
  const AirLine line = line_through(left.sums, right.sums);
  const auto bins = static_cast<Index>(row.y.size());
  require<FileError>(line.at(0) > 0 && line.at(bins - 1) > 0,
                     "--air-columns: the line through both margins, ", left.sums.mean(), " and ",
                     right.sums.mean(),
                     ", is not above 0 at an end of the row; choose columns that see no sample");
  row.air = {0.5 * (left.sums.mean() + right.sums.mean()), (left.variance + right.variance) / 3};
  for (Index b = 0; b < bins; ++b) {
    float& y = row.y[static_cast<std::size_t>(b)];
    y = static_cast<float>(y / line.at(b));
  }
  return 0;
}

/// Air that is not above the dark is an error, which the CPU describes.
std::optional<Index> divide_on_gpu(GpuData& data, std::span<const Range> margins) {
  const Device gpu = data.stream.device();
  data.air.emplace(Space({data.y.n0, data.y.n1, 2}, Blocks::whole, gpu), data.stream);
  auto* means = reinterpret_cast<double*>(data.air->data());
  if (kernels::counts(gpu)->divide_by_air(data.how, margins, data.y, means, data.stream) > 0) return {};
  return 0;
}

}  // namespace

Step air() {
  return {.name = "air",
          .help = "each view is divided by its air columns, which takes the beam's drift away",
          .options = {{"--air-columns",
                       "air in every view: divide each view by the mean of these columns, or by the line "
                       "through the means of two ranges, after the flats if there are any (half open)",
                       Columns{}}},
          .on_gpu = [](const Preprocessing& how) -> GpuWork {
            if (how.air_bins.empty()) return {};
            return [margins = how.air_bins](GpuData& data) { return divide_on_gpu(data, margins); };
          },
          .on_row = [](const Preprocessing& how) -> RowWork {
            if (how.air_bins.empty()) return {};
            return [margins = how.air_bins](ViewRow& row) {
              const Margin first = margin_of(row, margins.front());
              return margins.size() == 1 ? divide(row, first)
                                         : divide(row, first, margin_of(row, margins.back()));
            };
          }};
}

}  // namespace tandem::pipeline::step
