// Joseph's projector and voxel-driven back-projection of a cone beam on a GPU, against the CPU. One direction
// of each is by texture units. Skipped where no GPU is.

#include "../support/cone_scans.hpp"
#include "cuda_fixture.hpp"

namespace tandem::test {
namespace {

using CudaConeHats = Cuda;

/// Both directions of both models; rays meet so many `planes`, and voxels so many `views`.
void expect_same(const ConeBeam& scan, const VolumeGrid& grid, double planes, double views) {
  const std::string what = "bins " + std::to_string(scan.detector.bins) + ", slices " +
                           std::to_string(grid.size[2]) + ", pitch " + std::to_string(grid.pitch[0]);
  expect_the_cpus(projectors(scan, grid, Model::joseph), "Joseph, " + what, tolerance::cone_texture(planes));
  expect_the_cpus(projectors(scan, grid, Model::pixel_driven), "pixel-driven, " + what, tolerance::devices,
                  tolerance::cone_texture(views));
}

VolumeGrid odd_voxels(double pitch = 0.6) {
  return {{37, 41, 29}, {pitch, pitch, 1.1 * pitch}, {0.3, -0.2, 0.1}};
}

TEST_F(CudaConeHats, AgreeWithTheCpu) {
  for (const double pitch : {0.3, 0.6, 0.9}) expect_same(odd_cone(53, 31, 61), odd_voxels(pitch), 37, 53);
  expect_same(odd_cone(1, 7, 11), odd_voxels(), 37, 1);
  ConeBeam fan = odd_cone(53, 1, 61);
  fan.midplane_row = 0;
  expect_same(fan, {{37, 41, 1}, {0.6, 0.6, 0.6}, {}}, 37, 53);
  expect_same(odd_cone(13, 67, 35), odd_voxels(), 37, 13);  // more rows than a block has
}

TEST_F(CudaConeHats, RegionsAndDiagonalsAgreeWithTheCpu) {
  expect_same(odd_cone(13, 31, 61), region(odd_voxels(), {17, 34}, {2, 19}, {11, 29}), 10, 13);
  ConeBeam straight = odd_cone(8, 31, 61);
  for (std::size_t k = 0; k < 8; ++k) straight.angles[k] = static_cast<double>(k) * half_turn / 4;
  expect_same(straight, odd_voxels(), 37, 8);
  straight.detector.axis_bin = 70;  // beside the detector
  expect_same(straight, odd_voxels(), 10, 1);
}

/// Textures end at 32 768 texels and 2048 layers: volumes and projections go through in parts, and what lies
/// on both sides of an edge is seen.
TEST_F(CudaConeHats, MoreThanATextureHoldsAgreesWithTheCpu) {
  expect_same(odd_cone(2111, 5, 7), {{3, 4, 5}, {1, 1, 1}, {}}, 2, 2111);
  ConeBeam wide = odd_cone(3, 5, 33'003), high = odd_cone(3, 33'003, 13);
  wide.detector.bin_pitch = high.detector.row_pitch = 1e-3;
  wide.detector.axis_bin = high.midplane_row = 32'000;
  const VolumeGrid small{{7, 6, 5}, {0.8, 0.8, 0.8}, {3, -2, 1}};
  expect_same(wide, small, 1, 1);
  expect_same(high, small, 1, 1);
  expect_same(odd_cone(3, 11, 13), {{3, 4, 33'003}, {1, 1, 1e-3}, {0, 0, -14}}, 1, 1);
  expect_same(odd_cone(3, 5, 13), {{33'003, 3, 3}, {1e-3, 1e-3, 1}, {-14, 0, 0}}, 1, 1);
}

/// FDK by voxel-driven back-projection, the whole of it on the GPU.
TEST_F(CudaConeHats, FdkAgreesWithTheCpu) {
  const ConeBeam scan = odd_cone(53, 31, 61);
  expect_alike(fdk(scan, odd_voxels(), {}, Model::pixel_driven, gpu),
               fdk(scan, odd_voxels(), {}, Model::pixel_driven), "FDK", tolerance::cone_fdk_texture);
}

}  // namespace
}  // namespace tandem::test
