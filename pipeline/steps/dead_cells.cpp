#include <utility>

#include "interpolate.hpp"
#include "step.hpp"

namespace tandem::pipeline::step {

namespace {

Index fill(ViewRow& row) {
  if (std::exchange(row.met.mended, true) || row.reference.dead == 0) return 0;
  return interpolate(row.y, [span = row.span()](Index b) { return span[static_cast<std::size_t>(b)] == 0; });
}

}  // namespace

Step dead_cells() {
  return {.name = "dead-cells",
          .help = "cells whose flat is not above their dark are interpolated from their neighbours",
          .can_wait = true,
          .on_gpu = [](const kernels::CountsTally& met) { return met.filled; },
          .on_row = [](const Preprocessing&) -> RowWork { return fill; }};
}

}  // namespace tandem::pipeline::step
