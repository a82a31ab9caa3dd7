// Projection by tensor cores against the CPU and against their own back-projection. Skipped where no GPU is
// that has them.

#include <algorithm>
#include <limits>

#include "../support/tolerances.hpp"
#include "cuda_fixture.hpp"
#include "tandem/operators/adjointness.hpp"
#include "tandem/operators/vector.hpp"

namespace tandem::test {
namespace {

constexpr Execution half{Variant::tensor, Precision::float16}, single{Variant::tensor, Precision::float32};

class CudaTensorProjection : public Cuda {
 protected:
  void SetUp() override {
    Cuda::SetUp();
    if (IsSkipped()) return;
    const std::vector<Execution> here = executions(gpu);
    if (std::find(here.begin(), here.end(), half) == here.end()) GTEST_SKIP() << "no tensor variant here";
  }
  void expect_projection(const ParallelBeam& scan, const VolumeGrid& grid,
                         Model model = Model::pixel_driven) const {
    const LinearOperator A = projector(scan, grid, model, cpu);
    const Array x = random_array(A.domain(), 2), truth = A * x, there = on_device(x, gpu);
    for (const Execution how : {half, single}) {
      const LinearOperator P = projector(scan, grid, model, gpu, how);
      EXPECT_LE(relative_error(P * there, truth),
                how == half ? tolerance::tensor_float16_projection : tolerance::devices)
          << name_of(how) << ", bins " << scan.detector.bins << ", views " << scan.angles.size()
          << ", slices " << grid.size[2] << ", pitch " << grid.pitch[0];
    }
  }
};

TEST_F(CudaTensorProjection, AgreesWithTheCpu) {
  for (const Model model : {Model::pixel_driven, Model::joseph})
    for (const double pitch : {1.0, 1.2, 0.5})
      expect_projection(odd_scan(61, 29), grid_of(37, 41, 29, pitch), model);
}

TEST_F(CudaTensorProjection, LeftoverSlicesAgreeWithTheCpu) {
  for (const Index slices : {1, 3, 63, 64, 65, 129})
    expect_projection(odd_scan(61, slices), grid_of(37, 41, slices));
}

TEST_F(CudaTensorProjection, AnyWidthAgreesWithTheCpu) {
  for (const Index bins : {1, 7, 2047, 4097}) expect_projection(odd_scan(bins, 3), grid_of(37, 41, 3));
}

TEST_F(CudaTensorProjection, AnyNumberOfViewsAgreesWithTheCpu) {
  for (const Index views : {1, 2, 5, 17, 720}) expect_projection(scan_of(views, 3, 61), grid_of(37, 41, 3));
}

TEST_F(CudaTensorProjection, LongRaysAgreeWithTheCpu) {
  for (const Index views : {3, 40, 200}) expect_projection(scan_of(views, 2, 501), grid_of(401, 517, 2));
}

TEST_F(CudaTensorProjection, RegionsAgreeWithTheCpu) {
  expect_projection(odd_scan(61, 5), region(grid_of(37, 41, 5), {5, 36}, {3, 22}, {0, 5}));
}

TEST_F(CudaTensorProjection, IsTheTransposeOfTheBackProjection) {
  const ParallelBeam scan = odd_scan(61, 9);
  for (const Model model : {Model::pixel_driven, Model::joseph})
    for (const Execution how : {half, single}) {
      const Adjointness a = adjointness(projector(scan, grid_of(37, 41, 9), model, gpu, how));
      EXPECT_LE(a.mismatch, how == half ? tolerance::tensor_mismatch : tolerance::mismatch) << name_of(how);
      EXPECT_NEAR(a.coupling, 1, tolerance::coupling) << name_of(how);
    }
}

TEST_F(CudaTensorProjection, BitsDependOnNeitherTheRunNorTheSlicesBeside) {
  const Index slices = 67;
  for (const Execution how : {half, single}) {
    const LinearOperator A = projector(odd_scan(61, slices), grid_of(37, 41, slices), Model::pixel_driven,
                                       gpu, how),
                         one = projector(odd_scan(61, 1), grid_of(37, 41, 1), Model::pixel_driven, gpu, how);
    const Array x = random_array(A.domain(), 4), q = A * x;
    for (int run = 0; run < 10; ++run) EXPECT_TRUE(same_bits(A * x, q)) << name_of(how);
    const Array hx = on_device(x, cpu), hq = on_device(q, cpu);
    for (Index z : {0, 31, 66}) {
      Array slice(one.domain().on(cpu));
      std::copy_n(hx.data() + z * slice.size(), slice.size(), slice.data());
      const Array alone = on_device(one * on_device(slice, gpu), cpu);
      for (Index v = 0; v < 53; ++v)
        EXPECT_EQ(std::memcmp(alone.data() + v * 61, hq.data() + (v * slices + z) * 61, 61 * sizeof(float)),
                  0)
            << name_of(how) << ", slice " << z << ", view " << v;
    }
  }
}

TEST_F(CudaTensorProjection, BetaScalesWhatWasThere) {
  Stream& stream = default_stream(gpu);
  for (const Execution how : {half, single}) {
    const LinearOperator A = projector(odd_scan(61, 3), grid_of(37, 41, 3), Model::pixel_driven, gpu, how);
    const Array x = random_array(A.domain(), 5), truth = A * x;
    Array q(A.range());
    fill(q, std::numeric_limits<float>::quiet_NaN(), stream);
    A.apply(1, x, 0, q, stream);
    EXPECT_TRUE(same_bits(q, truth)) << name_of(how);
    A.apply(2, x, -1, q, stream);  // 2 A x - A x
    EXPECT_LE(relative_error(q, truth), tolerance::devices) << name_of(how);
  }
}

}  // namespace
}  // namespace tandem::test
