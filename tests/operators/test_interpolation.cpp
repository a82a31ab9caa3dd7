// Interpolation weakens waves and noise, and the filter makes up for that.

#include "../../operators/interpolation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "../../core/error.hpp"
#include "../../kernels/footprint.hpp"
#include "../../operators/fourier.hpp"
#include "../../operators/projector.hpp"
#include "../support/operators.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

constexpr double pi = std::numbers::pi;
using Kind = Interpolation::Kind;

constexpr double frequencies[] = {0.0, 0.07, 0.21, 0.33, 0.5};

/// The response of the shapes to a wave, at their own middle: the mean over all middles between two bins.
/// `shape(distance)`: the weight of a bin, not normalised.
template <class Shape>
double response_of(const Shape& shape, double f) {
  double wave = 0, all = 0;
  constexpr int steps = 64, reach = 6;  // bins
  for (int i = -reach * steps; i < reach * steps; ++i) {
    const double distance = (i + 0.5) / steps;
    wave += shape(distance) * std::cos(2 * pi * f * distance), all += shape(distance);
  }
  return wave / all;
}

TEST(MeanResponse, IsThatOfTheHatsOfAllViews) {
  for (const Model model : {Model::pixel_driven, Model::joseph})
    for (const double pitch : {0.6, 1.0, 2.3}) {
      ParallelBeam scan = test::scan_of(1, 1, 31);
      scan.angles = test::regular_angles(181);
      const VolumeGrid grid = test::grid_of(9, 9, 1, pitch);
      const ParallelViews packed = pack(scan, grid, model);
      for (const double f : frequencies) {
        double mean = 0;
        for (const ParallelView& v : packed.views)
          mean += response_of([&](double d) { return std::max(0.0, v.height - v.slope * std::abs(d)); }, f) /
                  static_cast<double>(packed.views.size());
        EXPECT_NEAR(mean_response(interpolation_of(scan, grid, model), f), mean, tolerance::mean_response)
            << name_of(model) << ", pitch " << pitch << ", " << f;
      }
    }
}

TEST(MeanResponse, IsThatOfFootprintsAtTheAxis) {
  for (const double pitch : {0.5, 1.0, 1.7}) {
    const ConeBeam scan{{31, 1, 1.4, 1.4, 15}, test::regular_angles(181, 2 * pi), 1e6, 2e6, 0};
    const VolumeGrid grid{{9, 9, 1}, {pitch, pitch, 1}, {0, 0, 0}};
    const ConeViews packed = pack(scan, grid);
    for (const double f : frequencies) {
      double mean = 0;
      for (const ConeView& view : packed.views) {
        const auto shadow = kernels::trapezoid_of(view, 4, 4);
        mean += response_of([&](double d) { return kernels::mean_around(shadow, 15 + d); }, f) /
                static_cast<double>(packed.views.size());
      }
      EXPECT_NEAR(mean_response(interpolation_of(scan, grid), f), mean, tolerance::mean_response)
          << "pitch " << pitch << ", " << f;
    }
  }
}

TEST(MeanResponse, OfTheNearestBinIsThatOfABox) {
  for (const double f : frequencies)
    EXPECT_NEAR(mean_response({Kind::nearest, 1}, f),
                response_of([](double d) { return std::abs(d) < 0.5 ? 1.0 : 0.0; }, f),
                tolerance::mean_response);
}

TEST(Interpolation, IsThatOfAModelOfTheBeam) {
  const ParallelBeam scan = test::scan_of(3, 1, 31, 0.5);
  const VolumeGrid grid = test::grid_of(9, 9, 1, 0.75);
  EXPECT_EQ(interpolation_of(scan, grid).kind, Kind::linear);
  EXPECT_EQ(interpolation_of(scan, grid).pixel_bins, 1.5);
  EXPECT_EQ(interpolation_of(scan, grid, Model::fourier).kind, Kind::polynomial);
  EXPECT_THROW(interpolation_of(scan, grid, Model::separable_footprint), GeometryError);
  const ConeBeam cone = test::far_cone(3, 5, 31);
  EXPECT_EQ(interpolation_of(cone, fitting_grid(cone)).kind, Kind::footprint);
  EXPECT_NEAR(interpolation_of(cone, fitting_grid(cone)).pixel_bins, 1, tolerance::double_rounding);
  EXPECT_EQ(interpolation_of(cone, fitting_grid(cone), Model::pixel_driven).kind, Kind::linear);
  EXPECT_THROW(interpolation_of(cone, fitting_grid(cone), Model::fourier), GeometryError);
}

