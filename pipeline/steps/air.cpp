#include <algorithm>
#include <span>

#include "../../core/error.hpp"
#include "step.hpp"

namespace tandem::pipeline::step {

namespace {

/// The good cells of some air columns: their mean, the variance of its logarithm, and where they lie.
struct Margin {
  double mean, variance, place;
};

Margin margin_of(const ViewRow& row, Range bins) {
  const std::span<const float> y = row.y, span = row.span();
  double sum = 0, variance = 0, places = 0;
  Index good = 0;
  for (Index bin = bins.first; bin < bins.last; ++bin)
    if (const auto b = static_cast<std::size_t>(bin); span[b] > 0) {
      sum += y[b], variance += std::max(0.0f, y[b]) / (span[b] * row.reference.photons_a_count), ++good;
      places += static_cast<double>(bin);
    }
  require<FileError>(sum > 0, "--air-columns: the mean of their ", good,
                     " good cells is not above the dark in every view; choose columns that see no sample");
  const auto count = static_cast<double>(good);
  return {sum / count, variance / (sum * sum), places / count};
}

Index divide(ViewRow& row, const Margin& air) {
  row.air = {air.mean, air.variance};
  for (float& y : row.y) y = static_cast<float>(y / air.mean);
  return 0;
}

/// By the line through the means of both margins, at the places of their cells. Between the margins the
/// variance of the line is (1 - t)^2 times that of the one and t^2 times that of the other, a third of both
/// on the average.
Index divide(ViewRow& row, const Margin& left, const Margin& right) {
  const double slope = (right.mean - left.mean) / (right.place - left.place);
  const auto line = [&](std::size_t b) { return left.mean + slope * (static_cast<double>(b) - left.place); };
  require<FileError>(line(0) > 0 && line(row.y.size() - 1) > 0,
                     "--air-columns: the line through both margins, ", left.mean, " and ", right.mean,
                     ", is not above 0 at an end of the row; choose columns that see no sample");
  row.air = {0.5 * (left.mean + right.mean), (left.variance + right.variance) / 3};
  for (std::size_t b = 0; b < row.y.size(); ++b) row.y[b] = static_cast<float>(row.y[b] / line(b));
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
          .help = "each view is divided by its air columns, which takes the beam's drift away",
          .options = {{"--air-columns",
                       "air in every view: divide each view by the mean of these columns, or by the line "
                       "through the means of two ranges, after the flats if there are any (half open)",
                       Columns{}}},
          .on_gpu = [](const Preprocessing& how) -> GpuWork {
            if (how.air_bins.size() != 1) return {};
            return [bins = how.air_bins.front()](GpuData& data) { return divide_on_gpu(data, bins); };
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
