// Projection and back-projection by tensor cores against the CPU, in both forms. Skipped where no GPU is.

#include <algorithm>
#include <numbers>

#include "../../core/error.hpp"
#include "../../kernels/cuda/parallel/parallel.hpp"
#include "../../operators/adjointness.hpp"
#include "../support/scans.hpp"
#include "cuda_fixture.hpp"
#include "tensor_forms.hpp"

namespace tandem::test {
namespace {

class CudaTensor : public Cuda, public ::testing::WithParamInterface<Form> {
 protected:
  LinearOperator tensor_projector(const ParallelBeam& scan, const VolumeGrid& grid, Execution how,
                                  Model model = Model::pixel_driven) const {
    return test::tensor_projector(GetParam(), scan, grid, how, model);
  }
  void expect_projection(const ParallelBeam& scan, const VolumeGrid& grid,
                         Model model = Model::pixel_driven) const {
    const Index lines = std::min(grid.size[0], grid.size[1]);
    const double bound = scan.detector.bins < 11 || lines < 20
                             ? tolerance::tensor_float16_of_few_bins
                             : tolerance::tensor_float16(static_cast<double>(lines));
    const LinearOperator here = projector(scan, grid, model, cpu);
    for (const Execution& how : {half, single})
      expect_alike(tensor_projector(scan, grid, how, model), here, what(scan, grid, how),
                   how == half ? bound : tolerance::devices);
  }
  void expect_back_projection(const ParallelBeam& scan, const VolumeGrid& grid, double bound,
                              Model model = Model::pixel_driven) const {
    const LinearOperator here = adjoint(projector(scan, grid, model, cpu));
    for (const Execution& how : {half, single})
      expect_alike(adjoint(tensor_projector(scan, grid, how, model)), here, what(scan, grid, how),
                   how == half ? bound : tolerance::devices);
  }

