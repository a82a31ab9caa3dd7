#include <cmath>

#include "../../../core/parallel.hpp"
#include "../../../kernels/spectra.hpp"
#include "columns.hpp"
#include "stripe_method.hpp"
#include "window.hpp"

namespace tandem::pipeline::stripes::method {

namespace {

/// Sorting of what changes slowly over the views alone; the rest stays.
void filter(Plane& sinogram, double sigma, Index size, bool squares) {
  const Index views = sinogram.rows, pad = std::min<Index>(150, views / 10), length = views + 2 * pad;
  const std::vector<double> gain = gaussian_gain(length, sigma);
  Plane columns = transposed(sinogram);
  parallel_for_blocks(columns.rows, 16, [&](Range some) {
    std::vector<float> line(static_cast<std::size_t>(length));
    for (Index bin = some.first; bin < some.last; ++bin) {
      float* column = columns.row(bin);
      for (Index k = 0; k < length; ++k)
        line[static_cast<std::size_t>(k)] = sign_of(k) * column[mirrored(k - pad, views)];
      kernels::multiply_spectra(line, 1, length, gain);
      for (Index view = 0; view < views; ++view)
        column[view] = sign_of(view + pad) * line[static_cast<std::size_t>(view + pad)];
    }
  });
  Plane slow = transposed(columns);
  for (std::size_t i = 0; i < slow.values.size(); ++i) sinogram.values[i] -= slow.values[i];
  smooth_sorted_columns(slow, {size, squares});
  for (std::size_t i = 0; i < slow.values.size(); ++i) sinogram.values[i] += slow.values[i];
}

}  // namespace

/// Vo's algorithm 2.
Method filtering() {
  return {
      .name = "vo-filtering",
      .help = "vo-sorting of what changes slowly over the views (Vo 2)",
      .options =
          {{"--vo-filtering-sigma",
            "vo-filtering: width of the low frequencies, in steps of one period over all views (default 3)",
            PositiveNumber{1e6}},
           window("--vo-filtering-size", "vo-filtering: bins of the median (default 21)"),
           {"--vo-filtering-dim", "vo-filtering: 1: median across columns; 2: also across ranks (default 1)",
            WholeNumber{1, 2}}},
      .planes = 7,
      .begin = [](const Preprocessing& how) -> Work {
        return [sigma = value_of<double>(how.values, "--vo-filtering-sigma").value_or(3),
                size = window_of(how, "--vo-filtering-size", 21),
                squares = value_of<Index>(how.values, "--vo-filtering-dim").value_or(1) == 2](
                   Plane& sinogram, Notes&) { filter(sinogram, sigma, size, squares); };
      }};
}

}  // namespace tandem::pipeline::stripes::method
