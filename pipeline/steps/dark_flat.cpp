#include "step.hpp"

namespace tandem::pipeline::step {

namespace {

/// Of a dead cell, whose span is 0, this makes anything: `dead_cells` replaces it.
Index normalise(ViewRow& row) {
  const auto dark = row.dark(), span = row.span();
  for (std::size_t b = 0; b < row.y.size(); ++b) row.y[b] = (row.y[b] - dark[b]) / span[b];
  return 0;
}

}  // namespace

Step dark_flat() {
  return {.name = "dark-flat",
          .help = "transmission, (counts - dark) / (flat - dark)",
          .on_row = [](const Preprocessing&) -> RowWork { return normalise; }};
}

}  // namespace tandem::pipeline::step
