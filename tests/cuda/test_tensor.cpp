// Back-projection by tensor cores against the CPU. Skipped where no GPU is that has them.

#include <algorithm>

#include "cuda_fixture.hpp"
#include "tandem/core/error.hpp"
#include "tandem/operators/adjointness.hpp"

namespace tandem::test {
namespace {

constexpr Execution half{Variant::tensor, Precision::float16}, single{Variant::tensor, Precision::float32};

class CudaTensor : public Cuda {
 protected:
  void SetUp() override {
    Cuda::SetUp();
    if (IsSkipped()) return;
    const std::vector<Execution> here = executions(gpu);
    if (std::find(here.begin(), here.end(), half) == here.end()) GTEST_SKIP() << "no tensor variant here";
  }
  void expect_back_projection(const ParallelBeam& scan, const VolumeGrid& grid, double bound,
                              Model model = Model::pixel_driven) const {
    const LinearOperator A = projector(scan, grid, model, cpu);
    const Array q = random_array(A.range(), 2), truth = adjoint(A) * q, there = on_device(q, gpu);
    for (const Execution how : {half, single}) {
      const LinearOperator B = projector(scan, grid, model, gpu, how);
      EXPECT_LE(relative_error(adjoint(B) * there, truth), how == half ? bound : tolerance::devices)
          << name_of(how) << ", bins " << scan.detector.bins << ", slices " << grid.size[2] << ", pitch "
          << grid.pitch[0];
    }
  }
};

TEST_F(CudaTensor, BackProjectionsAgreeWithTheCpu) {
  for (const Model model : {Model::pixel_driven, Model::joseph}) {
    for (const double pitch : {1.0, 1.2})
      expect_back_projection(odd_scan(61, 29), grid_of(37, 41, 29, pitch), tolerance::tensor_float16(53),
                             model);
    // many pixels so near to the axis that all views give them the same weights
    expect_back_projection(odd_scan(61, 29), grid_of(37, 41, 29, 0.5), tolerance::tensor_float16_of_few_bins,
                           model);
  }
}

TEST_F(CudaTensor, SumsOverManyViewsKeepTheirPrecision) {
  expect_back_projection(scan_of(2048, 3, 61), grid_of(37, 41, 3), tolerance::tensor_float16_of_2048_views);
}

TEST_F(CudaTensor, LeftoverSlicesAgreeWithTheCpu) {
  for (const Index slices : {1, 3, 63, 64, 65, 129})
    expect_back_projection(odd_scan(61, slices), grid_of(37, 41, slices), tolerance::tensor_float16(53));
}

TEST_F(CudaTensor, AnyWidthAgreesWithTheCpu) {
  for (const Index bins : {1, 7})
    expect_back_projection(odd_scan(bins, 3), grid_of(37, 41, 3), tolerance::tensor_float16_of_few_bins);
  for (const Index bins : {2047, 4097})
    expect_back_projection(odd_scan(bins, 3), grid_of(37, 41, 3), tolerance::tensor_float16(53));
}

TEST_F(CudaTensor, AnyNumberOfViewsAgreesWithTheCpu) {
  for (const Index views : {1, 2, 5, 17})
    expect_back_projection(scan_of(views, 3, 61), grid_of(37, 41, 3), tolerance::tensor_float16_of_few_bins);
}

TEST_F(CudaTensor, RegionsAgreeWithTheCpu) {
  expect_back_projection(odd_scan(61, 5), region(grid_of(37, 41, 5), {5, 36}, {3, 22}, {0, 5}),
                         tolerance::tensor_float16(53));
}

TEST_F(CudaTensor, PairsMatchInFloat32) {
  const ParallelBeam scan = odd_scan(61, 9);
  for (const Model model : {Model::pixel_driven, Model::joseph}) {
    const Adjointness a = adjointness(projector(scan, grid_of(37, 41, 9), model, gpu, single));
    EXPECT_LE(a.mismatch, tolerance::mismatch);
    EXPECT_NEAR(a.coupling, 1, tolerance::coupling);
  }
}

TEST_F(CudaTensor, BitsDependOnNeitherTheRunNorTheSlicesBeside) {
  for (const Execution how : {half, single})
    expect_same_bits(adjoint(odd_projector(67, how)), adjoint(odd_projector(1, how)), {0, 31, 66},
                     name_of(how));
}

TEST_F(CudaTensor, BetaZeroNeverReadsTheOutput) {
  for (const Execution how : {half, single})
    expect_beta_zero_reads_nothing(adjoint(odd_projector(3, how)), name_of(how));
}

TEST_F(CudaTensor, PixelsTooLargeForAProductAreRefused) {
  const ParallelBeam scan = odd_scan(61, 3);
  EXPECT_THROW(projector(scan, grid_of(37, 41, 3, 2.3), Model::pixel_driven, gpu, half), GeometryError);
  EXPECT_EQ(resolved({Variant::automatic, Precision::float32}, scan, grid_of(37, 41, 3, 2.3),
                     Model::pixel_driven, gpu),
            (Execution{Variant::alu, Precision::float32}));
}

}  // namespace
}  // namespace tandem::test
