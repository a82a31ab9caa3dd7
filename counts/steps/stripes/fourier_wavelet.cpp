#include "fourier_wavelet.hpp"

#include <cmath>

#include "../../../core/error.hpp"
#include "../../../core/rounding.hpp"
#include "gpu/gpu_sinograms.hpp"
#include "stripe_method.hpp"

namespace tandem::pipeline::stripes {

namespace {

const Option<WholeNumber> fw_level{"fw:level", "levels; 2^levels is about the width of a stripe (default 4)",
                                   WholeNumber{1, 20}};
const Option<PositiveNumber> fw_sigma{
    "fw:sigma", "width of the damped frequencies over the views (default 1)", PositiveNumber{1e6}};
const Option<OneOf> fw_filter{"fw:filter", "wavelet (default sym16)", OneOf{wavelet_names()}};
const Option<TrueOrFalse> fw_pad{
    "fw:pad", "views of zeros before and behind, an eighth together (default true)", TrueOrFalse{}};

constexpr Index usual_levels = 4;

}  // namespace

/// The gains are exp(-k^2 / 2 sigma^2) over the frequencies k. tomopy counts these from -n/2 + 1/2, so they
/// lie half a step beside whole numbers if n is even, and takes the real part of what comes out: the mean of
/// the factors at k and -k.
kernels::Waves steady_waves(Index n, double sigma) {
  const auto factor = [&](Index k) {
    const double at = k + (n % 2 == 0 ? 0.5 : 0.0);
    return std::exp(-at * at / (2 * sigma * sigma));
  };
  std::vector<double> gain;
  for (Index k = 0; k <= n / 2; ++k) gain.push_back(2 * k == n ? factor(-k) : 0.5 * (factor(k) + factor(-k)));
  return waves_of(n, 0, gain, Zero::at_0);
}

/// As many as tomopy takes by itself.
void require_levels(const FourierWavelet& how, Index views, Index bins) {
  const double longest = std::max(views + how.zeros(views), bins);
  const Index most = std::max(usual_levels, ceil_index(std::log2(longest)));
  require<GeometryError>(how.levels <= most, words_of("fw:level="), how.levels, ": a sinogram of ", views,
                         " views and ", bins, " bins has at most ", most,
                         " levels; 2^levels is about the width of a stripe, give 3 to 5");
}

namespace {

/// The plane without the last row or column, if there is one more than there was.
Plane like(const Plane& plane, Index rows, Index columns) {
  Plane result(rows, columns);
  for (Index r = 0; r < rows; ++r) std::copy_n(plane.row(r), columns, result.row(r));
  return result;
}

Plane without_stripes(const Plane& plane, const FourierWavelet& how, Index level) {
  if (level == how.levels) return plane;
  Bands bands = analysed(plane, *how.wavelet);
  take_out(steady_waves(bands.low_high.rows, how.sigma), bands.low_high);
  bands.low_low = without_stripes(bands.low_low, how, level + 1);
  return like(synthesised(bands, *how.wavelet), plane.rows, plane.columns);
}

void damp_waves(Plane& sinogram, const FourierWavelet& how) {
  require_levels(how, sinogram.rows, sinogram.columns);
  const Index zeros = how.zeros(sinogram.rows), before = zeros / 2;
  Plane wide(sinogram.rows + zeros, sinogram.columns);
  std::ranges::copy(sinogram.values, wide.row(before));
  wide = without_stripes(wide, how, 0);
  std::copy_n(wide.row(before), sinogram.values.size(), sinogram.values.begin());
}

FourierWavelet asked_wavelet(const Preprocessing& how) {
  return {fw_level.of(how.values).value_or(usual_levels),
          &wavelet_named(fw_filter.of(how.values).value_or("sym16")), fw_sigma.of(how.values).value_or(1),
          fw_pad.of(how.values).value_or(true)};
}

Index rows_together(const FourierWavelet& how, Shape n) {
  return stripes::rows_together(n[1], gpu_bytes_a_row(how, n[0], n[2]));
}

}  // namespace

Method fourier_wavelet_method() {
  return {.name = "fw",
          .help = "damps what is constant over the views in wavelet bands (Muench)",
          .options = {fw_level, fw_sigma, fw_filter, fw_pad},
          .planes = 6,
          .begin = begin_with<asked_wavelet, damp_waves>,
          .on_gpu = [](const Preprocessing& how) -> GpuWork {
            return [own = asked_wavelet(how)](GpuData& data) {
              const Image<float>& y = data.y;
              require_levels(own, y.n0, y.n2);
              for_rows_together(y.n1, rows_together(own, {y.n0, y.n1, y.n2}),
                                [&](Range rows) { remove_on_gpu(sinograms_of(y, rows), own, data.stream); });
              return std::optional<Index>(0);
            };
          },
          .gpu_bytes =
              [](const Preprocessing& how, Shape n) {
                const FourierWavelet own = asked_wavelet(how);
                return gpu_bytes_a_row(own, n[0], n[2]) * rows_together(own, n);
              }};
}

}  // namespace tandem::pipeline::stripes
