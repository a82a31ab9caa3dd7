// Model::fourier: its coefficients against the trigonometric polynomial in double, its transpose, its FBP
// against the sum over views in double, and what slices do to each other: nothing.

#include "../../operators/fourier.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../core/random.hpp"
#include "../../kernels/fourier.hpp"
#include "../../operators/adjointness.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/fbp.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/vector.hpp"
#include "../support/dense.hpp"
#include "../support/property.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

constexpr double pi = std::numbers::pi;
constexpr double accuracies[] = {1e-3, 1e-4, 1e-5};

LinearOperator model(const ParallelBeam& scan, const VolumeGrid& grid, double accuracy) {
  return projector(scan, grid, Model::fourier, Device::cpu(), {.accuracy = accuracy});
}

/// The bin on which pixel (x, y) falls, from the definition of the scan.
double bin_of(const ParallelBeam& scan, const VolumeGrid& grid, std::size_t view, Index x, Index y) {
  const double a = scan.angles[view];
  return scan.detector.axis_bin +
         (grid.x(static_cast<double>(x)) * std::cos(a) + grid.y(static_cast<double>(y)) * std::sin(a)) /
             scan.detector.bin_pitch;
}

/// A row as the polynomial sum over |k| <= highest of response[|k|] P[k] exp(2 pi i k t / length) / length,
/// where P is the row's transform, and k = length / 2 and its negative count half. By the definition, in
/// double.
class Polynomial {
 public:
  Polynomial(const kernels::FourierSizes& n, const std::vector<double>& response,
             const std::vector<double>& row)
      : length_(static_cast<double>(n.length)) {
    for (Index k = 0; k <= n.highest; ++k) {
      const double both = k == 0 || 2 * k == n.length ? 1 : 2;
      const double factor = response.empty() ? 1 : response[static_cast<std::size_t>(k)];
      std::complex<double> sum = 0;
      for (std::size_t b = 0; b < row.size(); ++b)
        sum += row[b] * std::polar(1.0, -2 * pi * static_cast<double>(k) * static_cast<double>(b) / length_);
      parts_.push_back(both * factor / length_ * sum);
    }
  }
  double operator()(double t) const {
    const std::complex<double> turn = std::polar(1.0, 2 * pi * t / length_);
    std::complex<double> power = 1;
    double sum = 0;
    for (const std::complex<double>& part : parts_) sum += (part * power).real(), power *= turn;
    return sum;
  }

 private:
  double length_;
  std::vector<std::complex<double>> parts_;
};

/// The matrix of one slice, mm.
Eigen::MatrixXd expected_matrix(const ParallelBeam& scan, const VolumeGrid& grid, double accuracy) {
  const kernels::FourierSizes n = kernels::fourier_sizes(scan, grid, accuracy);
  const Index views = views_of(scan), bins = scan.detector.bins;
  const double scale = grid.pitch[0] * grid.pitch[1] / scan.detector.bin_pitch;
  const Polynomial one(n, {}, {1.0});
  Eigen::MatrixXd matrix(views * bins, grid.size[0] * grid.size[1]);
  for (Index v = 0; v < views; ++v)
    for (Index y = 0; y < grid.size[1]; ++y)
      for (Index x = 0; x < grid.size[0]; ++x) {
        const double at = bin_of(scan, grid, static_cast<std::size_t>(v), x, y);
        for (Index b = 0; b < bins; ++b)
          matrix(v * bins + b, y * grid.size[0] + x) = scale * one(at - static_cast<double>(b));
      }
  return matrix;
}

/// Views all round, in no order, some along the axes, the axis off the middle.
test::ProjectorCase random_case() {
  const auto within = [](int first, int last) { return *rc::gen::inRange(first, last + 1); };
  test::ProjectorCase c{"random", test::scan_of(within(1, 7), 1, within(1, 23)),
                        test::grid_of(within(1, 19), within(1, 19), 1, 0.01 * within(20, 300))};
  Detector& d = c.scan.detector;
  d.axis_bin = 0.01 * within(static_cast<int>(-50 * d.bins), static_cast<int>(150 * d.bins - 100));
  d.bin_pitch = 0.01 * within(50, 200);
  for (double& angle : c.scan.angles) angle += 0.1 * within(-100, 100);
  if (within(0, 2) == 0) c.scan.angles[0] = within(-4, 4) * pi / 4;
  for (double& centre : c.grid.centre) centre = 0.1 * within(-50, 50);
  return c;
}

