// Back-projection by texture units, alone and beside the cores, against the CPU. Skipped where no GPU is.

#include "cuda_fixture.hpp"

namespace tandem::test {
namespace {

using enum Precision;

const Execution by_texture[] = {{"standard", float32},
                                {"texture", float32},
                                {"texture", float16},
                                {"texture", uint8},
                                {"hybrid", float32}};

double times(Execution how, double bound) {
  return bound * (how.precision == uint8     ? tolerance::texture_uint8
                  : how.precision == float16 ? tolerance::texture_float16
                                             : 1);
}

class CudaTexture : public Cuda {
 protected:
  void expect_back(const Make& make, double bound, const std::string& what) const {
    expect_alike(adjoint(make(gpu)), adjoint(make(cpu)), what, bound);
  }
  void expect_back_projection(const ParallelBeam& scan, const VolumeGrid& grid, double bound) const {
    for (const Execution& how : by_texture)
      expect_back(projectors(scan, grid, Model::pixel_driven, how), times(how, bound),
                  name_of(how) + ", bins " + std::to_string(scan.detector.bins) + ", slices " +
                      std::to_string(grid.size[2]) + ", pitch " + std::to_string(grid.pitch[0]));
  }
};

TEST_F(CudaTexture, BackProjectionsAgreeWithTheCpu) {
  expect_back_projection(odd_scan(61, 29), grid_of(37, 41, 29), tolerance::texture(53));
  expect_back_projection(odd_scan(61, 3), grid_of(37, 41, 3, 0.5), tolerance::texture(53));
  expect_back_projection(odd_scan(147, 3), grid_of(37, 41, 3, 2.3), tolerance::texture(53));
}

TEST_F(CudaTexture, ErrorsFallWithTheNumberOfViews) {
  expect_back_projection(scan_of(2048, 2, 61), grid_of(37, 41, 2), tolerance::texture(2048));
}

TEST_F(CudaTexture, LeftoverSlicesAgreeWithTheCpu) {
  for (const Index slices : {1, 3, 5})
    expect_back_projection(odd_scan(61, slices), grid_of(37, 41, slices), tolerance::texture(53));
}

TEST_F(CudaTexture, AnyWidthAgreesWithTheCpu) {
  for (const Index bins : {1, 7})
    expect_back_projection(odd_scan(bins, 3), grid_of(37, 41, 3), tolerance::texture_of_few_bins);
  for (const Index bins : {2047, 4097})
    expect_back_projection(odd_scan(bins, 3), grid_of(37, 41, 3), tolerance::texture(53));
}

/// Two textures where one has 65 000 rows at the most.
TEST_F(CudaTexture, MoreViewsThanATextureHasRowsAgreeWithTheCpu) {
  expect_back_projection(scan_of(33'003, 3, 11), grid_of(3, 4, 3), tolerance::texture(53));
  expect_back_projection(scan_of(70'001, 3, 11), grid_of(3, 4, 3), tolerance::texture(53));
}

TEST_F(CudaTexture, RegionsAgreeWithTheCpu) {
  expect_back_projection(odd_scan(61, 5), region(grid_of(37, 41, 5), {5, 36}, {3, 22}, {0, 5}),
                         tolerance::texture(53));
}

TEST_F(CudaTexture, ShiftedViewsAgreeWithTheCpu) {
  for (const Index slices : {1, 5})
    expect_back_projection(with_shifted_views(odd_scan(61, slices)), grid_of(37, 41, slices),
                           tolerance::texture(53));
  expect_back_projection(with_shifted_views(odd_scan(147, 3)), grid_of(37, 41, 3, 2.3),
                         tolerance::texture(53));
}

TEST_F(CudaTexture, HatsThatNoTextureDrawsAreExact) {
  const ParallelBeam scan = odd_scan(61, 3);
  for (const Execution& how : by_texture)
    expect_back(projectors(scan, grid_of(37, 41, 3), Model::joseph, how), tolerance::devices, name_of(how));
}

TEST_F(CudaTexture, ZerosStayZeros) {
  for (const Execution& how : by_texture) {
    const LinearOperator A = odd_projector(3, how);
    EXPECT_TRUE(same_bits(adjoint(A) * Array(A.range()), Array(A.domain()))) << name_of(how);
  }
}

}  // namespace
}  // namespace tandem::test
