// Upright views of any geometry on CUDA against the CPU. Skipped where no GPU is.

#include <set>

#include "../../kernels/launches.hpp"
#include "../../operators/tiled_projector.hpp"
#include "../support/cone_scans.hpp"
#include "../support/flexible_scans.hpp"
#include "../support/tiles.hpp"
#include "cuda_fixture.hpp"

namespace tandem::test {
namespace {

using CudaUpright = Cuda;

void expect_agreement(const FlexibleBeam& scan, const VolumeGrid& grid, const std::string& what) {
  ASSERT_TRUE(has_upright_views(scan));
  expect_the_cpus(projectors(scan, grid), what);
}

/// Voxels from a third of a cell to more than tiles bear; many rows and few.
TEST_F(CudaUpright, AgreesWithTheCpu) {
  Random random(21);
  std::set<std::string> all;
  for (const double pitch : {0.3, 0.6, 1.5})
    for (const Index rows : {1, 4, 5, 61, 300})
      for (const Index slices : {1, 4, 33, 99}) {
        kernels::forget_launches();
        expect_agreement(random_upright_views(11, rows, 83, 35 * pitch, random), box(37, 41, slices, pitch),
                         std::to_string(rows) + " rows, " + std::to_string(slices) + " slices of " +
                             std::to_string(pitch));
        all.merge(kernels::launched());
      }
  for (const char* kernel :
       {"plain footprint forward, 1", "plain footprint forward, 4", "plain footprint backward, 1",
        "plain footprint backward, 4", "footprint products forward, 256", "footprint products backward, 2"})
    EXPECT_TRUE(all.contains(kernel)) << kernel;
}

/// Helices of one turn and several, of views that lie near to each other: blocks take several.
TEST_F(CudaUpright, HelicesAgreeWithTheCpu) {
  Random random(22);
  std::set<std::string> all;
  for (const double turns : {1.0, 4.3})
    for (const double jitter : {0.0, 2.0})
      for (const Index views : {37, 400}) {
        kernels::forget_launches();
        expect_agreement(jittered_helix(views, 71, 90, turns, 9, jitter, random), box(40, 37, 110, 0.5),
                         std::to_string(views) + " views, " + std::to_string(turns) + " turns");
        all.merge(kernels::launched());
      }
  EXPECT_TRUE(all.contains("footprint products forward, 64"));
}

/// More views than there are slants in memory at once.
TEST_F(CudaUpright, ManyViewsOfFewSlicesAgreeWithTheCpu) {
  Random random(23);
  expect_agreement(jittered_helix(700, 3, 47, 2, 1, 1, random), box(21, 19, 3, 0.5), "700 views");
}

/// A tile of a volume, and the share of a member, have the coefficients of the whole.
TEST_F(CudaUpright, TeamsAndTilesAgreeWithTheCpu) {
  Random random(25);
  const FlexibleBeam scan = jittered_helix(61, 71, 90, 2, 9, 1, random);
  const VolumeGrid grid = box(40, 37, 60, 0.5);
  const LinearOperator A = projector(scan, grid);
  expect_pairs_alike(tiled_projector(scan, grid, {gpu}, 5 * smallest_tile(scan, grid, gpu)), A, "tiles");
  expect_pairs_alike(projectors(scan, grid)(Device::team({gpu, gpu})), A, "team");
}

}  // namespace
}  // namespace tandem::test
