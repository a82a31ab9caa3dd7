// The cone-beam pair on CUDA against the CPU. Skipped where no GPU is.

#include "../../kernels/cuda/footprint/separable_footprint.hpp"
#include "../support/cone_scans.hpp"
#include "cuda_fixture.hpp"

namespace tandem::test {
namespace {

constexpr Index few = kernels::cuda::plain_up_to;

using CudaCone = Cuda;

void expect_agreement(const ConeBeam& scan, const VolumeGrid& grid, FootprintTuning tuning = {}) {
  expect_the_cpus(projectors(scan, grid, Model::separable_footprint, {.tuning = tuning}),
                  std::to_string(grid.pitch[0]) + " mm, " + std::to_string(grid.size[0]) + " x " +
                      std::to_string(grid.size[1]) + " x " + std::to_string(grid.size[2]) + ", " +
                      std::to_string(scan.angles.size()) + " views");
}

TEST_F(CudaCone, AgreesWithTheCpu) {
  for (const double pitch : {0.1, 0.5, 0.8, 1.1})
    expect_agreement(far_cone(53, 61, 83), box(37, 41, 29, pitch));
}

TEST_F(CudaCone, AnySizeAgreesWithTheCpu) {
  for (const auto& [rows, bins] : {std::pair<Index, Index>{1, 83}, {61, 1}, {7, 200}, {200, 7}})
    expect_agreement(far_cone(17, rows, bins), box(37, 41, 29, 0.5));
  for (const Index views : {1, 2, 5}) expect_agreement(far_cone(views, 33, 65), box(37, 41, 29, 0.5));
  for (const Index n : {1, 3, 31, 32, 33, 130}) expect_agreement(far_cone(9, 90, 65), box(7, 5, n, 0.5));
  for (const auto& [nx, ny] : {std::pair<Index, Index>{1, 1}, {1, 70}, {70, 1}, {16, 8}})
    expect_agreement(far_cone(9, 33, 65), box(nx, ny, 9, 0.5));
}

/// More than one block in every dimension, and more than one batch of views in the back-projection.
TEST_F(CudaCone, LargerOnesAgreeWithTheCpu) {
  ConeBeam scan = far_cone(150, 300, 170);
  scan.detector.row_pitch = 0.7;
  expect_agreement(scan, box(70, 90, 140, 0.5));
}

/// There are so many lines of tiles and views that both directions take several strips of the volume and
/// batches of views.
TEST_F(CudaCone, ManyBatchesAgreeWithTheCpu) {
  expect_agreement(far_cone(600, 31, 47), box(5, 13'100, few + 1, 0.01));
}

TEST_F(CudaCone, RightAnglesAndOddPlacesAgreeWithTheCpu) {
  ConeBeam scan = far_cone(4, 70, 65);
  for (std::size_t v = 0; v < 4; ++v) scan.angles[v] = static_cast<double>(v) * half_turn / 2;
  expect_agreement(scan, box(37, 41, 29, 0.5));
  expect_agreement(far_cone(9, 70, 65), region(box(37, 41, 29, 0.5), {20, 37}, {3, 11}, {2, 27}));
  scan.midplane_row = -20;
  scan.detector.axis_bin = 80;
  expect_agreement(scan, {{37, 41, 29}, {0.5, 0.5, 0.5}, {-5, 3, 12}});
}

/// Voxels from a twentieth of a bin to several.
TEST_F(CudaCone, FansAgreeWithTheCpu) {
  ConeBeam scan = far_cone(31, 1, 83);
  for (const double midplane_row : {0.0, 0.2}) {
    scan.midplane_row = midplane_row;
    for (const double pitch : {0.05, 0.5, 0.8, 1.1, 3.0}) {
      const VolumeGrid grid = box(pitch > 2 ? 21 : 37, pitch > 2 ? 19 : 41, 1, pitch);
      for (const VolumeGrid& each :
           {grid, tall_voxels(FanBeam{scan}, grid), flat_voxels(FanBeam{scan}, grid)})
        expect_agreement(scan, each);
    }
  }
  for (const auto& [nx, ny] : {std::pair<Index, Index>{1, 1}, {1, 70}, {70, 1}, {33, 65}})
    expect_agreement(scan, box(nx, ny, 1, 0.5));
  for (const Index bins : {1, 2, 127, 129}) expect_agreement(far_cone(17, 1, bins), box(37, 41, 1, 0.5));
  scan = far_cone(8, 1, 65);
  for (std::size_t v = 0; v < 8; ++v) scan.angles[v] = static_cast<double>(v) * half_turn / 4;
  expect_agreement(scan, box(37, 41, 1, 0.5));
  scan.detector.axis_bin = 80;
  expect_agreement(scan, {{37, 41, 1}, {0.5, 0.5, 0.5}, {-5, 3, 0}});
}

/// Sizes around which either direction goes over from plain kernels to tiles.
TEST_F(CudaCone, FewRowsAndSlicesAgreeWithTheCpu) {
  for (Index rows = 1; rows <= few + 1; ++rows)
    for (Index slices = 1; slices <= few + 1; ++slices)
      expect_agreement(far_cone(11, rows, 43), box(21, 19, slices, 0.5));
  for (const Index one : {Index{1}, few}) {
    ConeBeam scan = far_cone(11, one, 43);
    expect_agreement(scan, box(21, 19, 40, 0.5));
    expect_agreement(far_cone(11, 40, 43), box(21, 19, one, 0.5));
    scan.midplane_row = -20;
    expect_agreement(scan, {{21, 19, 29}, {0.5, 0.5, 0.5}, {-5, 3, 12}});
  }
}

/// More views and lines than blocks along most dimensions of a grid.
TEST_F(CudaCone, LongFansAgreeWithTheCpu) {
  ConeBeam scan = far_cone(3, 1, 47);
  scan.sod = 900, scan.sdd = 1700;
  expect_agreement(scan, box(3, 70'000, 1, 0.02));
  const Make make = projectors(far_cone(66'000, 1, 5), box(4, 3, 1, 0.5));
  expect_alike(make(gpu), make(cpu), "many views");
}

TEST_F(CudaCone, EveryTuningAgreesWithTheCpu) {
  for (const int rows : {64, 128, 256})
    for (const int voxels : {1, 2, 3})
      expect_agreement(far_cone(41, 61, 83), box(37, 41, 99, 0.5), {rows, voxels});
}

/// Voxels that meet two and more rows, rows that meet many voxels, and voxels too large for products.
TEST_F(CudaCone, AnyRatioAgreesWithTheCpu) {
  for (const double pitch_z : {0.05, 0.2, 1.5, 4.0}) {
    VolumeGrid grid = box(21, 19, 23, 0.5);
    grid.pitch[2] = pitch_z;
    expect_agreement(far_cone(19, 61, 83), grid);
  }
  for (const double pitch : {2.0, 3.0}) expect_agreement(far_cone(19, 61, 83), box(21, 19, 23, pitch));
}

TEST_F(CudaCone, PlainKernelsAgreeWithTheCpu) {
  const ConeBeam scan = far_cone(19, 31, 43);
  const VolumeGrid grid = box(21, 19, 23, 0.7);
  const LinearOperator A = projector(scan, grid);
  const ConeViews views = pack(scan, grid);
  Stream& stream = default_stream(gpu);
  const Array x = random_array(A.domain(), 2), q = random_array(A.range(), 3);
  Array there_x = on_device(x, gpu), there_q = on_device(q, gpu);
  kernels::cuda::plain_footprint_forward(views, 2, image(ConstVectorView(there_x)), 0.5f,
                                         image(tandem::VectorView(there_q)), stream);
  Array truth_q = q.clone(), truth_x = x.clone();
  A.apply(2, x, 0.5f, truth_q, default_stream(cpu));
  EXPECT_LE(relative_error(there_q, truth_q), tolerance::devices);
  there_q = on_device(q, gpu);
  kernels::cuda::plain_footprint_backward(views, 2, image(ConstVectorView(there_q)), 0.5f,
                                          image(tandem::VectorView(there_x)), stream);
  A.apply_adjoint(2, q, 0.5f, truth_x, default_stream(cpu));
  EXPECT_LE(relative_error(there_x, truth_x), tolerance::devices);
}

TEST_F(CudaCone, FdkAgreesWithTheCpu) {
  const ConeBeam scan = far_cone(90, 31, 61);
  const VolumeGrid grid = box(25, 23, 21, 0.5);
  expect_alike(fdk(scan, grid, {}, Model::separable_footprint, gpu), fdk(scan, grid), "FDK",
               tolerance::fbp_devices);
}

}  // namespace
}  // namespace tandem::test
