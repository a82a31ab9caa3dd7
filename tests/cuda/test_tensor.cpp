// Back-projection by tensor cores against the CPU, in both forms. Skipped where no GPU is.

#include <algorithm>
#include <limits>

#include "../support/tolerances.hpp"
#include "cuda_fixture.hpp"
#include "tandem/core/error.hpp"
#include "tandem/kernels/cuda/parallel.hpp"
#include "tandem/operators/adjointness.hpp"
#include "tandem/operators/vector.hpp"

namespace tandem::test {
namespace {

constexpr Execution half{Variant::tensor, Precision::float16}, single{Variant::tensor, Precision::float32};

/// What the table takes on this card, and what every card has.
enum class Form { chosen, portable };

/// A projector whose adjoint is in the portable form.
struct PortableProjector {
  LinearOperator chosen;
  ParallelViews views;
  Precision precision;
  Space domain() const { return chosen.domain(); }
  Space range() const { return chosen.range(); }
  void apply(float alpha, ConstView x, float beta, View y, Stream& stream) const {
    chosen.apply(alpha, x, beta, y, stream);
  }
  void apply_adjoint(float alpha, ConstView y, float beta, View x, Stream& stream) const {
    kernels::cuda::mma_backward(views, precision, alpha * views.scale, image(y), beta, image(x), stream);
  }
};

class CudaTensor : public Cuda, public ::testing::WithParamInterface<Form> {
 protected:
  LinearOperator tensor_projector(const ParallelBeam& scan, const VolumeGrid& grid, Execution how,
                                  Model model = Model::pixel_driven) const {
    const LinearOperator chosen = projector(scan, grid, model, gpu, how);
    if (GetParam() == Form::chosen) return chosen;
    return PortableProjector{chosen, pack(scan, grid, model), how.precision};
  }
  void expect_back_projection(const ParallelBeam& scan, const VolumeGrid& grid, double bound,
                              Model model = Model::pixel_driven) const {
    const LinearOperator A = projector(scan, grid, model, cpu);
    const Array q = random_array(A.range(), 2), truth = adjoint(A) * q, there = on_device(q, gpu);
    for (const Execution how : {half, single}) {
      const LinearOperator B = tensor_projector(scan, grid, how, model);
      EXPECT_LE(relative_error(adjoint(B) * there, truth), how == half ? bound : tolerance::devices)
          << name_of(how) << ", bins " << scan.detector.bins << ", slices " << grid.size[2] << ", pitch "
          << grid.pitch[0];
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Forms, CudaTensor, ::testing::Values(Form::chosen, Form::portable),
                         [](const auto& form) { return form.param == Form::chosen ? "Chosen" : "Portable"; });

TEST_P(CudaTensor, BackProjectionsAgreeWithTheCpu) {
  for (const Model model : {Model::pixel_driven, Model::joseph}) {
    for (const double pitch : {1.0, 1.2})
      expect_back_projection(odd_scan(61, 29), grid_of(37, 41, 29, pitch), tolerance::tensor_float16(53),
                             model);
    // many pixels so near to the axis that all views give them the same weights
    expect_back_projection(odd_scan(61, 29), grid_of(37, 41, 29, 0.5), tolerance::tensor_float16_of_few_bins,
                           model);
  }
}

TEST_P(CudaTensor, SumsOverManyViewsKeepTheirPrecision) {
  expect_back_projection(scan_of(2048, 3, 61), grid_of(37, 41, 3), tolerance::tensor_float16_of_2048_views);
}

TEST_P(CudaTensor, LeftoverSlicesAgreeWithTheCpu) {
  for (const Index slices : {1, 3, 63, 64, 65, 129})
    expect_back_projection(odd_scan(61, slices), grid_of(37, 41, slices), tolerance::tensor_float16(53));
}

TEST_P(CudaTensor, AnyWidthAgreesWithTheCpu) {
  for (const Index bins : {1, 7})
    expect_back_projection(odd_scan(bins, 3), grid_of(37, 41, 3), tolerance::tensor_float16_of_few_bins);
  for (const Index bins : {2047, 4097})
    expect_back_projection(odd_scan(bins, 3), grid_of(37, 41, 3), tolerance::tensor_float16(53));
}

TEST_P(CudaTensor, AnyNumberOfViewsAgreesWithTheCpu) {
  for (const Index views : {1, 2, 5, 17})
    expect_back_projection(scan_of(views, 3, 61), grid_of(37, 41, 3), tolerance::tensor_float16_of_few_bins);
}

TEST_P(CudaTensor, RegionsAgreeWithTheCpu) {
  expect_back_projection(odd_scan(61, 5), region(grid_of(37, 41, 5), {5, 36}, {3, 22}, {0, 5}),
                         tolerance::tensor_float16(53));
}

TEST_P(CudaTensor, PairsMatchInFloat32) {
  const ParallelBeam scan = odd_scan(61, 9);
  for (const Model model : {Model::pixel_driven, Model::joseph}) {
    const Adjointness a = adjointness(tensor_projector(scan, grid_of(37, 41, 9), single, model));
    EXPECT_LE(a.mismatch, tolerance::mismatch);
    EXPECT_NEAR(a.coupling, 1, tolerance::coupling);
  }
}

TEST_P(CudaTensor, BitsDependOnNeitherTheRunNorTheSlicesBeside) {
  const Index slices = 67;
  for (const Execution how : {half, single}) {
    const LinearOperator A = tensor_projector(odd_scan(61, slices), grid_of(37, 41, slices), how),
                         one = tensor_projector(odd_scan(61, 1), grid_of(37, 41, 1), how);
    const Array q = random_array(A.range(), 4), x = adjoint(A) * q;
    for (int run = 0; run < 10; ++run) EXPECT_TRUE(same_bits(adjoint(A) * q, x)) << name_of(how);
    const Array hq = on_device(q, cpu), hx = on_device(x, cpu);
    for (Index z : {0, 31, 66}) {
      Array rows(one.range().on(cpu));
      for (Index v = 0; v < 53; ++v) std::copy_n(hq.data() + (v * slices + z) * 61, 61, rows.data() + v * 61);
      const Array alone = on_device(adjoint(one) * on_device(rows, gpu), cpu);
      EXPECT_EQ(std::memcmp(alone.data(), hx.data() + z * alone.size(),
                            static_cast<std::size_t>(alone.size()) * sizeof(float)),
                0)
          << name_of(how) << ", slice " << z;
    }
  }
}

TEST_P(CudaTensor, BetaZeroNeverReadsTheOutput) {
  Stream& stream = default_stream(gpu);
  for (const Execution how : {half, single}) {
    const LinearOperator A = tensor_projector(odd_scan(61, 3), grid_of(37, 41, 3), how);
    const Array q = random_array(A.range(), 5), truth = adjoint(A) * q;
    Array x(A.domain());
    fill(x, std::numeric_limits<float>::quiet_NaN(), stream);
    A.apply_adjoint(1, q, 0, x, stream);
    EXPECT_TRUE(same_bits(x, truth)) << name_of(how);
    A.apply_adjoint(2, q, -1, x, stream);  // 2 At q - At q
    EXPECT_LE(relative_error(x, truth), tolerance::devices) << name_of(how);
  }
}

TEST_F(Cuda, PixelsTooLargeForAProductAreRefused) {
  const ParallelBeam scan = odd_scan(61, 3);
  EXPECT_THROW(projector(scan, grid_of(37, 41, 3, 2.3), Model::pixel_driven, gpu, half), GeometryError);
  EXPECT_FALSE(kernels::cuda::mma_fits(pack(scan, grid_of(37, 41, 3, 2.3), Model::pixel_driven)));
  EXPECT_EQ(resolved({Variant::automatic, Precision::float32}, scan, grid_of(37, 41, 3, 2.3),
                     Model::pixel_driven, gpu),
            (Execution{Variant::alu, Precision::float32}));
}

}  // namespace
}  // namespace tandem::test
