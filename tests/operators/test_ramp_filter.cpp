#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>

#include "../../core/error.hpp"
#include "../../kernels/ramp.hpp"
#include "../../operators/adjointness.hpp"
#include "../support/dense.hpp"
#include "../support/operators.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

constexpr double pi = std::numbers::pi;

TEST(RampResponse, HasTheKnownValuesAtZero) {
  for (double pitch : {1.0, 0.37}) {
    EXPECT_NEAR(pitch * ramp_response(512, pitch)[0], 3.95784e-4, tolerance::response_at_zero);
    EXPECT_NEAR(pitch * ramp_response(1024, pitch)[0], 1.97893e-4, tolerance::response_at_zero);
  }
}

TEST(RampResponse, ApproachesTheRampAwayFromZero) {
  // cut off at P / 2 the kernel lacks a tail of 2 / (pi^2 P), which alternates with frequency
  for (Index length : {54, 512}) {
    const std::vector<double> response = ramp_response(length, 1);
    const double tail = 2 / (pi * pi * static_cast<double>(length));
    for (Index k = 0; k <= length / 2; ++k)
      EXPECT_NEAR(response[static_cast<std::size_t>(k)], static_cast<double>(k) / static_cast<double>(length),
                  1.2 * tail);
  }
}

TEST(Windows, HaveTheirFormulas) {
  const auto at = [](Window window, double f) { return window_at({.window = window}, f); };
  for (double f : {0.0, 0.1, 0.2, 0.25, 0.3, 0.5}) {
    const double g = 2 * f;
    const auto near = [f](double got, double expected) {
      EXPECT_NEAR(got, expected, tolerance::double_rounding) << f;
    };
    near(at(Window::ramp, f), 1);
    near(at(Window::sharp, f), 1);
    near(at(Window::none, f), 1);
    near(at(Window::shepp, f), f == 0 ? 1 : std::sin(pi * f) / (pi * f));
    near(at(Window::cosine, f), std::cos(pi * f));
    near(at(Window::hamming, f), 0.54 + 0.46 * std::cos(2 * pi * f));
    near(at(Window::hann, f), 0.5 + 0.5 * std::cos(2 * pi * f));
    near(at(Window::parzen, f), g <= 0.5 ? 1 - 6 * g * g * (1 - g) : 2 * std::pow(1 - g, 3));
    near(at(Window::blackman, f), 0.42 + 0.5 * std::cos(2 * pi * f) + 0.08 * std::cos(4 * pi * f));
    near(at(Window::butterworth, f), 1 / (1 + std::pow(f / 0.25, 8)));
  }
}

TEST(Windows, AreStretchedToTheCutOffAndZeroAbove) {
  for (Window window : test::windows) {
    if (window == Window::none || window == Window::butterworth) continue;
    EXPECT_NEAR(window_at({window, 0.4}, 0.11), window_at({window, 1.0}, 0.275), tolerance::double_rounding);
    EXPECT_EQ(window_at({window, 0.4}, 0.21), 0);
  }
  EXPECT_NEAR(window_at({Window::butterworth, 0.4}, 0.2), 0.5, tolerance::double_rounding);
}

TEST(Windows, AreKnownByName) {
  EXPECT_EQ(window_named("ramp"), Window::ramp);
  EXPECT_EQ(window_named("butterworth"), Window::butterworth);
  EXPECT_EQ(window_named("sharp"), Window::sharp);
  EXPECT_THROW(window_named("ram-lak"), GeometryError);
}

TEST(RampFilter, RefusesACutOffThatIsNotOne) {
  const ParallelBeam scan = test::scan_of(5, 1, 11);
  for (double cutoff : {0.0, -0.5, 1.01, std::nan("")})
    EXPECT_THROW(ramp_filter(scan, {Window::hann, cutoff}), GeometryError) << cutoff;
}

/// The ramp kernel h[n] of docs/kernels.md in units of 1 / pitch.
double kernel(Index n) {
  return n == 0 ? 0.25 : n % 2 == 0 ? 0 : -1 / (pi * pi * static_cast<double>(n) * static_cast<double>(n));
}