/// The response of the filter over that of ramp and window, at the Nyquist frequency and at half of it.
std::pair<double, double> factors(const Filter& filter, const Interpolation& interpolation) {
  constexpr Index length = 64;
  const std::vector<double> bare = ramp_response(length, 1),
                            all = filter_response(filter, length, 1, interpolation);
  const auto at = [&](Index k) {
    const auto i = static_cast<std::size_t>(k);
    return all[i] / (bare[i] * window_at(filter, static_cast<double>(k) / length));
  };
  return {at(length / 2 - 1), at(length / 4)};
}

constexpr double last = 31.0 / 64;

void expect_factors(const Filter& filter, const Interpolation& interpolation, double near_the_end,
                    double at_a_quarter) {
  const auto [end, quarter] = factors(filter, interpolation);
  EXPECT_NEAR(end, near_the_end, tolerance::double_rounding) << static_cast<int>(filter.window);
  EXPECT_NEAR(quarter, at_a_quarter, tolerance::double_rounding) << static_cast<int>(filter.window);
}

double squared_sinc(double f) { return std::pow(std::sin(pi * f) / (pi * f), 2); }

TEST(FilterResponse, MakesUpForTheMeanResponseOfWindowsThatFallOff) {
  for (const Window window : {Window::cosine, Window::hamming, Window::hann, Window::parzen, Window::blackman,
                              Window::butterworth}) {
    expect_factors({window}, {Kind::linear, 1}, 1 / squared_sinc(last), 1 / squared_sinc(0.25));
    expect_factors({window}, {Kind::linear, 0.4}, 1 / squared_sinc(last), 1 / squared_sinc(0.25));
    expect_factors({window}, {Kind::nearest, 1}, std::sqrt(1 / squared_sinc(last)),
                   std::sqrt(1 / squared_sinc(0.25)));
    expect_factors({window}, {Kind::polynomial, 1}, 1, 1);
    const Interpolation footprint{Kind::footprint, 1};
    expect_factors({window}, footprint, 1 / mean_response(footprint, last),
                   1 / mean_response(footprint, 0.25));
  }
}

TEST(FilterResponse, GivesAllModelsTheNoiseOfLinearInterpolationByTheBareRamp) {
  for (const Window window : {Window::ramp, Window::shepp}) {
    const double end = std::sqrt((2 + std::cos(2 * pi * last)) / 3), quarter = std::sqrt(2.0 / 3);
    expect_factors({window}, {Kind::polynomial, 1}, end, quarter);
    expect_factors({window}, {Kind::nearest, 1}, end, quarter);
    for (const Kind kind : {Kind::linear, Kind::joseph, Kind::footprint})
      expect_factors({window}, {kind, 1}, 1, 1);
  }
}

TEST(FilterResponse, LeavesTheSharpRampAllItsNoise) {
  expect_factors({Window::sharp}, {Kind::polynomial, 1}, 1, 1);
  expect_factors({Window::sharp}, {Kind::linear, 1}, 1 / std::sqrt((2 + std::cos(2 * pi * last)) / 3),
                 1 / std::sqrt(2.0 / 3));
  EXPECT_EQ(filter_response({Window::none}, 64, 1, {Kind::linear, 1}), std::vector<double>(33, 1.0));
}

