#include "axis_misfit.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "../core/parallel.hpp"
#include "../core/rounding.hpp"

namespace tandem::calibration {

namespace {

using std::numbers::pi;

/// The differences of neighbouring (averaged) bins of one view, faded in over the first and last few.
std::vector<double> derivative(const float* line, Index bins, Index factor) {
  constexpr Index edge = 4;
  std::vector<double> d(bins - 1);
  const auto at = [&](Index bin) {
    double sum = 0;
    for (Index i = bin * factor; i < (bin + 1) * factor; ++i) sum += line[i];
    return sum;
  };
  for (Index b = 0; b + 1 < bins; ++b) {
    const Index inside = std::min(b, bins - 2 - b);
    const double fade = inside < edge ? 0.5 - 0.5 * std::cos(pi * (inside + 0.5) / edge) : 1;
    d[b] = fade * (at(b + 1) - at(b));
  }
  return d;
}

/// sum_b d[b] exp(-i w_k (b - middle)) as a direct sum; phases are turned on from bin to bin.
std::vector<Complex> transform(const std::vector<double>& d, double step, std::size_t count) {
  const double middle = 0.5 * (d.size() - 1);
  std::vector<double> re(count), im(count), turn_re(count), turn_im(count), sum_re(count), sum_im(count);
  for (std::size_t k = 0; k < count; ++k) {
    const double w = step * (k + 1);
    re[k] = std::cos(w * middle), im[k] = std::sin(w * middle);
    turn_re[k] = std::cos(w), turn_im[k] = -std::sin(w);
  }
  for (double value : d)
    for (std::size_t k = 0; k < count; ++k) {
      sum_re[k] += value * re[k], sum_im[k] += value * im[k];
      const double next = re[k] * turn_re[k] - im[k] * turn_im[k];
      im[k] = re[k] * turn_im[k] + im[k] * turn_re[k];
      re[k] = next;
    }
  std::vector<Complex> out(count);
  for (std::size_t k = 0; k < count; ++k) out[k] = {sum_re[k], sum_im[k]};
  return out;
}

}  // namespace

Misfit::Value Misfit::at(double c, std::size_t first, std::size_t last) const {
  const Complex turn = std::polar(1.0, -2 * step * c);
  Complex phase = std::polar(1.0, -2 * step * c * first);
  Value v{0, 0, 0};
  for (std::size_t k = first; k < last; ++k) {
    phase *= turn;
    const double w = 2 * step * (k + 1);
    const Complex term = coefficients[k] * phase;
    v.e += term.real();
    v.slope += w * term.imag();
    v.curvature -= w * w * term.real();
  }
  return v;
}

Misfit& Misfit::operator+=(const Misfit& other) {
  for (std::size_t k = 0; k < coefficients.size(); ++k) coefficients[k] += other.coefficients[k];
  constant += other.constant;
  return *this;
}

double lowest(const Misfit& misfit, double from, double to) {
  const double shortest = pi / (misfit.step * misfit.coefficients.size());  // period of E
  const Index steps = std::max<Index>(2, ceil_index((to - from) / shortest * 16));
  const double step = (to - from) / steps;
  const auto place = [&](Index i) { return from + i * step; };
  std::vector<double> e(steps + 1);
  parallel_for(steps + 1, [&](Index i) { e[i] = misfit.at(place(i)).e; });
  const double start = place(std::min_element(e.begin(), e.end()) - e.begin());
  double c = start;
  for (int i = 0; i < 10; ++i) {
    const Misfit::Value v = misfit.at(c);
    if (v.curvature <= 0) break;
    c = std::clamp(c - v.slope / v.curvature, start - step, start + step);
  }
  return c;
}

Index averaged(Index bins) {
  constexpr Index most = 1024;
  return (bins + most - 1) / most;
}

std::vector<float> smoothed(const float* line, Index bins, Index factor) {
  const Index kept = bins / factor;
  std::vector<float> means(kept), out(means.size());
  for (Index b = 0; b < kept; ++b) {
    for (Index i = b * factor; i < (b + 1) * factor; ++i) means[b] += line[i];
    means[b] /= factor;
  }
  const auto at = [&](Index b) { return means[std::clamp<Index>(b, 0, kept - 1)]; };
  for (Index b = 0; b < kept; ++b)
    out[b] = (at(b - 2) + at(b + 2) + 4 * (at(b - 1) + at(b + 1)) + 6 * at(b)) / 16;
  return out;
}

Spectra spectra(std::span<const float> line_integrals, Shape shape, Index row) {
  const auto [views, rows, bins] = shape;
  const Index factor = averaged(bins), kept = bins / factor;
  Spectra out{pi / kept, std::vector<std::vector<Complex>>(views)};
  parallel_for(views, [&, rows = rows, bins = bins](Index view) {
    const std::vector<double> d =
        derivative(line_integrals.data() + (view * rows + row) * bins, kept, factor);
    out.views[view] = transform(d, out.step, kept / 2);
  });
  return out;
}

}  // namespace tandem::calibration