/// Weighted direct convolution of each row, moved by whole bins: what the filter must give, in double.
Eigen::VectorXd convolved(const ParallelBeam& scan, const Array& rows, const std::vector<Index>& shifts) {
  const Index n = scan.detector.bins, count = scan.detector.rows;
  const std::vector<double> weights = view_weights(scan.angles);
  Eigen::VectorXd out(rows.size());
  for (Index line = 0; line < rows.size() / n; ++line)
    for (Index b = 0; b < n; ++b) {
      double sum = 0;
      for (Index k = 0; k < n; ++k)
        sum += kernel(b - shifts[static_cast<std::size_t>(line % count)] - k) *
               static_cast<double>(rows.data()[line * n + k]);
      out[line * n + b] = weights[static_cast<std::size_t>(line / count)] * sum / scan.detector.bin_pitch;
    }
  return out;
}

TEST(RampFilter, IsTheConvolutionWithItsKernel) {
  for (Index bins : {1, 2, 29, 47})
    for (Index views : {1, 2, 17, 33}) {
      const ParallelBeam scan = [&] {
        ParallelBeam s = test::scan_of(views, 3, bins, 0.37);
        s.detector.axis_bin = 0.3;
        return s;
      }();
      Random random(3);
      const Array rows = sign_array(projection_space(scan), random);
      const Eigen::VectorXd expected = convolved(scan, rows, {0, 0, 0});
      const double within = tolerance::filtered_row * std::max(expected.norm(), 1.0);
      EXPECT_LE((test::column(ramp_filter(scan) * rows) - expected).cwiseAbs().maxCoeff(), within)
          << bins << " bins, " << views << " views";
    }
}

TEST(RampFilter, MovesRowsByWholeBinsExactly) {
  ParallelBeam scan = test::scan_of(17, 3, 47, 0.37);
  const double axis = scan.detector.axis_bin;
  for (const std::vector<Index>& shifts : {std::vector<Index>{-2, 3, 0}, {46, -46, 40}}) {
    scan.row_axis_bins.clear();
    for (Index shift : shifts) scan.row_axis_bins.push_back(axis - static_cast<double>(shift));
    Random random(5);
    const Array rows = sign_array(projection_space(scan), random);
    const Eigen::VectorXd expected = convolved(scan, rows, shifts);
    EXPECT_LE((test::column(ramp_filter(scan) * rows) - expected).cwiseAbs().maxCoeff(),
              tolerance::filtered_row * expected.norm());
  }
}

TEST(AlignRows, MovesByWholeBinsAndFillsWithZeros) {
  ParallelBeam scan = test::scan_of(5, 2, 47);
  const double axis = scan.detector.axis_bin;
  scan.row_axis_bins = {axis - 4, axis + 31};
  Random random(7);
  const Array rows = sign_array(projection_space(scan), random), moved = align_rows(scan) * rows;
  for (Index v = 0; v < 5; ++v)
    for (Index row = 0; row < 2; ++row)
      for (Index b = 0; b < 47; ++b) {
        const Index from = b - (row == 0 ? 4 : -31), line = (v * 2 + row) * 47;
        const float expected = 0 <= from && from < 47 ? rows.data()[line + from] : 0.0f;
        EXPECT_NEAR(moved.data()[line + b], expected, tolerance::filtered_row * std::sqrt(47.0));
      }
}

TEST(AlignRows, MovesASmoothFunctionByAFraction) {
  ParallelBeam scan = test::scan_of(3, 2, 61);
  const double axis = scan.detector.axis_bin, moves[] = {0.37, -1.81};
  scan.row_axis_bins = {axis - moves[0], axis - moves[1]};
  // a Gaussian of 2 bins: what it has above the Nyquist frequency is e^(-2 pi^2) = 3e-9 of its height
  const auto smooth = [](double b) { return std::exp(-0.125 * (b - 28.3) * (b - 28.3)); };
  Array rows(projection_space(scan));
  for (Index i = 0; i < rows.size(); ++i)
    rows.data()[i] = static_cast<float>(smooth(static_cast<double>(i % 61)));
  const Array moved = align_rows(scan) * rows;
  for (Index i = 0; i < rows.size(); ++i)
    EXPECT_NEAR(moved.data()[i], smooth(static_cast<double>(i % 61) - moves[i / 61 % 2]),
                tolerance::filtered_row * std::sqrt(61.0));
}

