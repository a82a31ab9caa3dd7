// All models and variants make one picture on a GPU, as on the CPU (tests/pipeline/test_models_alike.cpp).
// Skipped where no GPU is.

#include "../support/alike.hpp"
#include "cuda_fixture.hpp"

namespace tandem::test {
namespace {

class CudaModelsAlike : public Cuda {};

/// Executions that read two bins or the nearest one; the interpolation is that of what runs.
LinearOperator direct(const AlikeParallel& c, const Execution& wanted, const Filter& filter, Device gpu) {
  const Execution how = resolved(wanted, c.scan, c.grid, Model::pixel_driven, gpu, Pairing::any);
  return fbp(projector(c.scan, c.grid, Model::pixel_driven, gpu, how), c.scan, c.grid, filter,
             interpolation_of(c.scan, c.grid, Model::pixel_driven, how, gpu));
}

/// Bytes round the data by more than windows differ.
std::vector<Execution> precise(std::vector<Execution> all) {
  std::erase_if(all, [](const Execution& how) { return how.precision == Precision::uint8; });
  return all;
}

TEST_F(CudaModelsAlike, BySmoothWindowsComeToTheBetterPicture) {
  const AlikeParallel c(256);
  for (const Window window : smooth_windows) {
    const Filter filter{window};
    const double fourier = decibels(c.error(c.by(Model::fourier, filter, gpu)));
    for (const Execution& how : precise(executions_of_hats(gpu)))
      EXPECT_NEAR(decibels(c.error(direct(c, how, filter, gpu))), fourier, tolerance::models_alike_db)
          << name_of(how) << ", window " << static_cast<int>(window);
    EXPECT_NEAR(decibels(c.error(c.by(Model::joseph, filter, gpu))), fourier, tolerance::joseph_alike_db)
        << "window " << static_cast<int>(window);
  }
}

TEST_F(CudaModelsAlike, ByTheBareRampFourierIsLinearInterpolation) {
  for (const Index n : {128, 256, 512, 1024}) {
    const AlikeParallel c(n);
    const double fourier = c.error(c.by(Model::fourier, {Window::ramp}, gpu));
    for (const Execution& how : precise(executions_of_hats(gpu)))
      EXPECT_NEAR(fourier / c.error(direct(c, how, {Window::ramp}, gpu)), 1, tolerance::bare_ramps_alike)
          << n << ", " << name_of(how);
  }
}

TEST_F(CudaModelsAlike, OfAFanComeToTheBetterPicture) {
  const AlikeFan c(256);
  for (const Window window : smooth_windows)
    EXPECT_NEAR(decibels(c.error(c.by(Model::separable_footprint, {window}, gpu))),
                decibels(c.error(c.by(Model::pixel_driven, {window}, gpu))), tolerance::models_alike_db)
        << static_cast<int>(window);
}

/// The nearest bin aliases much more, but the filter makes up for what a box takes away.
TEST_F(CudaModelsAlike, TheNearestBinIsNoWorseThanWithoutMakingUp) {
  const AlikeParallel c(256);
  const Execution nearest{"nearest", Precision::float32};
  const LinearOperator A = projector(c.scan, c.grid, Model::pixel_driven, gpu, nearest);
  for (const Window window : smooth_windows)
    EXPECT_LT(c.error(direct(c, nearest, {window}, gpu)),
              c.error(fbp(A, c.scan, c.grid, {window}, without_factor)))
        << static_cast<int>(window);
  EXPECT_LT(c.error(direct(c, nearest, {Window::ramp}, gpu)),
            c.error(direct(c, nearest, {Window::sharp}, gpu)));
}

}  // namespace
}  // namespace tandem::test