 private:
  static std::string what(const ParallelBeam& scan, const VolumeGrid& grid, const Execution& how) {
    return name_of(how) + ", bins " + std::to_string(scan.detector.bins) + ", views " +
           std::to_string(scan.angles.size()) + ", grid " + std::to_string(grid.size[0]) + " x " +
           std::to_string(grid.size[1]) + " x " + std::to_string(grid.size[2]) + ", pitch " +
           std::to_string(grid.pitch[0]);
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

TEST_P(CudaTensor, ProjectionsAgreeWithTheCpu) {
  for (const Model model : {Model::pixel_driven, Model::joseph})
    for (const double pitch : {1.0, 1.2, 0.5})
      expect_projection(odd_scan(61, 29), grid_of(37, 41, 29, pitch), model);
}

TEST_P(CudaTensor, ProjectionsOfAnySizeAgreeWithTheCpu) {
  for (const Index slices : {1, 3, 63, 64, 65, 129})
    expect_projection(odd_scan(61, slices), grid_of(37, 41, slices));
  for (const Index bins : {1, 7, 2047, 4097}) expect_projection(odd_scan(bins, 3), grid_of(37, 41, 3));
  for (const Index views : {1, 2, 5, 17, 720}) expect_projection(scan_of(views, 3, 61), grid_of(37, 41, 3));
  expect_projection(odd_scan(61, 5), region(grid_of(37, 41, 5), {5, 36}, {3, 22}, {0, 5}));
}

/// Strips of pixels drift across the volume, the more the fewer views there are. In the last one groups of
/// views take more than one launch.
TEST_P(CudaTensor, LongRaysAgreeWithTheCpu) {
  for (const Index views : {3, 40, 200}) expect_projection(scan_of(views, 2, 501), grid_of(401, 517, 2));
  for (const auto& [nx, ny] : {std::pair{8000, 3}, {3, 8000}})
    expect_projection(scan_of(9, 2, 4001), grid_of(nx, ny, 2));
  expect_projection(scan_of(360, 1, 2101), grid_of(2048, 2048, 1));
}

TEST_P(CudaTensor, OddGeometriesAgreeWithTheCpu) {
  for (const ProjectorCase& c : projector_cases()) {
    if (c.grid.pitch[0] > 1.2 * c.scan.detector.bin_pitch) continue;
    expect_projection(c.scan, c.grid);
    expect_back_projection(c.scan, c.grid, tolerance::tensor_float16_of_few_bins);
  }
  ParallelBeam twice = scan_of(17, 2, 61);  // a whole turn, and every view once more
  for (std::size_t v = 0; v < 17; ++v) twice.angles.push_back(twice.angles[v] + std::numbers::pi);
  twice.angles.insert(twice.angles.end(), twice.angles.begin(), twice.angles.begin() + 34);
  expect_projection(twice, grid_of(37, 41, 2));
}

/// Views that walk together through the volume have their windows each where its own shift puts them.
TEST_P(CudaTensor, ShiftedViewsAgreeWithTheCpu) {
  for (const Model model : {Model::pixel_driven, Model::joseph})
    for (const Index slices : {3, 65}) {
      const ParallelBeam scan = with_shifted_views(odd_scan(61, slices));
      const VolumeGrid grid = grid_of(37, 41, slices);
      expect_projection(scan, grid, model);
      expect_back_projection(scan, grid, tolerance::tensor_float16(53), model);
      for (const Execution& how : {half, single})
        EXPECT_LE(adjointness(tensor_projector(scan, grid, how, model)).mismatch, tolerance::tensor_mismatch)
            << name_of(how);
    }
  expect_projection(with_shifted_views(scan_of(200, 2, 501)), grid_of(401, 517, 2));
}

TEST_P(CudaTensor, TheLargestPixelsThatFitAgreeWithTheCpu) {
  for (const auto& [model, pitch] : {std::pair{Model::pixel_driven, 1.41}, {Model::joseph, 1.37}}) {
    expect_projection(odd_scan(91, 3), grid_of(37, 41, 3, pitch), model);
    expect_back_projection(odd_scan(91, 3), grid_of(37, 41, 3, pitch), tolerance::tensor_float16(53), model);
  }
}

/// All coefficients by unit vectors, one a slice, in both directions. The portable form has float32 ones of
/// its own in the projection.
TEST_P(CudaTensor, CoefficientsHaveTheSameBitsBothWays) {
  constexpr Index views = 5, bins = 13, nx = 7, ny = 5;
  for (const Model model : {Model::pixel_driven, Model::joseph})
    for (const Execution& how : {half, single}) {
      if (GetParam() == Form::portable && how == single) continue;
      const auto columns = [&](Index slices) {
        return tensor_projector(scan_of(views, slices, bins), grid_of(nx, ny, slices), how, model);
      };
      const LinearOperator A = columns(nx * ny), B = columns(views * bins);
      Array pixels(A.domain().on(cpu)), cells(B.range().on(cpu));
      for (Index k = 0; k < nx * ny; ++k) pixels.data()[k * nx * ny + k] = 1;
      for (Index k = 0; k < views * bins; ++k) image(VectorView(cells))(k / bins, k, k % bins) = 1;
      const Array forward = on_device(A * on_device(pixels, gpu), cpu),
                  back = on_device(adjoint(B) * on_device(cells, gpu), cpu);
      for (Index cell = 0; cell < views * bins; ++cell)
        for (Index pixel = 0; pixel < nx * ny; ++pixel)
          ASSERT_EQ(image(ConstVectorView(forward))(cell / bins, pixel, cell % bins),
                    back.data()[cell * nx * ny + pixel])
              << name_of(how) << ", cell " << cell << ", pixel " << pixel;
    }
}

/// The hats of Joseph's small pixels are so narrow that the last bits of a position count.
TEST_F(Cuda, AutomaticKeepsFloat32ForNarrowHats) {
  const auto chosen = [&](double pitch, Model model) {
    return resolved({}, odd_scan(61, 64), grid_of(37, 41, 64, pitch), model, gpu).variant;
  };
  EXPECT_EQ(chosen(0.1, Model::joseph), "alu");
  EXPECT_EQ(chosen(0.1, Model::pixel_driven), "tensor");
}

TEST_F(Cuda, PixelsTooLargeForAProductAreRefused) {
  const ParallelBeam scan = odd_scan(61, 3);
  EXPECT_THROW(projector(scan, grid_of(37, 41, 3, 2.3), Model::pixel_driven, gpu, half), GeometryError);
  EXPECT_FALSE(kernels::cuda::mma_fits(pack(scan, grid_of(37, 41, 3, 2.3), Model::pixel_driven)));
  EXPECT_THROW(projector(scan, grid_of(37, 41, 3, 1.42), Model::pixel_driven, gpu, half), GeometryError);
  EXPECT_EQ(
      resolved({"automatic", Precision::float32}, scan, grid_of(37, 41, 3, 2.3), Model::pixel_driven, gpu),
      (Execution{"alu", Precision::float32}));
}

}  // namespace
}  // namespace tandem::test
