#include <algorithm>
#include <utility>

#include "interpolate.hpp"
#include "step.hpp"

namespace tandem::pipeline {

namespace {

Index fill(ViewRow& row) {
  if (std::exchange(row.met.mended, true) || row.reference.dead == 0) return 0;
  return interpolate(row.y, [span = row.span()](Index b) { return span[b] == 0; });
}

std::optional<Index> fill_on_gpu(GpuData& data) {
  if (std::exchange(data.mended, true)) return 0;
  kernels::counts(data.stream.device())->fill(data.how.filled, data.y, data.stream);
  return data.views() * std::ranges::count_if(data.how.filled, [heeded = data.heeded()](const auto& cell) {
           return heeded.first <= cell.row && cell.row < heeded.last;
         });
}

}  // namespace

Step dead_cells_step() {
  return {.name = "dead-cells",
          .help = "cells whose flat is not above their dark are interpolated from their neighbours",
          .can_wait = true,
          .of_cells = true,
          .in_pass = [](const kernels::CountsTally& met) { return met.filled; },
          .on_gpu = [](const Preprocessing&) -> GpuWork { return fill_on_gpu; },
          .on_row = [](const Preprocessing&) -> RowWork { return fill; }};
}

}  // namespace tandem::pipeline
