// The Fourier model beside direct back-projection: speed, and errors against the sums in double.

#include <cmath>
#include <complex>
#include <numbers>

#include "../core/parallel.hpp"
#include "../core/rounding.hpp"
#include "../kernels/fourier.hpp"
#include "../operators/adjointness.hpp"
#include "../operators/algebra.hpp"
#include "../operators/fbp.hpp"
#include "../operators/fourier.hpp"
#include "../operators/projector.hpp"
#include "footprint_error.hpp"
#include "input.hpp"
#include "parallel_case.hpp"

namespace tandem::bench {

namespace {

constexpr Index sampled_pixels = 200, sampled_cells = 20;

/// A place drawn at random from [0, count).
Index any(Random& random, Index count) { return floor_index(random.uniform() * count); }

/// The views of one slice as trigonometric polynomials, computed in double by their definition.
class Polynomials {
 public:
  Polynomials(const Case& c, const Array& there, Index slice, double accuracy)
      : case_(c), n_(kernels::fourier_sizes(c.scan, c.grid, accuracy)) {
    const Array y = on_device(there, Device::cpu());
    const auto [views, slices, bins] = y.space().shape();
    transforms_.resize(views);
    parallel_for(views, [&, rows = slices, count = bins](Index v) {
      const float* row = y.data() + (v * rows + slice) * count;
      for (Index k = 0; k <= n_.highest; ++k) {
        const std::complex<double> turn = std::polar(1.0, -angle(k));
        std::complex<double> sum = 0;
        for (Index b = count; b-- > 0;) sum = sum * turn + double{row[b]};
        transforms_[v].push_back(sum);
      }
    });
  }

  /// The sum over views of weight times the polynomial, filtered by `response`, where pixel (x, y) falls.
  double sum_at(Index x, Index y, const std::vector<double>& response,
                const std::vector<double>& weights) const {
    double sum = 0;
    for (std::size_t v = 0; v < transforms_.size(); ++v) {
      const std::complex<double> turn = std::polar(1.0, angle(bin_of(case_, v, x, y)));
      std::complex<double> power = 1;
      double value = 0;
      for (Index k = 0; k <= n_.highest; ++k, power *= turn) {
        const std::size_t i = k;
        value += (k == 0 || 2 * k == n_.length ? 1 : 2) * response[i] * (transforms_[v][i] * power).real();
      }
      sum += weights[v] * value;
    }
    return sum / n_.length;
  }
  static double bin_of(const Case& c, std::size_t v, Index x, Index y) {
    return c.scan.detector.axis_bin + c.grid.x(x) * std::cos(c.scan.angles[v]) +
           c.grid.y(y) * std::sin(c.scan.angles[v]);
  }
  const kernels::FourierSizes& sizes() const { return n_; }

