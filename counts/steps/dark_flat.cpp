#include "step.hpp"

namespace tandem::pipeline {

namespace {
const OneOf of_methods{{"mean", "median", "trimmed"}};
}

const Option<OneOf> option::flat_method{"flat-method", "how the flats of a set become one (default mean)",
                                        of_methods};
const Option<OneOf> option::dark_method{"dark-method", "how the darks become one (default mean)", of_methods};
const Option<OneOf> option::flat_sets{
    "flat-sets",
    "flats of several sets: interpolated in time for each view, those nearest in time, "
    "each for its own view, of which there must be as many, or all flats together "
    "(default linear where the scan tells the times, else together)",
    OneOf{{"linear", "nearest", "each", "together"}}};
const Option<TrueOrFalse> option::normalize_monitor{
    "normalize-monitor",
    "default false; true: views and flats are divided by the monitor counts or the ring current of the file",
    TrueOrFalse{}};

namespace {

Index normalise(ViewRow& row) {
  const auto dark = row.dark(), span = row.span();
  for (std::size_t b = 0; b < row.y.size(); ++b) row.y[b] = kernels::transmission(row.y[b], dark[b], span[b]);
  return 0;
}

}  // namespace

Step dark_flat_step() {
  return {.name = "dark-flat",
          .help = "transmission, (counts - dark) / (flat - dark)",
          .options = {option::flat_method, option::dark_method, option::flat_sets, option::normalize_monitor},
          .of_cells = true,
          .in_pass = [](const kernels::CountsTally&) { return Index{0}; },
          .on_row = [](const Preprocessing&) -> RowWork { return normalise; }};
}

}  // namespace tandem::pipeline
