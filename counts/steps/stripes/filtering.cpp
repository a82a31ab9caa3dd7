#include "columns.hpp"
#include "gpu/gpu_columns.hpp"
#include "slow.hpp"
#include "stripe_method.hpp"
#include "window.hpp"

namespace tandem::pipeline::stripes {

kernels::Waves slow_waves(Index views, double sigma) {
  const Index beside = std::min<Index>(150, views / 10), length = views + 2 * beside;
  return waves_of(length, beside, gaussian_gain(length, sigma), Zero::at_half);
}

namespace {

const Option<PositiveNumber> vo_filtering_sigma{
    "vo-filtering:sigma", "width of the low frequencies, in steps of one period over all views (default 3)",
    PositiveNumber{1e6}};
const Option<WholeNumber> vo_filtering_size = window("vo-filtering:size", "bins of the median (default 21)");
const Option<WholeNumber> vo_filtering_dim{
    "vo-filtering:dim", "1: median across columns; 2: also across ranks (default 1)", WholeNumber{1, 2}};

struct Filtering {
  double sigma;
  Sorting sorting;
};

/// Sorts only what changes slowly over the views; the rest stays.
void filter_columns(Plane& sinogram, const Filtering& how) {
  Plane slow = take_out(slow_waves(sinogram.rows, how.sigma), sinogram);
  smooth_sorted_columns(slow, how.sorting);
  for (std::size_t i = 0; i < slow.values.size(); ++i) sinogram.values[i] += slow.values[i];
}

Filtering asked_filtering(const Preprocessing& how) {
  return {vo_filtering_sigma.of(how.values).value_or(3),
          {window_of(how, vo_filtering_size, 21), vo_filtering_dim.of(how.values).value_or(1) == 2}};
}

GpuColumns on_columns(const Filtering& how) { return {.slow_sigma = how.sigma, .sorting = how.sorting}; }

}  // namespace

/// Vo's algorithm 2.
Method filtering_method() {
  return {.name = "vo-filtering",
          .help = "vo-sorting of what changes slowly over the views (Vo 2)",
          .options = {vo_filtering_sigma, vo_filtering_size, vo_filtering_dim},
          .planes = 7,
          .begin = begin_with<asked_filtering, filter_columns>,
          .on_gpu = [](const Preprocessing& how) { return on_gpu(on_columns(asked_filtering(how))); },
          .gpu_bytes = [](const Preprocessing& how,
                          Shape shape) { return gpu_bytes(on_columns(asked_filtering(how)), shape); }};
}

}  // namespace tandem::pipeline::stripes
