#include "fitting.hpp"

#include <cmath>
#include <numbers>
#include <numeric>

#include "../../../core/parallel.hpp"
#include "../../../kernels/fits.hpp"
#include "../../../kernels/spectra.hpp"
#include "columns.hpp"
#include "stripe_method.hpp"
#include "window.hpp"

namespace tandem::pipeline::stripes {

namespace {

const Option<WholeNumber> vo_fitting_order{"vo-fitting:order", "of the polynomial (default 3)",
                                           WholeNumber{0, 20}};
const Option<PositiveNumber> vo_fitting_sigmax{"vo-fitting:sigmax",
                                               "width of the low frequencies across columns (default 5)",
                                               PositiveNumber{1e6},
                                               {},
                                               "sigma across columns"};
const Option<PositiveNumber> vo_fitting_sigmay{
    "vo-fitting:sigmay", "the same over the views (default 20)", PositiveNumber{1e6}, {}, "sigma over views"};

/// The weights of 2 `half` + 1 points of a line, for the value in the middle of the polynomial of that order
/// that fits them best, from the middle on (Savitzky and Golay). By polynomials that are orthogonal on the
/// points, p_(k+1)(x) = x p_k(x) - b_k p_(k-1)(x).
std::vector<double> fit_weights(Index half, Index order) {
  const Index count = 2 * half + 1;
  std::vector<double> before(count, 0.0), now(count, 1.0), weights(half + 1, 0.0);
  double last = 1;
  for (Index k = 0; k <= std::min(order, 2 * half); ++k) {
    const double size = std::inner_product(now.begin(), now.end(), now.begin(), 0.0);
    const std::size_t middle = half;
    for (std::size_t j = 0; j < weights.size(); ++j) weights[j] += now[middle] * now[middle + j] / size;
    const double b = k == 0 ? 0 : size / last;
    for (Index i = 0; i < count; ++i) {
      const double x = i - half, next = x * now[i] - b * before[i];
      before[i] = std::exchange(now[i], next);
    }
    last = size;
  }
  return weights;
}

}  // namespace

std::vector<double> fit_gain(Index views, Index order) {
  const Index period = 2 * (views - 1);
  const std::vector<double> weights = fit_weights((views - 1) / 2, order);
  std::vector<double> cosines, gain;
  for (Index k = 0; k < period; ++k) cosines.push_back(std::cos(2 * std::numbers::pi * k / period));
  for (Index k = 0; k <= period / 2; ++k) {
    double sum = weights[0];
    for (std::size_t j = 1; j < weights.size(); ++j) sum += 2 * weights[j] * cosines[k * j % period];
    gain.push_back(sum);
  }
  return gain;
}

Index fit_margin(Index views) { return std::min<Index>(150, views / 10); }

namespace {

/// Each column as the polynomial through nearly all views around each view. Columns go on as in a mirror,
/// so the fit is a filter of lines that are one period long.
Plane fit(const Plane& sinogram, Index order) {
  const Index views = sinogram.rows, period = 2 * (views - 1);
  const std::vector<double> gain = fit_gain(views, order);
  Plane columns = transposed(sinogram);
  parallel_for_blocks(columns.rows, 16, [&](Range some) {
    std::vector<float> lines;
    for (Index bin = some.first; bin < some.last; ++bin)
      for (Index k = 0; k < period; ++k) lines.push_back(columns(bin, mirrored(k, views)));
    kernels::multiply_spectra(lines, 1, period, gain);
    for (Index bin = some.first; bin < some.last; ++bin)
      std::copy_n(&lines[(bin - some.first) * period], views, columns.row(bin));
  });
  return transposed(columns);
}

/// A Gaussian over both directions. Rows go on as they end, and columns by their mean.
Plane smooth(const Plane& plane, double sigma_columns, double sigma_rows) {
  const Index pad = fit_margin(plane.rows);
  Plane wide = padded(plane, pad, pad, nearest);
  const std::vector<double> means = means_of_columns(plane, {0, plane.rows});
  for (Index r = 0; r < wide.rows; ++r)
    for (Index c = 0; c < wide.columns; ++c) {
      if (r < pad || r >= wide.rows - pad)
        wide(r, c) = static_cast<float>(means[nearest(c - pad, plane.columns)]);
      wide(r, c) *= kernels::sign_of(r + c);
    }
  kernels::multiply_spectra(wide.values, wide.rows, wide.columns,
                            gaussian_gain(wide.rows, wide.columns, sigma_rows, sigma_columns));
  for (Index r = 0; r < wide.rows; ++r)
    for (Index c = 0; c < wide.columns; ++c) wide(r, c) *= kernels::sign_of(r + c);
  return cropped(wide, pad, pad);
}

double mean(const Plane& plane) {
  return std::accumulate(plane.values.begin(), plane.values.end(), 0.0) / plane.values.size();
}

void divide_by_fit(Plane& sinogram, const Fitting& how) {
  if (sinogram.rows < 3) return;
  const Plane fitted = fit(sinogram, how.order), even = smooth(fitted, how.sigma_columns, how.sigma_rows);
  const double scale = mean(fitted) / mean(even);
  for (std::size_t i = 0; i < sinogram.values.size(); ++i)
    if (fitted.values[i] != 0)
      sinogram.values[i] =
          static_cast<float>(sinogram.values[i] / fitted.values[i] * (scale * even.values[i]));
}

Fitting asked_fitting(const Preprocessing& how) {
  return {vo_fitting_order.of(how.values).value_or(3), vo_fitting_sigmax.of(how.values).value_or(5),
          vo_fitting_sigmay.of(how.values).value_or(20)};
}

}  // namespace

/// Vo's algorithm 1.
Method fitting_method() {
  return {.name = "vo-fitting",
          .help = "divides columns by a polynomial over the views, for stripes of smooth sinograms (Vo 1)",
          .options = {vo_fitting_order, vo_fitting_sigmax, vo_fitting_sigmay},
          .planes = 6,
          .begin = begin_with<asked_fitting, divide_by_fit>,
          .on_gpu = [](const Preprocessing& how) { return fit_on_gpu(asked_fitting(how)); },
          .gpu_bytes = [](const Preprocessing&, Shape shape) { return gpu_bytes_of_fit(shape); }};
}

}  // namespace tandem::pipeline::stripes
