// Model::fourier from scan to volume: FBP and solvers take it as they take the other models.

#include <gtest/gtest.h>

#include <cmath>

#include "../../core/process_memory.hpp"
#include "../../operators/fourier.hpp"
#include "../../pipeline/plan/plan.hpp"
#include "../support/known_scan.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

using test::KnownScan;
using test::quality;

double patch_mean(const KnownScan& known, const Array& image) {
  const double unit = half_width(known.grid);
  const Index n = known.grid.size[0];
  double sum = 0, count = 0;
  for (Index i = 0; i < n * n; ++i) {
    const double x = known.grid.x(static_cast<double>(i % n)) / unit,
                 y = known.grid.y(static_cast<double>(i / n)) / unit;
    if (std::hypot(x - 0.45, y + 0.35) >= 0.1) continue;
    sum += static_cast<double>(image.data()[i]), ++count;
  }
  return sum / count;
}

Array fourier(const KnownScan& known, const Array& y, Window window) {
  return fourier_fbp(known.scan, known.grid, {.window = window}) * y;
}

/// The full frame is better, because no view sees the corners and direct FBP adds zeros there. Within the
/// disc the pictures are one (test_models_alike.cpp).
TEST(FourierQuality, IsBetterInCornersThatNoViewSees) {
  const KnownScan known(256, 402);
  const Array y = known.line_integrals(), truth = known.truth();
  for (const Window window : {Window::ramp, Window::shepp, Window::cosine, Window::hamming, Window::hann,
                              Window::parzen, Window::butterworth}) {
    const auto direct = quality(known.reconstruct(y, window), truth),
               by_fourier = quality(fourier(known, y, window), truth);
    EXPECT_GT(by_fourier.psnr, direct.psnr + 0.9) << static_cast<int>(window);
    EXPECT_NEAR(by_fourier.rmse_disc / direct.rmse_disc, 1, tolerance::bare_ramps_alike)
        << static_cast<int>(window);
  }
}

TEST(FourierQuality, ReadsTheUniformPatch) {
  for (const KnownScan& known : {KnownScan(256, 402), KnownScan(256, 403, true)})
    for (const Window window : {Window::ramp, Window::hann}) {
      const double value = patch_mean(known, fourier(known, known.line_integrals(), window));
      EXPECT_NEAR(value / 0.2, 1, tolerance::fbp_patch) << static_cast<int>(window);
    }
}

/// A Gaussian body, whose line integrals are known and which neither bins nor pixels alias, by the ramp that
/// no factor shapes.
TEST(FourierQuality, ASmoothBodyReadsItsValue) {
  constexpr Index bins = 128;
  constexpr double s = 8, x0 = 9, y0 = -14;
  const KnownScan known(bins, 200);
  Array y(projection_space(known.scan));
  for (std::size_t v = 0; v < known.scan.angles.size(); ++v)
    for (Index b = 0; b < bins; ++b) {
      const double a = known.scan.angles[v], t = static_cast<double>(b) - known.scan.detector.axis_bin -
                                                 x0 * std::cos(a) - y0 * std::sin(a);
      y.data()[static_cast<Index>(v) * bins + b] =
          static_cast<float>(std::sqrt(2 * std::numbers::pi) * s * std::exp(-t * t / (2 * s * s)));
    }
  for (const double accuracy : {1e-3, 1e-4, 1e-5}) {
    const Array image =
        fourier_fbp(known.scan, known.grid, {Window::sharp}, Device::cpu(), {.accuracy = accuracy}) * y;
    double worst = 0, sum = 0, count = 0;
    for (Index i = 0; i < image.size(); ++i) {
      const double px = known.grid.x(static_cast<double>(i % bins)),
                   py = known.grid.y(static_cast<double>(i / bins));
      if (std::hypot(px, py) > 60) continue;
      const double r2 = std::pow(px - x0, 2) + std::pow(py - y0, 2),
                   error = static_cast<double>(image.data()[i]) - std::exp(-r2 / (2 * s * s));
      worst = std::max(worst, std::abs(error));
      if (r2 < s * s) sum += error, ++count;
    }
    EXPECT_LE(worst, accuracy);
    EXPECT_LE(std::abs(sum / count), 0.1 * accuracy);
  }
}

// ---- the model that a plan takes by itself

io::ScanInfo parallel_info(Index bins, Index views, double arc = std::numbers::pi) {
  ParallelBeam beam{{bins, 2, 1, 1, 0.5 * static_cast<double>(bins - 1)}, {}, {}};
  for (Index v = 0; v < views; ++v)
    beam.angles.push_back(arc * static_cast<double>(v) / static_cast<double>(views));
  io::ScanInfo info;
  info.scan = beam;
  return info;
}

Model model_of(const io::ScanInfo& info, const pipeline::Recipe& recipe = {}) {
  return pipeline::make_plan(info, recipe).flow.pair.model;
}

TEST(AutomaticModel, IsFourierForManyViewsOfLargeSlices) {
  EXPECT_EQ(model_of(parallel_info(320, 400)), Model::fourier);
  EXPECT_EQ(model_of(parallel_info(320, 60)), Model::pixel_driven);
  EXPECT_EQ(model_of(parallel_info(64, 4000)), Model::pixel_driven);
  for (const char* method : {"cgls", "sirt"}) {
    pipeline::Recipe recipe;
    recipe.method = method;
    EXPECT_EQ(model_of(parallel_info(320, 400), recipe), Model::fourier) << method;
  }
}

TEST(AutomaticModel, IsWhatTheRecipeSays) {
  pipeline::Recipe recipe;
  recipe.model = Model::joseph;
  EXPECT_EQ(model_of(parallel_info(320, 400), recipe), Model::joseph);
  recipe.model = Model::fourier;
  EXPECT_EQ(model_of(parallel_info(64, 10), recipe), Model::fourier);
  recipe.model.reset();
  recipe.execution.variant = "standard";
  EXPECT_EQ(model_of(parallel_info(320, 400), recipe), Model::pixel_driven);
}

TEST(AutomaticModel, IsNotFourierWhereThatLeavesSomethingOutOrDoesNotFit) {
  pipeline::Recipe wide;
  wide.size = 160;
  wide.voxel_size_mm = 2;
  io::ScanInfo known = parallel_info(640, 2000);
  known.pixel_size_mm = 1;
  EXPECT_EQ(model_of(known, wide), Model::pixel_driven);
  io::ScanInfo half = parallel_info(640, 2000, 2 * std::numbers::pi);
  half.axis_bin = 220;
  pipeline::Recipe recipe;
  recipe.method = "cgls";
  EXPECT_EQ(model_of(half, recipe), Model::pixel_driven);
  EXPECT_EQ(model_of(half, {}), Model::fourier);
  pipeline::Recipe small;
  small.host_bytes = held_memory() + (300 << 20);
  EXPECT_EQ(model_of(parallel_info(1200, 1200), small), Model::pixel_driven);
}

}  // namespace
}  // namespace tandem
