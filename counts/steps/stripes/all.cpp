#include "columns.hpp"
#include "gpu/gpu_columns.hpp"
#include "stripe_method.hpp"

namespace tandem::pipeline::stripes {

namespace {

const Option<PositiveNumber> vo_all_snr{"vo-all:snr", "how far a column must stand out (default 3)",
                                        PositiveNumber{1e6}};
const Option<WholeNumber> vo_all_la_size =
    window("vo-all:la-size", "bins of the median for large stripes (default 61)", "size for large stripes");
const Option<WholeNumber> vo_all_sm_size =
    window("vo-all:sm-size", "bins of the median for small stripes (default 21)", "size for small stripes");
const Option<WholeNumber> vo_all_dim{
    "vo-all:dim", "1: median across columns; 2: also across ranks (default 1)", WholeNumber{1, 2}};

DeadStripes dead_of(const Preprocessing& how) {
  return {vo_all_snr.of(how.values).value_or(3), window_of(how, vo_all_la_size, 61), true};
}

Sorting sorting_of(const Preprocessing& how) {
  return {window_of(how, vo_all_sm_size, 21), vo_all_dim.of(how.values).value_or(1) == 2};
}

}  // namespace

/// Vo's algorithms 6, 5 and 3, one after the other.
Method all_method() {
  return {
      .name = "vo-all",
      .help = "vo-dead, vo-large and vo-sorting, for all kinds of stripes",
      .options = {vo_all_snr, vo_all_la_size, vo_all_sm_size, vo_all_dim},
      .planes = 6,
      .begin = [](const Preprocessing& how) -> Work {
        return [dead = dead_of(how), sorting = sorting_of(how)](Plane& sinogram, Notes&) {
          remove_dead_stripes(sinogram, dead);
          smooth_sorted_columns(sinogram, sorting);
        };
      },
      .on_gpu =
          [](const Preprocessing& how) { return on_gpu({.dead = dead_of(how), .sorting = sorting_of(how)}); },
      .gpu_bytes = [](const Preprocessing&, Shape shape) { return gpu_bytes(GpuColumns{}, shape); }};
}

}  // namespace tandem::pipeline::stripes