/// A window that a cut-off moves away from the Nyquist frequency aliases little; one that a cut-off moves
/// there aliases much.
TEST(FilterResponse, ChoosesByTheAliasesThatMakingUpWouldLeave) {
  const Interpolation linear{Kind::linear, 1};
  EXPECT_NEAR(factors({Window::shepp, 1.0}, linear).second, 1, tolerance::double_rounding);
  EXPECT_NEAR(factors({Window::butterworth, 1.0}, linear).second, 1, tolerance::double_rounding);
  const std::vector<double> cut = filter_response({Window::shepp, 0.8}, 64, 1, linear);
  EXPECT_NEAR(cut[16], ramp_response(64, 1)[16] * window_at({Window::shepp, 0.8}, 0.25) / squared_sinc(0.25),
              tolerance::double_rounding);
}

/// A picture of wider pixels has lower frequencies only, and its pixels blur more than bins.
TEST(FilterResponse, MakesUpForLessWherePixelsAreWiderThanBins) {
  const Filter hann{Window::hann};
  expect_factors(hann, {Kind::linear, 2}, 1, 1);
  expect_factors(hann, {Kind::linear, 3.1}, 1, 1);
  const double held = 0.5 / 1.6;
  expect_factors(hann, {Kind::linear, 1.6}, squared_sinc(0.6 * held) / squared_sinc(held),
                 squared_sinc(0.6 * 0.25) / squared_sinc(0.25));
  for (const Kind kind : {Kind::joseph, Kind::footprint})
    for (const double width : {1.3, 2.0, 4.0}) {
      const auto [end, quarter] = factors(hann, {kind, width});
      EXPECT_LE(end, 2.5) << width;
      EXPECT_GE(end, 1) << width;
      EXPECT_LE(quarter, 2.5) << width;
    }
}

// ---- noise

/// Views x variance of white noise of variance 1 in the picture of a parallel beam.
double noise_of(Model model, const Filter& filter) {
  constexpr Index rows = 12, views = 181, n = 127;
  ParallelBeam scan = test::scan_of(1, rows, n);
  scan.angles = test::regular_angles(views);
  const VolumeGrid grid = fitting_grid(scan);
  Random random(17);
  const Array noise = sign_array(projection_space(scan), random);
  const LinearOperator B = model == Model::fourier ? fourier_fbp(scan, grid, filter)
                                                   : fbp(projector(scan, grid, model), scan, grid, filter,
                                                         interpolation_of(scan, grid, model));
  const Array volume = B * noise;
  double sum = 0, count = 0;
  for (Index i = 0; i < volume.size(); ++i) {
    const double radius = std::hypot(static_cast<double>(i % n) - 63, static_cast<double>(i / n % n) - 63);
    if (radius < 10 || radius > 50) continue;  // near the axis offsets are not all met; beyond, rows end
    sum += std::pow(static_cast<double>(volume.data()[i]), 2), ++count;
  }
  return static_cast<double>(views) * sum / count;
}

/// The same in theory: pi^2 times the integral of response^2 times the power that comes through.
double expected_noise(const Filter& filter, const Interpolation& interpolation, bool all_comes_through) {
  constexpr Index length = 1024;
  const std::vector<double> response = filter_response(filter, length, 1, interpolation);
  double sum = 0;
  for (Index k = 0; k <= length / 2; ++k) {
    const double f = static_cast<double>(k) / length, both_sides = k == 0 || 2 * k == length ? 1 : 2;
    sum += both_sides * std::pow(response[static_cast<std::size_t>(k)], 2) *
           (all_comes_through ? 1 : noise_of_linear(f));
  }
  return pi * pi * sum / length;
}

TEST(Noise, IsThatOfTheoryInBothModels) {
  for (const std::string_view name : window_names()) {
    const Filter filter{window_named(name)};
    if (filter.window == Window::none) continue;
    const double linear = expected_noise(filter, {Kind::linear, 1}, false),
                 polynomial = expected_noise(filter, {Kind::polynomial, 1}, true),
                 within = tolerance::fbp_noise_within / tolerance::fbp_noise;
    EXPECT_NEAR(noise_of(Model::pixel_driven, filter) / linear, 1, within) << name;
    EXPECT_NEAR(noise_of(Model::fourier, filter) / polynomial, 1, within) << name;
    // 5 % of the noise
    EXPECT_NEAR(std::sqrt(polynomial / linear), 1, 0.05) << name;
  }
}

}  // namespace
}  // namespace tandem
