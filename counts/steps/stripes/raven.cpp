#include <cmath>

#include "../../../kernels/image_filter.hpp"
#include "../../../kernels/spectra.hpp"
#include "stripe_method.hpp"

namespace tandem::pipeline::stripes {

namespace {

const Option<PositiveNumber> raven_uvalue{"raven:uvalue",
                                          "frequency along the row from which on it is damped (default 20)",
                                          PositiveNumber{1e6},
                                          {},
                                          "frequency along the row"};
const Option<PositiveNumber> raven_nvalue{
    "raven:nvalue", "order of the Butterworth filter (default 4)", PositiveNumber{100}, {}, "order"};
const Option<PositiveNumber> raven_vvalue{"raven:vvalue",
                                          "highest frequency over the views that is damped (default 2)",
                                          PositiveNumber{1e6},
                                          {},
                                          "frequency over views"};

struct Raven {
  double u0, order, v0;
};

constexpr Index pad = 20;

std::vector<double> gain_of(const Raven& how, Index rows, Index columns) {
  std::vector<double> gain;
  for (Index r = 0; r < rows; ++r)
    for (Index u = 0; u <= columns / 2; ++u) {
      const bool low = std::min(r, rows - r) <= how.v0;
      gain.push_back(low ? 1 / (1 + std::pow(u / how.u0, 2 * how.order)) : 1.0);
    }
  return gain;
}

void damp_rows(Plane& sinogram, const Raven& how) {
  Plane wide = padded(sinogram, pad, pad, nearest);
  kernels::multiply_spectra(wide.values, wide.rows, wide.columns, gain_of(how, wide.rows, wide.columns));
  sinogram = cropped(wide, pad, pad);
}

/// Sinograms as images of views x bins.
std::optional<Index> remove_on_gpu(GpuData& data, const Raven& how) {
  const Image<float>& y = data.y;
  const Image<float> sinograms{y.data, y.n1, y.n0, y.n2, y.s1, y.s0};
  kernels::ImageFilter filter{y.n0 + 2 * pad, y.n2 + 2 * pad};
  const std::vector<double> gain = gain_of(how, filter.rows, filter.bins);
  filter.response.assign(gain.begin(), gain.end());
  kernels::image_filters(data.stream.device())
      ->filter_frames(filter, {0, y.n0, 1, pad, pad}, {0, y.n0}, sinograms, data.stream);
  return 0;
}

Raven asked_raven(const Preprocessing& how) {
  return {raven_uvalue.of(how.values).value_or(20), raven_nvalue.of(how.values).value_or(4),
          raven_vvalue.of(how.values).value_or(2)};
}

}  // namespace

/// C. Raven, Review of Scientific Instruments 69, 2978 (1998).
Method raven_method() {
  return {.name = "raven",
          .help = "damps high frequencies along rows where those over the views are near 0 (Raven)",
          .options = {raven_uvalue, raven_nvalue, raven_vvalue},
          .planes = 5,
          .begin = begin_with<asked_raven, damp_rows>,
          .on_gpu = [](const Preprocessing& how) -> GpuWork {
            return [own = asked_raven(how)](GpuData& data) { return remove_on_gpu(data, own); };
          },
          .gpu_bytes =
              [](const Preprocessing&, Shape shape) {
                // numbers of views and bins that are no products of small primes take more
                return 4 * kernels::FilterBatch(shape[0] + 2 * pad, shape[2] + 2 * pad, 1).bytes();
              }};
}

}  // namespace tandem::pipeline::stripes
