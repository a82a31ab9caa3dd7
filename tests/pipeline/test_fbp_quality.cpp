// Filtered back-projection against research, maths D.2: modified Shepp-Logan, rays sampled at bin centres,
// pitch one pixel, as many bins as pixels, views at equal steps over half a turn; truth is the average over
// 16 x 16 points.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "../support/scans.hpp"
#include "../support/tolerances.hpp"
#include "tandem/geometry/phantom.hpp"
#include "tandem/operators/algebra.hpp"
#include "tandem/operators/fbp.hpp"
#include "tandem/operators/projector.hpp"
#include "tandem/pipeline/quality.hpp"
#include "tandem/pipeline/simulate.hpp"

namespace tandem {
namespace {

using pipeline::Quality;

/// Line integrals and truth of one case of the table.
struct Known {
  ParallelBeam scan;
  VolumeGrid grid;
  Phantom phantom;

  Known(Index n, Index views, bool both_ends = false)
      : scan{.detector = {.bins = n, .axis_bin = 0.5 * static_cast<double>(n - 1)},
             .angles = test::regular_angles(views, std::numbers::pi, both_ends)},
        grid(fitting_grid(scan)),
        phantom(scaled(shepp_logan(), half_width(grid), 1)) {}

  Array line_integrals() const {
    Array y(projection_space(scan));
    project(phantom, scan, {0, 1}, {y.data(), static_cast<std::size_t>(y.size())});
    return y;
  }

  Array truth(Index slices = 1) const {
    Array all(volume_space(test::with_slices(grid, slices)));
    const std::size_t slice = static_cast<std::size_t>(all.size() / slices);
    for (Index k = 0; k < slices; ++k)
      voxelise(phantom, grid, {0, 1}, {all.data() + static_cast<std::size_t>(k) * slice, slice});
    return all;
  }

  Array reconstruct(const Array& y, Window window, Index slices = 1) const {
    const ParallelBeam rows = test::with_rows(scan, slices);
    const VolumeGrid volume = test::with_slices(grid, slices);
    return fbp(projector(rows, volume), rows, volume, {.window = window}) * y;
  }
};

Quality quality(const Array& image, const Array& truth, Index slice = 0) {
  const Shape n = image.space().shape();
  const std::size_t size = static_cast<std::size_t>(n[1] * n[2]),
                    first = static_cast<std::size_t>(slice) * size;
  return pipeline::compare({image.data() + first, size}, {truth.data() + first, size}, {1, n[1], n[2]});
}

struct Row {
  Window window;
  double rmse, psnr;
};

void expect_table(Index n, Index views, const std::vector<Row>& table) {
  const Known known(n, views);
  const Array y = known.line_integrals(), truth = known.truth();
  for (const Row& row : table) {
    const Quality q = quality(known.reconstruct(y, row.window), truth);
    EXPECT_NEAR(q.rmse_disc / row.rmse, 1, tolerance::fbp_rmse) << static_cast<int>(row.window);
    EXPECT_NEAR(q.psnr, row.psnr, tolerance::fbp_psnr) << static_cast<int>(row.window);
  }
}

TEST(FbpQuality, MeetsTheTableAt256) {
  expect_table(256, 402,
               {{Window::ramp, 0.02052, 30.73},
                {Window::shepp, 0.02171, 30.54},
                {Window::cosine, 0.03034, 29.09},
                {Window::hamming, 0.03669, 28.05},
                {Window::hann, 0.03890, 27.70},
                {Window::parzen, 0.05197, 25.80},
                {Window::butterworth, 0.03494, 28.33}});
}

TEST(FbpQuality, MeetsTheTableAt512) {
  expect_table(512, 804,
               {{Window::ramp, 0.01451, 31.83},
                {Window::shepp, 0.01551, 31.68},
                {Window::cosine, 0.02142, 30.71},
                {Window::hamming, 0.02602, 29.92},
                {Window::hann, 0.02755, 29.65},
                {Window::parzen, 0.03612, 28.20},
                {Window::butterworth, 0.02611, 29.90}});
}

/// The mean over the disc of radius 0.1 at (0.45, -0.35), where the phantom is 0.2.
double patch(const Known& known, const Array& image) {
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
  for (const Known& known :
       {Known(256, 402), Known(512, 804), Known(256, 403, true), Known(512, 805, true)}) {
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
Array noisy(const Known& known, double photons, std::uint64_t seed) {
  const Array exact = known.line_integrals();
  const double scale = 3 / largest_line_integral(known.phantom, known.scan);
  const Index bins = known.scan.detector.bins, views = static_cast<Index>(known.scan.angles.size());
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
  double psnr[4];  ///< ramp, shepp, hamming, hann
};

void expect_noise_table(Index n, Index views, const std::vector<NoiseRow>& table) {
  const Known known(n, views);
  const Array truth = known.truth(draws);
  constexpr Window windows[] = {Window::ramp, Window::shepp, Window::hamming, Window::hann};
  for (const NoiseRow& row : table) {
    const Array y = noisy(known, row.photons, 19);
    for (int w = 0; w < 4; ++w) {
      const Array image = known.reconstruct(y, windows[w], draws);
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