/// Rows that end at 1 and 1.92, moved by parts of a bin: a step of 1 would ring by 0.3 a bin from the end.
/// What goes on from the end has a kink of 0.02 there, which rings by 0.02 / pi^2, as a straight line that
/// bends there.
TEST(AlignRows, OntoAWiderDetectorLosesNothingAndDoesNotRing) {
  ParallelBeam scan = test::scan_of(3, 2, 47);
  const double axis = scan.detector.axis_bin, moves[] = {20.5, -13.25};
  scan.row_axis_bins = {axis - moves[0], axis - moves[1]};
  ParallelBeam wide = scan;
  wide.detector.bins += 14 + 21, wide.detector.axis_bin += 14;
  for (double& a : wide.row_axis_bins) a += 14;
  const auto line = [](double b) { return 1 + 0.02 * b; };
  Array rows(projection_space(scan));
  for (Index i = 0; i < rows.size(); ++i)
    rows.data()[i] = static_cast<float>(line(static_cast<double>(i % 47)));
  const LinearOperator aligned = align_rows(scan, wide, Padding::cosine);
  EXPECT_LE(adjointness(aligned).mismatch, tolerance::mismatch);
  const Array moved = aligned * rows;
  for (Index i = 0; i < moved.size(); ++i) {
    const double from = static_cast<double>(i % 82) - 14 - moves[i / 82 % 2];
    if (from < 0 || from > 46) continue;
    EXPECT_NEAR(moved.data()[i], line(from), 0.02 / 9) << i;
  }
}

TEST(AlignRows, WithoutAxesOfTheirOwnChangesNothing) {
  const ParallelBeam scan = test::scan_of(5, 2, 47);
  Random random(7);
  const Array rows = sign_array(projection_space(scan), random);
  EXPECT_LE((test::column(align_rows(scan) * rows) - test::column(rows)).cwiseAbs().maxCoeff(),
            tolerance::filtered_row * std::sqrt(47.0));
}

TEST(RampFilter, GivesTheSameBitsWhateverRowsAreBesideIt) {
  const ParallelBeam all = test::scan_of(37, 7, 47);
  Random random(11);
  const Array rows = sign_array(projection_space(all), random), together = ramp_filter(all) * rows;
  for (Index row = 0; row < 7; ++row) {
    const ParallelBeam one = crop(all, {0, 37}, {row, row + 1}, {0, 47});
    Array alone(projection_space(one));
    for (Index v = 0; v < 37; ++v) std::copy_n(rows.data() + (v * 7 + row) * 47, 47, alone.data() + v * 47);
    const Array filtered = ramp_filter(one) * alone;
    for (Index v = 0; v < 37; ++v)
      ASSERT_EQ(
          std::memcmp(filtered.data() + v * 47, together.data() + (v * 7 + row) * 47, 47 * sizeof(float)), 0);
  }
}

TEST(RampFilter, MayWorkInPlace) {
  const ParallelBeam scan = test::scan_of(19, 2, 47);
  kernels::RowFilter filter{
      .length = 96, .response = std::vector<float>(49, 1), .view_weights = {}, .row_shifts = {}};
  filter.view_weights.assign(19, 2.0f);
  Random random(13);
  Array rows = sign_array(projection_space(scan), random), out(rows.space());
  Stream& stream = default_stream(Device::cpu());
  const auto& ramp = kernels::ramp(Device::cpu());
  ramp.filter(filter, false, 1, image(ConstVectorView(rows)), 0, image(VectorView(out)), stream);
  ramp.filter(filter, false, 1, image(ConstVectorView(rows)), 0, image(VectorView(rows)), stream);
  EXPECT_EQ(std::memcmp(rows.data(), out.data(), static_cast<std::size_t>(rows.size()) * sizeof(float)), 0);
}

}  // namespace
}  // namespace tandem
