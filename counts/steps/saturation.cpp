#include <cmath>

#include "step.hpp"

namespace tandem::pipeline {

const Option<PositiveNumber> option::saturation{
    "saturation",
    "counts of a pixel that is full, or more (default: the largest number of the type of integer data)",
    PositiveNumber{4.3e9, "counts"}};

namespace {

Index count(const ViewRow& row, float level) {
  Index saturated = 0;
  for (const float y : row.y) saturated += y >= level;
  return saturated;
}

}  // namespace

Step saturation_step() {
  return {.name = "saturation",
          .help = "counts pixels at the largest number of their type, or at {saturation}",
          .options = {option::saturation},
          .before_binning = true,
          .of_cells = true,
          .only_counts = true,
          .in_pass = [](const kernels::CountsTally& met) { return met.saturated; },
          .on_row = [](const Preprocessing& how) -> RowWork {
            if (const auto level = option::saturation.of(how.values))
              return [level = static_cast<float>(*level)](ViewRow& row) { return count(row, level); };
            return [](ViewRow& row) { return std::isfinite(row.most) ? count(row, row.most) : 0; };
          }};
}

}  // namespace tandem::pipeline
