#include <cmath>

#include "interpolate.hpp"
#include "step.hpp"

namespace tandem::pipeline {

namespace {

Index repair_row(ViewRow& row) {
  if (row.integers) return 0;
  const float* y = row.y.data();
  const auto bad = [y](Index b) { return !std::isfinite(y[b]); };
  const Index bins = row.y.size();
  Index count = 0;
  for (Index b = 0; b < bins; ++b) count += bad(b);
  if (count > 0) interpolate(row.y, bad);
  row.met.lost = row.met.lost || count == bins;
  return count;
}

}  // namespace

Step not_finite_step() {
  return {.name = "not-finite",
          .help = "pixels that are not finite are interpolated from their neighbours in the row",
          .before_binning = true,
          .of_cells = true,
          .in_pass = [](const kernels::CountsTally& met) { return met.repaired; },
          .on_row = [](const Preprocessing&) -> RowWork { return repair_row; }};
}

}  // namespace tandem::pipeline