 private:
  double angle(double turns) const { return 2 * std::numbers::pi * turns / n_.length; }
  const Case& case_;
  kernels::FourierSizes n_;
  std::vector<std::vector<std::complex<double>>> transforms_;
};

/// Relative L2 error of slice 0 at random pixels within the circle.
double error_in_circle(const Case& c, const Polynomials& rows, const Array& there,
                       const std::vector<double>& response, const std::vector<double>& weights) {
  const Array x = on_device(there, Device::cpu());
  const Index n = c.grid.size[0];
  Random random(1);
  std::vector<std::pair<Index, Index>> pixels;
  while (std::ssize(pixels) < sampled_pixels) {
    const Index ix = any(random, n), iy = any(random, n);
    if (std::hypot(c.grid.x(ix), c.grid.y(iy)) < 0.5 * n) pixels.emplace_back(ix, iy);
  }
  return sampled_error(sampled_pixels, [&](Index i) {
    const auto [ix, iy] = pixels[i];
    return std::pair{double{x.data()[iy * n + ix]}, rows.sum_at(ix, iy, response, weights)};
  });
}

/// Relative L2 error of A x at random cells of row 0.
double error_of_rows(const Case& c, const kernels::FourierSizes& n, const Array& volume,
                     const Array& projections) {
  const Array x = on_device(volume, Device::cpu()), y = on_device(projections, Device::cpu());
  const auto [views, rows, bins] = y.space().shape();
  const double length = n.length, terms = 2 * n.highest + 1;
  Random random(2);
  std::vector<std::pair<Index, Index>> cells;
  for (Index i = 0; i < sampled_cells; ++i) cells.emplace_back(any(random, views), any(random, bins));
  return sampled_error(sampled_cells, [&, rows = rows, bins = bins](Index i) {
    const auto [v, b] = cells[i];
    double sum = 0;
    for (Index iy = 0; iy < c.grid.size[1]; ++iy)
      for (Index ix = 0; ix < c.grid.size[0]; ++ix) {
        const double t = Polynomials::bin_of(c, v, ix, iy) - b, turn = std::numbers::pi * t / length,
                     below = std::sin(turn);
        double kernel = std::abs(below) < 1e-12 ? terms : std::sin(terms * turn) / below;
        if (2 * n.highest == n.length) kernel -= std::cos(length * turn);  // the highest counts by half
        sum += kernel / length * x.data()[iy * c.grid.size[0] + ix];
      }
    return std::pair{double{y.data()[v * rows * bins + b]}, sum};
  });
}

/// The mismatch of a pair of two slices, because a probe takes longer to be drawn than to be projected. A few
/// probes are needed, because the inner product of one may be small by chance.
double mismatch(const Case& c, Device device, const Execution& how) {
  const Case few(c.grid.size[0], views_of(c.scan), 2);
  constexpr int probes = 5;
  return adjointness(projector(few.scan, few.grid, Model::fourier, device, how), probes).mismatch;
}

/// Adds projector, back-projector and FBP with one accuracy.
void add_accuracy(const Axes& axes, const Case& c, double accuracy, Rows& rows, const OnLine& on_line) {
  const Execution how{.variant = "fourier", .accuracy = accuracy};
  const std::string name = "fourier " + std::to_string(std::lround(-std::log10(accuracy))) + " digits";
  Stream& stream = default_stream(axes.device);
  on_line(words(name, c.scan.detector.rows));
  const LinearOperator A = projector(c.scan, c.grid, Model::fourier, axes.device, how),
                       B = fourier_fbp(c.scan, c.grid, {}, axes.device, how);
  const Array y = input(A.range());
  const Polynomials polynomials(c, y, 0, accuracy);
  const std::vector<double> views(c.scan.angles.size(), 1.0), ones(polynomials.sizes().length / 2 + 1, 1.0);
  Array x(A.domain()), projections(A.range());
  const auto add = [&](const char* direction, double ms, double error) {
    rows.push_back(line(c, direction, ms, c.updates(), how));
    rows.back().update({{"accuracy", accuracy}, {"relative_error", error}});
  };
  double ms = median_ms(axes, [&] { B.apply(1, y, 0, x, stream); });
  add("fbp", ms,
      error_in_circle(c, polynomials, x,
                      filter_response({}, polynomials.sizes().length, 1,
                                      interpolation_of(c.scan, c.grid, Model::fourier)),
                      view_weights(c.scan.angles)));
  ms = median_ms(axes, [&] { A.apply_adjoint(1, y, 0, x, stream); });
  add("back", ms, error_in_circle(c, polynomials, x, ones, views));
  rows.back()["mu"] = mismatch(c, axes.device, how);
  x = input(A.domain());
  ms = median_ms(axes, [&] { A.apply(1, x, 0, projections, stream); });
  add("forward", ms, error_of_rows(c, polynomials.sizes(), x, projections));
}

}  // namespace

Rows fourier(const Axes& axes, const OnLine& on_line) {
  Rows rows = Rows::array();
  for (const Index slices : axes.slices) {
    const Case c(axes.size, axes.views, slices);
    for (const double accuracy : axes.accuracies) add_accuracy(axes, c, accuracy, rows, on_line);
    on_line(words("direct", slices));
    const LinearOperator A = projector(c.scan, c.grid, Model::pixel_driven, axes.device),
                         B = fbp(A, c.scan, c.grid);
    const Array y = input(A.range());
    Array x(A.domain());
    const double ms = median_ms(axes, [&] { B.apply(1, y, 0, x, default_stream(axes.device)); });
    rows.push_back(
        line(c, "fbp", ms, c.updates(), resolved({}, c.scan, c.grid, Model::pixel_driven, axes.device)));
  }
  return rows;
}

}  // namespace tandem::bench
