// Solvers on a cone beam: the same operators, one problem in place of one a slice.

#include <gtest/gtest.h>

#include <cmath>

#include "../support/scans.hpp"
#include "tandem/core/random.hpp"
#include "tandem/geometry/phantom.hpp"
#include "tandem/operators/algebra.hpp"
#include "tandem/operators/fbp.hpp"
#include "tandem/operators/projector.hpp"
#include "tandem/solvers/cgls.hpp"
#include "tandem/solvers/run.hpp"

namespace tandem::test {
namespace {

/// Line integrals with the noise of so many photons a cell, and its norm. In a volume of 48 voxels across 350
/// leave as much of it, beside the attenuation, as 10^4 do in one of 256.
constexpr double photons = 350;
struct LowDose {
  Array data;
  double noise;
};

LowDose low_dose(const Phantom& body, const ConeBeam& scan) {
  LowDose low{Array(projection_space(scan)), 0};
  project(body, scan, {0, scan.detector.rows}, {low.data.data(), static_cast<std::size_t>(low.data.size())},
          2);
  Random random(11);
  double sum = 0;
  for (Index i = 0; i < low.data.size(); ++i) {
    float& p = low.data.data()[i];
    const double variance = std::exp(static_cast<double>(p)) / photons;
    p += static_cast<float>(std::sqrt(variance) * std::sqrt(-2 * std::log(1 - random.uniform())) *
                            std::cos(whole_turn * random.uniform()));
    sum += variance;
  }
  low.noise = std::sqrt(sum);
  return low;
}

double psnr(const Array& x, const Array& truth) {
  double square = 0, high = 0;
  for (Index i = 0; i < x.size(); ++i) {
    square += std::pow(static_cast<double>(x.data()[i]) - truth.data()[i], 2);
    high = std::max(high, static_cast<double>(truth.data()[i]));
  }
  return 10 * std::log10(high * high * static_cast<double>(x.size()) / square);
}

/// Issue 4, on fewer voxels and so with fewer photons: largest line integral 3, 90 views.
TEST(ConeSolver, ResidualsFallAndTheNoiseStopsAheadOfFdk) {
  constexpr Index n = 48;
  const VolumeGrid grid = grid_of(n, n, n);
  const ConeBeam scan{{60, 54, 2, 2, 29.5}, regular_angles(90, whole_turn), 112, 224, 26.5};
  Phantom body = scaled(ellipsoids(), n / 2.0, 1);
  Array exact(projection_space(scan)), truth(cone_volume_space(grid));
  project(body, scan, {0, 54}, {exact.data(), static_cast<std::size_t>(exact.size())});
  body = scaled(body, 1, 3.0 / *std::max_element(exact.data(), exact.data() + exact.size()));
  voxelise(body, grid, {0, n}, {truth.data(), static_cast<std::size_t>(truth.size())}, 4);
  const LowDose low = low_dose(body, scan);
  const LinearOperator A = projector(scan, grid);

  Cgls all(A, low.data, Array(A.domain()));
  const Report report = run(all, max_iterations(20));
  for (std::size_t k = 1; k < report.residuals.size(); ++k)
    EXPECT_LE(report.residuals[k], report.residuals[k - 1]) << "iteration " << k;

  Cgls stopped(A, low.data, Array(A.domain()));
  run(stopped, discrepancy({low.noise}) || max_iterations(30));
  EXPECT_GE(psnr(stopped.solution(), truth), psnr(fdk(scan, grid) * low.data, truth) + 3);
}

}  // namespace
}  // namespace tandem::test
