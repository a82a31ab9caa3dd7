#include <span>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "step.hpp"

namespace tandem::pipeline {

const Option<Columns> option::air_columns{
    "air-columns",
    "air in every view: divide each view by the mean of these columns, or by the line "
    "through the means of two ranges, after the flats if there are any (half open); from line integrals it "
    "is taken away",
    Columns{}};

namespace {

using kernels::AirLine, kernels::AirSums;

AirSums sums_of(const ViewRow& row, Range bins) {
  const std::span<const float> y = row.y, span = row.span();
  AirSums sums;
  for (Index bin = bins.first; bin < bins.last; ++bin)
    if (const auto b = static_cast<std::size_t>(bin); span[b] > 0)
      sums.add(y[b], bin, span[b] * row.reference.photons_a_count);
  return sums;
}

AirSums above_zero_sums_of(const ViewRow& row, Range bins) {
  AirSums sums = sums_of(row, bins);
  require<FileError>(sums.sum > 0, spelled("air-columns") + ": the mean of their ", sums.good,
                     " good cells is not above the dark in every view; choose columns that see no sample");
  return sums;
}

Index divide(ViewRow& row, const AirSums& only) {
  row.air = air_of(only);
  for (float& y : row.y) y = static_cast<float>(y / row.air.mean);
  return 0;
}

/// Divides by the line through the means of both margins, at the places of their cells.
Index divide(ViewRow& row, const AirSums& left, const AirSums& right) {
  const AirLine line = line_through(left, right);
  const Index bins = row.y.size();
  require<FileError>(line.at(0) > 0 && line.at(bins - 1) > 0,
                     spelled("air-columns") + ": the line through both margins, ", left.mean(), " and ",
                     right.mean(),
                     ", is not above 0 at an end of the row; choose columns that see no sample");
  row.air = air_of(left, right);
  for (Index b = 0; b < bins; ++b) {
    float& y = row.y[b];
    y = static_cast<float>(y / line.at(b));
  }
  return 0;
}

/// Takes the level of air from line integrals, which is a straight line if there are two margins.
Index subtract(ViewRow& row, std::span<const Range> margins) {
  const AirSums first = sums_of(row, margins.front()), last = sums_of(row, margins.back());
  require<FileError>(first.good > 0 && last.good > 0,
                     spelled("air-columns") + ": no cell of them is good; choose others");
  const Index bins = row.y.size();
  const bool one = margins.size() == 1;
  const AirLine line = line_through(first, one ? first : last);
  for (Index b = 0; b < bins; ++b) row.y[b] -= static_cast<float>(one ? first.mean() : line.at(b));
  return 0;
}

/// Air that is not above the dark is an error, which the CPU describes.
std::optional<Index> divide_on_gpu(GpuData& data, std::span<const Range> margins) {
  const Device gpu = data.stream.device();
  constexpr Index floats = sizeof(Air) / sizeof(float);
  data.air.emplace(Space({data.y.n0, data.y.n1, floats}, Blocks::whole, gpu), data.stream);
  auto* air = reinterpret_cast<Air*>(data.air->data());
  if (kernels::counts(gpu)->divide_by_air(data.how, margins, data.y, air, data.stream) > 0) return {};
  return 0;
}

}  // namespace

Step air_step() {
  return {.name = "air",
          .help = "each view is divided by its air columns, which takes the beam's drift away",
          .options = {option::air_columns},
          .on_gpu = [](const Preprocessing& how) -> GpuWork {
            if (how.air_bins.empty()) return {};
            if (!how.minus_log) return [](GpuData&) { return std::optional<Index>(); };  // the CPU subtracts
            return [margins = how.air_bins](GpuData& data) { return divide_on_gpu(data, margins); };
          },
          .on_row = [](const Preprocessing& how) -> RowWork {
            if (how.air_bins.empty()) return {};
            if (!how.minus_log)
              return [margins = how.air_bins](ViewRow& row) { return subtract(row, margins); };
            return [margins = how.air_bins](ViewRow& row) {
              const AirSums first = above_zero_sums_of(row, margins.front());
              return margins.size() == 1 ? divide(row, first)
                                         : divide(row, first, above_zero_sums_of(row, margins.back()));
            };
          }};
}

}  // namespace tandem::pipeline
