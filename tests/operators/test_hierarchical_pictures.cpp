// Pictures of the hierarchical pair beside those of footprints, and how near its designs come to the ideal
// interpolation.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "../../core/error.hpp"
#include "../../geometry/phantom.hpp"
#include "../../kernels/cone_hats.hpp"
#include "../../kernels/hierarchical.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/fbp.hpp"
#include "../../operators/hierarchical.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/random.hpp"
#include "../../solvers/cgls.hpp"
#include "../support/alike.hpp"

namespace tandem::test {
namespace {

double noise_within(const LinearOperator& B, Index n) {
  Random random(17);
  const Array volume = B * sign_array(B.domain(), random);
  const double middle = 0.5 * static_cast<double>(n - 1);
  double sum = 0, count = 0;
  for (Index i = 0; i < n * n; ++i) {
    if (std::hypot(static_cast<double>(i % n) - middle, static_cast<double>(i / n) - middle) > 0.8 * middle)
      continue;
    sum += std::pow(static_cast<double>(volume.data()[i]), 2), ++count;
  }
  return std::sqrt(sum / count);
}

/// Bins are as wide as pixels at the axis. By windows that leave waves near the Nyquist frequency, aliases of
/// groups are worse than those of footprints, and only noise is alike.
TEST(HierarchicalPictures, AreAsGoodAsThoseOfFootprintsByWindowsThatFallOff) {
  constexpr Index n = 96;
  const AlikeFan fan(n);
  for (const Window window : {Window::cosine, Window::hamming, Window::hann, Window::ramp}) {
    const LinearOperator groups = fan.by(Model::hierarchical, {window}),
                         footprints = fan.by(Model::separable_footprint, {window});
    if (window != Window::ramp) {
      EXPECT_LE(fan.error(groups), 1.02 * fan.error(footprints));
    }
    EXPECT_NEAR(noise_within(groups, n) / noise_within(footprints, n), 1,
                window == Window::ramp ? 0.07 : 0.05)
        << static_cast<int>(window);
  }
}

/// An interpolation by 26 taps that keeps waves of up to a third of a cycle: a sinc under the window of
/// Blackman and Harris, whose side lobes are below 1e-4.
double ideal_weight(double x) {
  constexpr double reach = 13;
  if (std::abs(x) >= reach) return 0;
  const double at = std::numbers::pi * x, part = at / reach;
  return (x == 0 ? 1 : std::sin(at) / at) *
         (0.35875 + 0.48829 * std::cos(part) + 0.14128 * std::cos(2 * part) + 0.01168 * std::cos(3 * part));
}

/// White noise of up to a quarter of a cycle a bin.
Array half_noise(const Space& space, Index bins) {
  Random random(5);
  const Array white = sign_array(space, random);
  Array smooth(space);
  for (Index i = 0; i < space.size(); ++i) {
    double sum = 0;
    for (Index k = std::max<Index>(0, i % bins - 33); k < std::min(bins, i % bins + 34); ++k)
      sum += ideal_weight(0.4 * static_cast<double>(k - i % bins)) *
             static_cast<double>(white.data()[i - i % bins + k]);
    smooth.data()[i] = static_cast<float>(sum);
  }
  return smooth;
}

/// All views one by one, with ideal interpolation.
double ideal_sum(const ConeBeam& scan, const kernels::HierarchicalViews& n, const Array& q, double x,
                 double y) {
  double sum = 0;
  for (std::size_t v = 0; v < scan.angles.size(); ++v) {
    const double c = std::cos(scan.angles[v]), s = std::sin(scan.angles[v]);
    const double m = n.sod / (n.sod - x * s + y * c), place = n.axis_bin + m * (x * c + y * s) / n.cell_u();
    const auto near = static_cast<Index>(std::floor(place));
    for (Index bin = std::max<Index>(0, near - 13); bin < std::min(n.bins, near + 14); ++bin)
      sum += n.view_weight().at(m) * ideal_weight(place - static_cast<double>(bin)) *
             kernels::ray_length(n, 0, bin) / n.sdd *
             static_cast<double>(q.data()[static_cast<Index>(v) * n.bins + bin]);
  }
  return sum;
}

TEST(HierarchicalPictures, AreAsNearToTheIdealOnesAsTheirDesignSays) {
  constexpr Index n = 80;
  const ConeBeam scan{{3 * n / 2, 1, 1.5, 1.5, 0.75 * n - 0.5},
                      regular_angles(500, 2 * std::numbers::pi),
                      2.344 * n,
                      1.5 * 2.344 * n,
                      0};
  const VolumeGrid grid{{n, n, 1}, {1, 1, 1000}, {}};  // every row is filled
  const Array q = half_noise(projection_space(scan), scan.detector.bins);
  double last = 1;
  for (const double accuracy : {1e-2, 3e-3, 1e-3}) {
    const Array x =
        adjoint(projector(scan, grid, Model::hierarchical, Device::cpu(), {.accuracy = accuracy})) * q;
    const auto views = kernels::pack_hierarchical(scan, grid, kernels::grouping_on(Device::cpu()), accuracy);
    double difference = 0, size = 0;
    for (Index i = 7; i < n * n; i += 17) {
      if (std::hypot(grid.x(static_cast<double>(i % n)), grid.y(static_cast<double>(i / n))) > 0.4 * n)
        continue;
      const double ideal =
          ideal_sum(scan, *views, q, grid.x(static_cast<double>(i % n)), grid.y(static_cast<double>(i / n)));
      difference += std::pow(static_cast<double>(x.data()[i]) - ideal, 2), size += ideal * ideal;
    }
    const double error = std::sqrt(difference / size);
    EXPECT_LE(error, accuracy);
    EXPECT_LT(error, 0.8 * last) << accuracy;  // or it is more work than needed
    last = error;
  }
}

TEST(HierarchicalPictures, RefuseAnAccuracyThatNoDesignGives) {
  EXPECT_THROW(kernels::hierarchical_design(1e-5), GeometryError);
  EXPECT_EQ(kernels::hierarchical_design(0).accuracy, 1e-2);
  EXPECT_EQ(kernels::hierarchical_design(5e-3).accuracy, 3e-3);
}

/// Residuals of CGLS are no larger than by footprints until they come to the noise: edges are met better.
TEST(HierarchicalPictures, SolversComeAsNearToTheData) {
  constexpr Index n = 40;
  const ConeBeam scan{{3 * n / 2, 5 * n / 4, 1.5, 1.5, 0.75 * n - 0.5},
                      regular_angles(60, 2 * std::numbers::pi),
                      2.344 * n,
                      1.5 * 2.344 * n,
                      0.625 * n - 0.5};
  const VolumeGrid grid{{n, n, n}, {1, 1, 1}, {}};
  Array y(projection_space(scan));
  project(scaled(ellipsoids(), 0.45 * n, 0.02), scan, {0, scan.detector.rows},
          {y.data(), static_cast<std::size_t>(y.size())}, 3);
  Random random(3);
  const Array noise = sign_array(y.space(), random);
  for (Index i = 0; i < y.size(); ++i) y.data()[i] += 0.01f * noise.data()[i];
  const auto start = [&](Model model) {
    const LinearOperator A = projector(scan, grid, model);
    return Cgls(A, y, Array(A.domain()));
  };
  Cgls groups = start(Model::hierarchical), footprints = start(Model::separable_footprint);
  const double noise_norm = 0.01 * std::sqrt(static_cast<double>(y.size()));
  for (int k = 0; k < 12; ++k) {
    groups.step({true}), footprints.step({true});
    const double one = groups.residual_norms()[0], other = footprints.residual_norms()[0];
    if (one < 1.05 * noise_norm) break;
    EXPECT_LE(one, 1.01 * other) << k;
  }
}

}  // namespace
}  // namespace tandem::test
