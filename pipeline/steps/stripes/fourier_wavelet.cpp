#include <cmath>

#include "../../../core/error.hpp"
#include "../../../core/parallel.hpp"
#include "../../../kernels/spectra.hpp"
#include "stripe_method.hpp"
#include "wavelets.hpp"

namespace tandem::pipeline::stripes::method {

namespace {

constexpr Index usual_levels = 4;

struct FourierWavelet {
  Index levels;
  const Wavelet* wavelet;
  double sigma;
  bool pad;
};

/// 1 - exp(-k^2 / 2 sigma^2) over the frequencies k of n views. tomopy counts them from -n/2 + 1/2, so they
/// lie half a step beside whole numbers if n is even, and takes the real part of what comes out: the mean of
/// the factors at k and -k.
std::vector<double> damping(Index n, double sigma) {
  const auto factor = [&](Index k) {
    const double at = static_cast<double>(k) + (n % 2 == 0 ? 0.5 : 0.0);
    return -std::expm1(-at * at / (2 * sigma * sigma));
  };
  std::vector<double> gain;
  for (Index k = 0; k <= n / 2; ++k)
    gain.push_back(2 * k == n ? factor(-k) : 0.5 * (factor(k) + factor(k == 0 ? 0 : -k)));
  return gain;
}

/// Takes what does not change over the views out of a band.
void damp(Plane& band, double sigma) {
  Plane columns = transposed(band);
  const std::vector<double> gain = damping(band.rows, sigma);
  parallel_for_blocks(columns.rows, 16, [&](Range some) {
    const auto first = static_cast<std::size_t>(some.first * columns.columns);
    kernels::multiply_spectra(
        {&columns.values[first], static_cast<std::size_t>(some.size() * columns.columns)}, 1, columns.columns,
        gain);
  });
  band = transposed(columns);
}

/// Without the last row or column, if there is one more than there was.
Plane like(const Plane& plane, Index rows, Index columns) {
  Plane result(rows, columns);
  for (Index r = 0; r < rows; ++r) std::copy_n(plane.row(r), columns, result.row(r));
  return result;
}

Plane without_stripes(const Plane& plane, const FourierWavelet& how, Index level) {
  if (level == how.levels) return plane;
  Bands bands = analysed(plane, *how.wavelet);
  damp(bands.low_high, how.sigma);
  bands.low_low = without_stripes(bands.low_low, how, level + 1);
  return like(synthesised(bands, *how.wavelet), plane.rows, plane.columns);
}

void remove(Plane& sinogram, const FourierWavelet& how) {
  const Index zeros = how.pad ? sinogram.rows / 8 : 0, before = zeros / 2;
  const auto longest = static_cast<double>(std::max(sinogram.rows + zeros, sinogram.columns));
  // what tomopy takes by itself
  const Index most = std::max(usual_levels, static_cast<Index>(std::ceil(std::log2(longest))));
  require<GeometryError>(how.levels <= most, "--fw-level ", how.levels, ": a sinogram of ", sinogram.rows,
                         " views and ", sinogram.columns, " bins has at most ", most,
                         " levels; 2^levels is about the width of a stripe, give 3 to 5");
  Plane wide(sinogram.rows + zeros, sinogram.columns);
  std::ranges::copy(sinogram.values, wide.row(before));
  wide = without_stripes(wide, how, 0);
  std::copy_n(wide.row(before), sinogram.values.size(), sinogram.values.begin());
}

}  // namespace

/// B. Münch, P. Trtik, F. Marone, M. Stampanoni, Optics Express 17, 8567 (2009), as tomopy has it.
Method fourier_wavelet() {
  return {.name = "fw",
          .help = "damps what is constant over the views in wavelet bands (Muench)",
          .options = {{"--fw-level", "fw: levels; 2^levels is about the width of a stripe (default 4)",
                       WholeNumber{1, 20}},
                      {"--fw-sigma", "fw: width of the damped frequencies over the views (default 1)",
                       PositiveNumber{1e6}},
                      {"--fw-filter", "fw: wavelet (default sym16)", OneOf{wavelet_names()}},
                      {"--fw-pad", "fw: views of zeros before and behind, an eighth together (default true)",
                       TrueOrFalse{}}},
          .planes = 6,
          .begin = [](const Preprocessing& how) -> Work {
            const FourierWavelet own{
                value_of<Index>(how.values, "--fw-level").value_or(usual_levels),
                &wavelet_named(value_of<std::string>(how.values, "--fw-filter").value_or("sym16")),
                value_of<double>(how.values, "--fw-sigma").value_or(1),
                value_of<bool>(how.values, "--fw-pad").value_or(true)};
            return [own](Plane& sinogram, Notes&) { remove(sinogram, own); };
          }};
}

}  // namespace tandem::pipeline::stripes::method
