// A published case: Adler, Oktem, Learned Primal-Dual Reconstruction, IEEE TMI 37(6), 2018, and its public
// scripts: modified Shepp-Logan sampled at the centres of 128 x 128 pixels, 30 views at (i + 1/2) pi / 30,
// 183 bins over the diagonal, noise of 5 % of the mean line integral. The five slices here are five draws of
// it.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <numbers>

#include "../../geometry/phantom.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/fbp.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/random.hpp"
#include "../../solvers/pdhg.hpp"
#include "../../solvers/sirt.hpp"
#include "../support/scans.hpp"

namespace tandem {
namespace {

constexpr Index draws = 5, size = 128, views = 30, bins = 183;
constexpr double within = 0.15;  // dB, about the published figures

ParallelBeam published_scan() {
  ParallelBeam scan;
  const double pitch = std::numbers::sqrt2 * size / bins;
  scan.detector = {
      .bins = bins, .rows = draws, .bin_pitch = pitch, .row_pitch = 1, .axis_bin = 0.5 * (bins - 1)};
  for (Index i = 0; i < views; ++i)
    scan.angles.push_back((static_cast<double>(i) + 0.5) * std::numbers::pi / static_cast<double>(views));
  return scan;
}

struct PublishedCase {
  ParallelBeam scan = published_scan();
  VolumeGrid grid = test::grid_of(size, size, draws);
  LinearOperator A = projector(scan, grid, Model::joseph);
  Array truth = Array(A.domain()), y;

  PublishedCase() : y(A.range()) {
    const Phantom phantom = scaled(shepp_logan(), 0.5 * size, 1);
    voxelise(phantom, grid, {0, draws}, {truth.data(), static_cast<std::size_t>(truth.size())}, 1);
    y = A * truth;
    double sum = 0;
    for (Index i = 0; i < y.size(); ++i) sum += std::abs(static_cast<double>(y.data()[i]));
    const double noise = 0.05 * sum / static_cast<double>(y.size());
    Random random(1);
    for (Index i = 0; i < y.size(); ++i) {  // normal numbers by Box and Muller, 1958
      const double radius = std::sqrt(-2 * std::log(random.uniform()));
      y.data()[i] += static_cast<float>(noise * radius * std::cos(2 * std::numbers::pi * random.uniform()));
    }
  }

  /// The mean over the draws of the PSNR with range 1, dB.
  double psnr(const Array& x) const {
    double mean = 0;
    for (Index k = 0; k < draws; ++k) {
      double square = 0;
      for (Index i = k * size * size; i < (k + 1) * size * size; ++i)
        square += std::pow(static_cast<double>(x.data()[i]) - static_cast<double>(truth.data()[i]), 2);
      mean += 10 * std::log10(size * size / square) / draws;
    }
    return mean;
  }
};

TEST(PublishedTv, MeetsTheFigureOfFbp) {
  const PublishedCase known;
  const Filter hann{.window = Window::hann};
  // the bare window: that program makes up for no interpolation
  constexpr Interpolation nothing{Interpolation::Kind::polynomial, 1};
  EXPECT_NEAR(known.psnr(fbp(known.A, known.scan, known.grid, hann, nothing) * known.y), 19.73, within);
}

/// |Ax - b|^2 with weights of the angle times the pitch, and 0.26 of the total variation, is in plain sums
/// 1/2 |Ax - b|^2 + 1.255 of it.
TEST(PublishedTv, MeetsTheFigureOfTotalVariation) {
  const PublishedCase known;
  Pdhg solver(known.A, known.y.clone(), Array(known.A.domain()), total_variation(known.A.domain()), {1.255f});
  run(solver, max_iterations(1000));
  const double reached = known.psnr(solver.solution());
  std::cout << "PSNR of TV: " << reached << " dB\n";
  EXPECT_NEAR(reached, 28.09, within);
}

/// The best of 200 steps, which an independent program made.
TEST(PublishedTv, MeetsTheFigureOfSirt) {
  const PublishedCase known;
  Sirt solver(known.A, known.y, Array(known.A.domain()), {.bounds = above_zero});
  double best = 0;
  run(solver, max_iterations(200),
      [&](const Progress& now) { best = std::max(best, known.psnr(now.solution)); });
  EXPECT_NEAR(best, 24.19, 2 * within);
}

}  // namespace
}  // namespace tandem