Array noise(const Space& space, std::uint64_t seed = 5) {
  Random random(seed);
  Array y(space);
  for (Index i = 0; i < y.size(); ++i) y.data()[i] = static_cast<float>(random.uniform() - 0.3);
  return y;
}

/// Row `row` of view v.
std::vector<double> row_of(const Array& y, Index v, Index row) {
  const Shape n = y.space().shape();
  const float* first = y.data() + (v * n[1] + row) * n[2];
  return {first, first + n[2]};
}

/// Slice k of a volume, or row k of projections.
std::vector<float> block_of(const Array& x, Index k) {
  std::vector<float> values;
  for (Index e = 0; e < x.size() / x.space().block_count(); ++e)
    values.push_back(x.data()[test::element(x.space(), k, e)]);
  return values;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST(Fourier, HasTheCoefficientsOfThePolynomialBothWays) {
  const ParallelBeam scan = test::scan_of(23, 11, 21);
  const VolumeGrid grid = test::grid_of(17, 19, 11);
  for (const double accuracy : accuracies) {
    const Eigen::MatrixXd expected =
        expected_matrix(test::with_rows(scan, 1), test::with_slices(grid, 1), accuracy);
    const double largest = expected.cwiseAbs().maxCoeff();
    const LinearOperator A = model(scan, grid, accuracy);
    EXPECT_LE((test::block_matrix(A) - expected).cwiseAbs().maxCoeff(), accuracy * largest) << accuracy;
    EXPECT_LE((test::block_matrix(adjoint(A)).transpose() - expected).cwiseAbs().maxCoeff(),
              accuracy * largest)
        << accuracy;
  }
}

TEST(Fourier, HasTheCoefficientsForAnyScanAndGrid) {
  EXPECT_TRUE(test::holds("coefficients of random scans, both ways", [] {
    const test::ProjectorCase c = random_case();
    const double accuracy = accuracies[*rc::gen::inRange(0, 3)];
    const Eigen::MatrixXd expected = expected_matrix(c.scan, c.grid, accuracy);
    const kernels::FourierSizes n = kernels::fourier_sizes(c.scan, c.grid, accuracy);
    const double peak =
        c.grid.pitch[0] * c.grid.pitch[0] / c.scan.detector.bin_pitch * Polynomial(n, {}, {1.0})(0);
    const double allowed = accuracy * peak;  // no pixel may reach this, if all fall outside the detector
    const LinearOperator A = model(test::with_rows(c.scan, 9), test::with_slices(c.grid, 9), accuracy);
    RC_ASSERT((test::block_matrix(A) - expected).cwiseAbs().maxCoeff() <= allowed);
    RC_ASSERT((test::block_matrix(adjoint(A)).transpose() - expected).cwiseAbs().maxCoeff() <= allowed);
  }));
}

TEST(Fourier, PairsMatchForAnyScanAndGrid) {
  EXPECT_TRUE(test::holds("coupling and mismatch of random scans", [] {
    test::ProjectorCase c = random_case();
    const auto within = [](Index first, Index last) { return *rc::gen::inRange(first, last + 1); };
    c.scan.detector.bins = within(8, 60);
    // far smaller pixels, in which noise has no mean, would leave rounding alone
    c.scan.detector.bin_pitch = 0.01 * static_cast<double>(within(50, 150)) * c.grid.pitch[0];
    c.scan.detector.axis_bin = 0.01 * static_cast<double>(within(0, 100 * c.scan.detector.bins));
    c.grid.size = {within(3, 90), within(3, 90), 1};
    c.grid.centre = {0.5 * c.grid.pitch[0], -0.5 * c.grid.pitch[1], 0};  // and the detector sees it
    const Adjointness a = adjointness(model(c.scan, c.grid, accuracies[*rc::gen::inRange(0, 3)]));
    RC_ASSERT(a.mismatch <= tolerance::fourier_pair);
    RC_ASSERT(std::abs(a.coupling - 1) <= tolerance::fourier_pair);
  }));
}

/// Grids that are exactly 1.25 or 1.5 times as fine as they must be.
TEST(Fourier, NoiseIsBackProjectedWithinTheAccuracy) {
  constexpr Index size = 256;
  const ParallelBeam scan = test::scan_of(61, 1, size);
  const VolumeGrid grid = test::grid_of(size, size, 1);
  const Array y = noise(projection_space(scan));
  for (const double accuracy : accuracies) {
    const kernels::FourierSizes n = kernels::fourier_sizes(scan, grid, accuracy);
    std::vector<Polynomial> rows;
    for (Index v = 0; v < 61; ++v) rows.emplace_back(n, std::vector<double>{}, row_of(y, v, 0));
    const Array x = adjoint(model(scan, grid, accuracy)) * y;
    double error = 0, norm = 0;
    for (Index i = 0; i < x.size(); ++i) {
      if (std::hypot(grid.x(static_cast<double>(i % size)), grid.y(static_cast<double>(i / size))) >
              0.5 * size ||
          i % 7 > 0)
        continue;
      double exact = 0;
      for (std::size_t v = 0; v < rows.size(); ++v)
        exact += rows[v](bin_of(scan, grid, v, i % size, i / size));
      error += std::pow(static_cast<double>(x.data()[i]) - exact, 2), norm += exact * exact;
    }
    EXPECT_LE(std::sqrt(error / norm), accuracy);
    EXPECT_GE(std::sqrt(error / norm), 1e-2 * accuracy);  // or it is more work than needed
  }
}

TEST(Fourier, LeavesOutFrequenciesThatPixelsDoNotHave) {
  const ParallelBeam scan = test::scan_of(5, 1, 40);
  const VolumeGrid grid = test::grid_of(11, 11, 1, 2.5);
  const kernels::FourierSizes n = kernels::fourier_sizes(scan, grid, 1e-4);
  EXPECT_LE(2.5 * static_cast<double>(n.highest) / static_cast<double>(n.length), 0.5);
  EXPECT_GT(2.5 * static_cast<double>(n.highest + 1) / static_cast<double>(n.length), 0.5);
}

TEST(Fourier, AddsToWhatIsThereAndNeverReadsWhatIsNot) {
  const ParallelBeam scan = test::scan_of(7, 3, 13);
  const VolumeGrid grid = test::grid_of(9, 11, 3);
  const LinearOperator A = model(scan, grid, 1e-4);
  for (const LinearOperator& B : {A, adjoint(A)}) {
    const Array x = noise(B.domain()), plain = B * x, start = noise(B.range(), 9);
    Array y = start.clone();
    B.apply(-0.5f, x, 2, y, default_stream(Device::cpu()));
    const double largest = norm(plain, default_stream(Device::cpu()))[0];
    for (Index i = 0; i < y.size(); ++i)
      EXPECT_NEAR(y.data()[i], -0.5f * plain.data()[i] + 2 * start.data()[i], tolerance::axpby * largest);
    std::fill_n(y.data(), y.size(), std::numeric_limits<float>::quiet_NaN());
    B.apply(1, x, 0, y, default_stream(Device::cpu()));
    EXPECT_TRUE(same_bits({y.data(), y.data() + y.size()}, {plain.data(), plain.data() + plain.size()}));
  }
}

TEST(Fourier, ASliceHasTheSameBitsWhateverIsBesideIt) {
  constexpr Index slices = 11;
  const ParallelBeam scan = test::scan_of(33, slices, 45);
  const VolumeGrid grid = test::grid_of(45, 37, slices);
  const LinearOperator A = model(scan, grid, 1e-4),
                       one = model(test::with_rows(scan, 1), test::with_slices(grid, 1), 1e-4);
  for (const bool back : {false, true}) {
    const LinearOperator all = back ? adjoint(A) : A, alone = back ? adjoint(one) : one;
    Array x = noise(all.domain());
    for (Index e = 0; e < x.size() / slices; ++e) {  // a bright neighbour, and one that is no number
      x.data()[test::element(x.space(), 4, e)] *= 1000;
      x.data()[test::element(x.space(), 6, e)] = std::numeric_limits<float>::quiet_NaN();
    }
    const Array y = all * x;
    for (const Index k : {0, 3, 4, 5, 7, 10}) {
      const std::vector<float> slice = block_of(x, k);
      Array input(alone.domain());
      std::copy(slice.begin(), slice.end(), input.data());
      EXPECT_TRUE(same_bits(block_of(y, k), block_of(alone * input, 0))) << "slice " << k;
    }
    for (const float value : block_of(y, 6)) ASSERT_TRUE(std::isnan(value));
  }
}

TEST(Fourier, ThreadsDoNotChangeBits) {
  const ParallelBeam scan = test::scan_of(33, 2, 45);
  const VolumeGrid grid = test::grid_of(45, 37, 2);
  const LinearOperator A = model(scan, grid, 1e-4);
  for (const LinearOperator& B : {A, adjoint(A)}) {
    const Array x = noise(B.domain());
    std::vector<float> first;
    for (const int threads : {1, 2, 4}) {
      const ThreadLimit limit(threads);
      const Array y = B * x;
      std::vector<float> bits(y.data(), y.data() + y.size());
      if (first.empty()) first = bits;
      EXPECT_TRUE(same_bits(bits, first)) << threads << " threads";
    }
  }
}

TEST(Fourier, RefusesWhatItCannotDo) {
  const ParallelBeam scan = test::scan_of(7, 3, 13);
  EXPECT_THROW(model(scan, test::grid_of(9, 9, 3), 1e-6), GeometryError);
  EXPECT_THROW(model(scan, test::grid_of(9, 9, 2), 1e-4), GeometryError);
  EXPECT_THROW(pack(scan, test::grid_of(9, 9, 3), Model::fourier), GeometryError);
}

// ---- filtered back-projection in one pass

namespace {

/// Compares with the sum over views in double, of each row's polynomial times the filter, in the ellipse that
/// the grid encloses.
void expect_fbp(const ParallelBeam& scan, const VolumeGrid& grid, Filter filter) {
  const Array y = noise(projection_space(scan)), x = fourier_fbp(scan, grid, filter) * y;
  const kernels::FourierSizes n = kernels::fourier_sizes(scan, grid, 1e-4);
  const std::vector<double> response = filter_response(filter, n.length, scan.detector.bin_pitch,
                                                       interpolation_of(scan, grid, Model::fourier)),
                            weights = view_weights(scan.angles);
  const auto [slices, ny, nx] = grid.shape();
  double error = 0, size = 0;
  for (Index k = 0; k < slices; ++k) {
    const double move = scan.row_axis_bins.empty()
                            ? 0
                            : scan.row_axis_bins[static_cast<std::size_t>(k)] - scan.detector.axis_bin;
    std::vector<Polynomial> rows;
    for (Index v = 0; v < y.space().shape()[0]; ++v) rows.emplace_back(n, response, row_of(y, v, k));
    for (Index iy = 0; iy < ny; iy += 3)
      for (Index ix = 0; ix < nx; ix += 2) {
        if (std::hypot(2.0 * static_cast<double>(ix) / static_cast<double>(nx - 1) - 1,
                       2.0 * static_cast<double>(iy) / static_cast<double>(ny - 1) - 1) > 1)
          continue;  // the corners are beyond the circle that the accuracy is of
        double exact = 0;
        for (std::size_t v = 0; v < rows.size(); ++v)
          exact += weights[v] * rows[v](bin_of(scan, grid, v, ix, iy) + move);
        error += std::pow(static_cast<double>(x.data()[(k * ny + iy) * nx + ix]) - exact, 2);
        size += exact * exact;
      }
  }
  EXPECT_LE(std::sqrt(error / size), 1e-4) << "window " << static_cast<int>(filter.window);
}

}  // namespace

TEST(FourierFbp, IsTheSumOverViewsForEveryWindow) {
  const ParallelBeam scan = test::scan_of(41, 2, 40, 0.7);
  for (const Window window :
       {Window::ramp, Window::shepp, Window::cosine, Window::hamming, Window::hann, Window::parzen,
        Window::blackman, Window::butterworth, Window::sharp, Window::none})
    expect_fbp(scan, fitting_grid(scan), {.window = window, .cutoff = {}});
  expect_fbp(scan, fitting_grid(scan), {.window = Window::hann, .cutoff = 0.4});
}

TEST(FourierFbp, TakesAnyGridAndRowsWithAnAxisOfTheirOwn) {
  ParallelBeam scan = test::scan_of(41, 3, 40);
  expect_fbp(scan, test::grid_of(31, 22, 3, 1.6), {});
  expect_fbp(scan, region(test::grid_of(60, 60, 3, 0.7), {11, 42}, {2, 29}, {0, 3}), {});
  scan.row_axis_bins = {scan.detector.axis_bin + 3.4, scan.detector.axis_bin, scan.detector.axis_bin - 5.25};
  expect_fbp(scan, fitting_grid(scan), {});
}

}  // namespace tandem
