#pragma once

// The gain of CGLS, stopped by the noise, over FDK from few views of few photons.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "../../core/parallel.hpp"
#include "../../geometry/phantom.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/fbp.hpp"
#include "../../operators/projector.hpp"
#include "../../pipeline/simulate.hpp"
#include "../../solvers/cgls.hpp"
#include "scans.hpp"

namespace tandem::test {

struct LowDose {
  VolumeGrid grid;
  ConeBeam scan;
  Array truth, data;
  double noise;  ///< norm of what counting adds to the data
};

/// Ellipsoids in n^3 voxels of 1 mm, the largest line integral 3, Poisson counts of so many photons a cell.
inline LowDose low_dose(Index n, Index views, double photons) {
  const Index bins = n * 5 / 4, rows = n * 9 / 8;
  const auto size = static_cast<double>(n);
  const auto middle = [](Index count) { return 0.5 * static_cast<double>(count - 1); };
  const VolumeGrid grid = grid_of(n, n, n);
  const ConeBeam scan{{bins, rows, 2, 2, middle(bins)},
                      regular_angles(views, whole_turn),
                      size * 7 / 3,
                      size * 14 / 3,
                      middle(rows)};
  LowDose low{grid, scan, Array(cone_volume_space(grid)), Array(projection_space(scan)), 0};
  const Phantom body = scaled(ellipsoids(), 0.5 * size, 1),
                thick = scaled(body, 1, 3 / largest_line_integral(body, scan));
  voxelise(thick, grid, {0, n}, {low.truth.data(), static_cast<std::size_t>(low.truth.size())}, 4);
  project(thick, scan, {0, rows}, {low.data.data(), static_cast<std::size_t>(low.data.size())}, 2);
  std::vector<double> variance(static_cast<std::size_t>(views), 0.0);
  parallel_for(views, [&](Index view) {
    Random random = Random(11).at(static_cast<std::uint64_t>(view));
    float* y = low.data.data() + view * rows * bins;
    for (Index i = 0; i < rows * bins; ++i) {
      const double mean = photons * std::exp(-static_cast<double>(y[i]));
      variance[static_cast<std::size_t>(view)] += 1 / mean;
      const auto count = static_cast<double>(pipeline::poisson(mean, random));
      y[i] = static_cast<float>(-std::log(std::max(count, 0.5) / photons));
    }
  });
  for (const double v : variance) low.noise += v;
  low.noise = std::sqrt(low.noise);
  return low;
}

/// PSNR over the cube, dB; the range is the truth's largest value.
inline double psnr(const Array& anywhere, const Array& truth) {
  const Array x = on_device(anywhere, Device::cpu());
  double square = 0, high = 0;
  for (Index i = 0; i < x.size(); ++i) {
    square += std::pow(static_cast<double>(x.data()[i]) - truth.data()[i], 2);
    high = std::max(high, static_cast<double>(truth.data()[i]));
  }
  return 10 * std::log10(high * high * static_cast<double>(x.size()) / square);
}

/// Expects that residuals fall in each of 20 steps from zero, and that the noise stops CGLS ahead of FDK.
inline void expect_cgls_ahead_of_fdk(const LowDose& low, Device device) {
  const Array y = on_device(low.data, device);
  const LinearOperator A = projector(low.scan, low.grid, Model::separable_footprint, device);
  Cgls all(A, y, Array(A.domain()));
  const Report report = run(all, max_iterations(20));
  for (std::size_t k = 1; k < report.residuals.size(); ++k)
    EXPECT_LE(report.residuals[k], report.residuals[k - 1]) << "iteration " << k;

  Cgls stopped(A, y, Array(A.domain()));
  const int steps = run(stopped, discrepancy({low.noise}) || max_iterations(30)).iterations;
  const auto by_fdk = [&](Window window) {
    return psnr(fdk(low.scan, low.grid, {window, {}}, Model::separable_footprint, device) * y, low.truth);
  };
  const double cgls = psnr(stopped.solution(), low.truth), ramp = by_fdk(Window::ramp),
               hann = by_fdk(Window::hann);
  std::cout << "PSNR, dB: CGLS " << cgls << " after " << steps << " steps, FDK " << ramp << ", with Hann "
            << hann << '\n';
  EXPECT_GE(cgls, ramp + 3);
  EXPECT_GE(cgls, hann + 0.5);
}

}  // namespace tandem::test
