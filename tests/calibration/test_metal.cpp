#include <gtest/gtest.h>

#include <cmath>

#include "../../calibration/metal.hpp"
#include "../../geometry/phantom.hpp"
#include "../../operators/algebra.hpp"
#include "../support/scans.hpp"

namespace tandem::test {
namespace {

using calibration::FirstLook;
using calibration::FirstVolume;
using calibration::MetalVerdict;

constexpr Index bins = 128, views = 180;
constexpr double radius = 0.5 * bins, main_attenuation = 0.03;

Scan scan_of_disc() {
  return ParallelBeam{.detector = {.bins = bins, .axis_bin = 0.5 * (bins - 1)},
                      .angles = regular_angles(views)};
}

/// An ellipse of the main material with a hole; `metal`: pins so many times as dense.
Phantom body() {
  return scaled(
      {{{1, {0.7, 0.55, INFINITY}, {0.05, 0, 0}, 0.3}, {-1, {0.12, 0.1, INFINITY}, {0.3, 0.1, 0}, 0}}},
      radius, main_attenuation);
}
Phantom pins(double times) {
  return scaled({{{times, {0.06, 0.06, INFINITY}, {-0.35, 0.1, 0}, 0},
                  {times, {0.05, 0.05, INFINITY}, {0.2, -0.25, 0}, 0}}},
                radius, main_attenuation);
}

std::vector<float> rays_of(const Phantom& sample) {
  const Scan scan = scan_of_disc();
  std::vector<float> rays(projection_space(scan).size());
  project(sample, scan, {0, 1}, rays);
  return rays;
}

/// The line integrals of the body, and of metal that lets a part of the beam through, which makes streaks:
/// -log(.9 exp(-m) + .1 exp(-m / 4)) in the place of m.
Array lines_with(double times) {
  const std::vector<float> rays = rays_of(body()), metal = rays_of(pins(times));
  Array lines(projection_space(scan_of_disc()));
  for (std::size_t k = 0; k < rays.size(); ++k)
    lines.data()[k] = rays[k] - std::log(0.9F * std::exp(-metal[k]) + 0.1F * std::exp(-metal[k] / 4));
  return lines;
}

FirstVolume looked_at(Array lines, const FirstLook& how = {}) {
  const Scan scan = scan_of_disc();
  return look_at_first_volume(std::move(lines), scan, fitting_grid(scan), how, Device::cpu());
}

TEST(Metal, IsMendedToTheLineIntegralsOfTheBody) {
  const Scan scan = scan_of_disc();
  const auto [search, metal, dense] = looked_at(lines_with(12));
  ASSERT_TRUE(metal);
  EXPECT_EQ(search.verdict, MetalVerdict::mended);
  EXPECT_NEAR(search.main, main_attenuation, 0.05 * main_attenuation);
  EXPECT_GT(search.voxels, 30);  // the pins have 78 voxels
  EXPECT_LT(search.voxels, 120);
  EXPECT_GT(search.share, 0.05);
  EXPECT_LT(search.share, 0.4);
  EXPECT_FALSE(dense) << "metal is no denser part of the sample";
  Array lines = lines_with(12);
  const Array before = lines.clone();
  Mend(fitting_grid(scan), *metal)(lines, scan);
  const std::vector<float> truth = rays_of(body());
  double now = 0, was = 0;
  for (Index k = 0; k < lines.size(); ++k) {
    if (lines.data()[k] == before.data()[k]) continue;
    now += std::pow(lines.data()[k] - truth[k], 2);
    was += std::pow(before.data()[k] - truth[k], 2);
  }
  // In the place of metal the prior has the main material, and so has the body.
  EXPECT_LT(std::sqrt(now / was), 0.04);
}

TEST(Metal, IsNotSeenWhereNothingIsFiveTimesAsDense) {
  const auto [search, metal, dense] = looked_at(lines_with(2));
  EXPECT_FALSE(metal);
  EXPECT_EQ(search.verdict, MetalVerdict::none);
  EXPECT_NEAR(search.threshold, 5 * search.main, 1e-12);
  EXPECT_TRUE(looked_at(lines_with(2), {.threshold = 2 * main_attenuation}).metal) << "a lower threshold";
}

TEST(Metal, DenserPartsAreTheirOwnVoxels) {
  const FirstVolume first = looked_at(lines_with(2), {.at_metal = false});
  ASSERT_TRUE(first.dense);
  const Scan scan = scan_of_disc();
  const VolumeGrid grid = fitting_grid(scan);
  for (Index y = 0; y < bins; ++y)
    for (Index x = 0; x < bins; ++x) {
      const double value = value_at(pins(1), grid.x(x), grid.y(y), 0);
      const float found = first.dense->data()[y * bins + x];
      const auto beside = [&](double dx, double dy) {
        return value_at(pins(1), grid.x(x) + dx, grid.y(y) + dy, 0);
      };
      const bool inner =
          value > 0 && beside(1.5, 0) > 0 && beside(-1.5, 0) > 0 && beside(0, 1.5) > 0 && beside(0, -1.5) > 0;
      if (inner) {
        EXPECT_GT(found, 2 * main_attenuation) << x << ' ' << y;
      } else if (value == 0 && beside(3, 0) == 0 && beside(-3, 0) == 0 && beside(0, 3) == 0 &&
                 beside(0, -3) == 0) {
        EXPECT_EQ(found, 0) << x << ' ' << y;
      }
    }
}

TEST(Metal, ThatMostRaysMeetIsLeft) {
  const Phantom ring = scaled({{{12, {0.75, 0.75, INFINITY}, {}, 0},
                                {-12, {0.65, 0.65, INFINITY}, {}, 0},
                                {1, {0.65, 0.65, INFINITY}, {}, 0}}},
                              radius, main_attenuation);
  const std::vector<float> rays = rays_of(ring);
  Array lines(projection_space(scan_of_disc()));
  std::copy(rays.begin(), rays.end(), lines.data());
  const FirstVolume first = looked_at(std::move(lines), {.threshold = 6 * main_attenuation});
  EXPECT_FALSE(first.metal);
  EXPECT_EQ(first.search.verdict, MetalVerdict::too_much);
  EXPECT_GT(first.search.share, 0.5);
}

TEST(Metal, NeedsASample) {
  const FirstVolume first = looked_at(Array(projection_space(scan_of_disc())));
  EXPECT_FALSE(first.metal || first.dense);
  EXPECT_EQ(first.search.verdict, MetalVerdict::no_material);
}

TEST(Metal, MainAttenuationIsTheMedianOfTheBody) {
  std::vector<float> voxels;
  for (int k = 0; k < 3000; ++k) voxels.push_back(k % 2 ? 0.001F : -0.001F);                   // air
  for (int k = 0; k < 1001; ++k) voxels.push_back(1 + 0.0001F * static_cast<float>(k - 500));  // the body
  for (int k = 0; k < 50; ++k) voxels.push_back(20);                                           // metal
  EXPECT_NEAR(calibration::main_attenuation(voxels), 1, 0.003);
  EXPECT_EQ(calibration::main_attenuation({}), 0);
  EXPECT_EQ(calibration::main_attenuation(std::vector<float>(10, -1.0F)), 0);
}

}  // namespace
}  // namespace tandem::test
