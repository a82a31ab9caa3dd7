#include "columns.hpp"
#include "gpu/gpu_columns.hpp"
#include "stripe_method.hpp"

namespace tandem::pipeline::stripes {

namespace {

const Option<WholeNumber> vo_sorting_size = window("vo-sorting:size", "bins of the median (default 21)");
const Option<WholeNumber> vo_sorting_dim{
    "vo-sorting:dim", "1: median across columns; 2: also across ranks (default 1)", WholeNumber{1, 2}};

Sorting asked_sorting(const Preprocessing& how) {
  return {window_of(how, vo_sorting_size, 21), vo_sorting_dim.of(how.values).value_or(1) == 2};
}

}  // namespace

/// Vo's algorithm 3.
Method sorting_method() {
  return {.name = "vo-sorting",
          .help = "sorts each column, takes medians across columns, and puts the values back (Vo 3)",
          .options = {vo_sorting_size, vo_sorting_dim},
          .planes = 6,
          .begin = begin_with<asked_sorting, smooth_sorted_columns>,
          .on_gpu = [](const Preprocessing& how) { return on_gpu({.sorting = asked_sorting(how)}); },
          .gpu_bytes = [](const Preprocessing&, Shape shape) { return gpu_bytes(GpuColumns{}, shape); }};
}

}  // namespace tandem::pipeline::stripes
