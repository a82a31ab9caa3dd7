// Filtered back-projection against the tables of an independent program in double: modified Shepp-Logan, rays
// sampled at bin centres, pitch one pixel, as many bins as pixels, views at equal steps over half a turn. The
// truth is the average over 16 x 16 points.
#include <gtest/gtest.h>

#include <cmath>

#include "../../pipeline/simulate.hpp"
#include "../support/alike.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

using pipeline::Quality;
using test::KnownScan;
using test::quality;

struct Row {
  Window window;
  double rmse, psnr;
};

void expect_table(Index n, Index views, const Interpolation& made_up_for, const std::vector<Row>& table) {
  const KnownScan known(n, views);
  const Array y = known.line_integrals(), truth = known.truth();
  for (const Row& row : table) {
    const Quality q = quality(known.reconstruct(y, row.window, 1, {}, made_up_for), truth);
    EXPECT_NEAR(q.rmse_disc / row.rmse, 1, tolerance::fbp_rmse) << static_cast<int>(row.window);
    EXPECT_NEAR(q.psnr, row.psnr, tolerance::fbp_psnr) << static_cast<int>(row.window);
  }
}

/// The tables are of bare windows, with nothing made up for.
constexpr Interpolation nothing = test::without_factor;

TEST(FbpQuality, MeetsTheTableOfRampsAt256And512) {
  expect_table(256, 402, {}, {{Window::ramp, 0.02052, 30.73}, {Window::shepp, 0.02171, 30.54}});
  expect_table(512, 804, {}, {{Window::ramp, 0.01451, 31.83}, {Window::shepp, 0.01551, 31.68}});
}

TEST(FbpQuality, MeetsTheTableAt256) {
  expect_table(256, 402, nothing,
               {{Window::sharp, 0.02052, 30.73},
                {Window::cosine, 0.03034, 29.09},
                {Window::hamming, 0.03669, 28.05},
                {Window::hann, 0.03890, 27.70},
                {Window::parzen, 0.05197, 25.80},
                {Window::butterworth, 0.03494, 28.33}});
}

/// Another program, in double: the same, with windows divided by sinc^2.
TEST(FbpQuality, MeetsTheTableWithInterpolationMadeUpFor) {
  expect_table(256, 402, {},
               {{Window::cosine, 0.02471, 30.19},
                {Window::hamming, 0.03105, 29.10},
                {Window::hann, 0.03419, 28.56},
                {Window::parzen, 0.04836, 26.36},
                {Window::blackman, 0.04259, 27.22},
                {Window::butterworth, 0.03292, 28.78}});
}

TEST(FbpQuality, MeetsTheTableAt512) {
  expect_table(512, 804, nothing,
               {{Window::sharp, 0.01451, 31.83},
                {Window::cosine, 0.02142, 30.71},
                {Window::hamming, 0.02602, 29.92},
                {Window::hann, 0.02755, 29.65},
                {Window::parzen, 0.03612, 28.20},
                {Window::butterworth, 0.02611, 29.90}});
}

/// The mean over the disc of radius 0.1 at (0.45, -0.35), where the phantom is 0.2.
double patch(const KnownScan& known, const Array& image) {
  const double unit = half_width(known.grid);
  const Index n = known.grid.size[0];
  double sum = 0, count = 0;
  for (Index y = 0; y < n; ++y)
    for (Index x = 0; x < n; ++x) {
      const double dx = known.grid.x(static_cast<double>(x)) / unit - 0.45;
      const double dy = known.grid.y(static_cast<double>(y)) / unit + 0.35;
      if (std::hypot(dx, dy) >= 0.1) continue;
      sum += static_cast<double>(image.data()[y * n + x]);
      ++count;
    }
  return sum / count;
}

TEST(FbpQuality, ReadsTheUniformPatch) {
  for (const KnownScan& known :
       {KnownScan(256, 402), KnownScan(512, 804), KnownScan(256, 403, true), KnownScan(512, 805, true)}) {
    const Array y = known.line_integrals();
    for (Window window : {Window::ramp, Window::hann}) {
      const double value = patch(known, known.reconstruct(y, window));
      EXPECT_NEAR(value / 0.2, 1, tolerance::fbp_patch)
          << known.scan.detector.bins << " bins, " << known.scan.angles.size() << " views";
    }
  }
}

constexpr Index draws = 4;

/// `draws` noisy copies of line integrals as rows: scaled so that the largest is 3, counted, and scaled back.
Array noisy(const KnownScan& known, double photons, std::uint64_t seed) {
  const Array exact = known.line_integrals();
  const double scale = 3 / largest_line_integral(known.phantom, known.scan);
  const Index bins = known.scan.detector.bins, views = views_of(known.scan);
  Array y(projection_space(test::with_rows(known.scan, draws)));
  for (Index v = 0; v < views; ++v)
    for (Index k = 0; k < draws; ++k)
      for (Index b = 0; b < bins; ++b) {
        const Index at = (v * draws + k) * bins + b;
        Random random = Random(seed).at(static_cast<std::uint64_t>(at));
        const double mean = photons * std::exp(-scale * static_cast<double>(exact.data()[v * bins + b]));
        const double count = static_cast<double>(pipeline::poisson(mean, random));
        y.data()[at] = static_cast<float>(-std::log(std::max(count, 1.0) / photons) / scale);
      }
  return y;
}

struct NoiseRow {
  double photons;
  double psnr[4];  ///< ramp, shepp, hamming, hann; nothing is made up for
};

void expect_noise_table(Index n, Index views, const std::vector<NoiseRow>& table) {
  const KnownScan known(n, views);
  const Array truth = known.truth(draws);
  constexpr Window windows[] = {Window::ramp, Window::shepp, Window::hamming, Window::hann};
  for (const NoiseRow& row : table) {
    const Array y = noisy(known, row.photons, 19);
    for (int w = 0; w < 4; ++w) {
      const Array image = known.reconstruct(y, windows[w], draws, {}, w < 2 ? Interpolation{} : nothing);
      double mean = 0;
      for (Index k = 0; k < draws; ++k) mean += quality(image, truth, k).psnr / draws;
      EXPECT_NEAR(mean, row.psnr[w], tolerance::fbp_noise_psnr) << row.photons << " photons, column " << w;
    }
  }
}

TEST(FbpQuality, MeetsTheNoiseTableAt256) {
  expect_noise_table(256, 402,
                     {{1e5, {30.60, 30.46, 28.04, 27.69}},
                      {1e4, {29.60, 29.80, 27.94, 27.61}},
                      {1e3, {24.73, 25.97, 27.04, 26.89}}});
}

TEST(FbpQuality, MeetsTheNoiseTableAt512) {
  expect_noise_table(512, 804,
                     {{1e5, {31.51, 31.48, 29.88, 29.62}},
                      {1e4, {29.38, 29.98, 29.58, 29.38}},
                      {1e3, {22.46, 24.02, 27.31, 27.45}}});
}

}  // namespace
}  // namespace tandem
