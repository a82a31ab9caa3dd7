// The pair for any geometry on CUDA against the CPU. Skipped where no GPU is.

#include <set>

#include "../../kernels/launches.hpp"
#include "../support/cone_scans.hpp"
#include "../support/flexible_scans.hpp"
#include "cuda_fixture.hpp"

namespace tandem::test {
namespace {

using CudaFlexible = Cuda;

/// Shadows from a third of a cell to ten cells, views of any orientation.
TEST_F(CudaFlexible, AgreesWithTheCpu) {
  Random random(11);
  std::set<std::string> all;
  for (const bool parallel : {false, true})
    for (const double pitch : {0.3, 1.0, 2.0, 10.0}) {
      const Index n = pitch > 5 ? 9 : 33;
      const double radius = pitch * static_cast<double>(n);
      const FlexibleBeam scan = random_views(11, 61, 83, radius, random, parallel);
      kernels::forget_launches();
      expect_the_cpus(projectors(scan, {{n, n - 4, n + 3}, {pitch, pitch, 1.1 * pitch}, {0.3, -0.2, 0.1}}),
                      (parallel ? "parallel, " : "cone, ") + std::to_string(pitch) + " mm");
      all.merge(kernels::launched());
    }
  for (const char* way : {"forward", "backward"})
    for (const char* form : {"44", "76", "wide"})
      EXPECT_TRUE(all.contains("flexible " + std::string(way) + ", " + form)) << way << ", " << form;
}

TEST_F(CudaFlexible, AnySizeAgreesWithTheCpu) {
  Random random(12);
  for (const Index n : {1, 7, 8, 9, 15, 16, 17, 40})
    for (const auto& size : {std::array<Index, 3>{n, 5, 11}, {6, n, 9}, {13, 3, n}})
      expect_the_cpus(projectors(random_views(5, 37, 43, 20, random, false), {size, {1, 1, 1}, {}}),
                      std::to_string(n));
  for (const auto& [rows, bins] : {std::pair<Index, Index>{1, 83}, {61, 1}, {7, 200}, {200, 7}})
    expect_the_cpus(projectors(random_views(9, rows, bins, 20, random, false), box(21, 19, 17, 1)),
                    std::to_string(rows));
}

/// Circles, helices and laminography have all three axes of runs.
TEST_F(CudaFlexible, OrbitsAgreeWithTheCpu) {
  constexpr double degree = half_turn / 180;
  for (const Stand& stand :
       {Stand{}, Stand{0, 2 * degree, 3 * degree}, Stand{45 * degree, 0, 0}, Stand{80 * degree, 0, 0}})
    for (const bool parallel : {false, true})
      expect_the_cpus(
          projectors(standing(37, 71, 83, 120, 240, stand, parallel, parallel ? 1 : 2), box(50, 40, 36, 1)),
          std::to_string(stand.elevation));
}

/// Sums are whole numbers of a unit, that of the largest voxel: a ray that misses this one loses little.
TEST_F(CudaFlexible, AVoxelAThousandTimesBrighterLeavesOtherRaysExact) {
  const VolumeGrid grid = box(64, 64, 64, 1);
  const FlexibleBeam scan = standing(16, 90, 90, 160, 320, {0, 0.1, 0}, false, 2);
  const LinearOperator A = projector(scan, grid), B = projectors(scan, grid)(gpu);
  Array x(A.domain());
  for (Index k = 0; k < x.size(); ++k) x.data()[k] = 1;
  const Array without = A * x;
  x.data()[(40 * 64 + 20) * 64 + 30] = 1000;
  const Array exact = A * x, seen = on_device(B * on_device(x, gpu), cpu);
  double worst = 0;
  Index beside = 0;
  for (Index k = 0; k < seen.size(); ++k) {
    const float truth = without.data()[k];
    if (exact.data()[k] != truth || truth < 20) continue;  // mm of the body
    ++beside;
    worst = std::max(worst, static_cast<double>(std::abs(seen.data()[k] - truth) / truth));
  }
  EXPECT_GT(beside, seen.size() / 4);
  EXPECT_LE(worst, 1e-5);
}

/// The integers of the projection cannot hold what is not finite, so nothing looks right.
TEST_F(CudaFlexible, WhatIsNotFiniteIsSeen) {
  const LinearOperator A =
      projectors(standing(5, 31, 33, 60, 120, {0, 0.1, 0}, false, 2), box(17, 17, 17, 1))(gpu);
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    Array x = on_device(random_array(A.domain(), 1), cpu);
    x.data()[8 * 17 * 17 + 8 * 17 + 8] = bad;
    const Array y = on_device(A * on_device(x, gpu), cpu);
    for (Index k = 0; k < y.size(); ++k) ASSERT_FALSE(std::isfinite(y.data()[k])) << bad;
  }
}

/// Voxels of a tenth of a cell: hundreds of them add up in each.
TEST_F(CudaFlexible, ManySmallVoxelsDoNotOverflow) {
  const VolumeGrid grid = box(90, 80, 70, 0.1);
  const FlexibleBeam scan = standing(7, 21, 23, 30, 45, {0.3, 0.2, 0.1}, false, 1.5);
  const LinearOperator A = projector(scan, grid);
  Array x(A.domain());
  for (Index k = 0; k < x.size(); ++k) x.data()[k] = 1;
  EXPECT_LE(relative_error(projectors(scan, grid)(gpu) * on_device(x, gpu), A * x), tolerance::devices);
}

}  // namespace
}  // namespace tandem::test
