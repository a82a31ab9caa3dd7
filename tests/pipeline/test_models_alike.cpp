// All models make one picture of the same line integrals, whatever reads rows between bins: modified
// Shepp-Logan in closed form, RMSE within the disc, in dB.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "../support/alike.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

using test::decibels;

constexpr Model of_parallel[] = {Model::pixel_driven, Model::joseph, Model::fourier};
constexpr Model of_fans[] = {Model::separable_footprint, Model::pixel_driven};

double within_db(Model model) {
  return model == Model::joseph ? tolerance::joseph_alike_db : tolerance::models_alike_db;
}

template <class Case>
void expect_the_better_picture(const Case& c, std::span<const Model> models,
                               std::span<const Window> windows) {
  for (const Window window : windows) {
    double best = 0;
    std::vector<double> found;
    for (const Model model : models) {
      found.push_back(decibels(c.error(c.by(model, {window}))));
      best = std::max(best, found.back());
    }
    for (std::size_t i = 0; i < models.size(); ++i)
      EXPECT_GE(found[i], best - within_db(models[i]))
          << name_of(models[i]) << ", window " << static_cast<int>(window);
  }
}

/// Compares with the picture of the same model before the filter made up for its interpolation.
template <class Case>
void expect_no_worse(const Case& c, std::span<const Model> models) {
  for (const Model model : models)
    for (const Window window : test::smooth_windows)
      EXPECT_LE(c.error(c.by(model, {window})),
                c.error(c.with(model, {window}, test::without_factor)) * tolerance::no_worse)
          << name_of(model) << ", window " << static_cast<int>(window);
}

constexpr std::span<const Model> direct{of_parallel, 2};

TEST(ModelsAlike, BySmoothWindowsComeToTheBetterPicture) {
  for (const Index n : {128, 256})
    expect_the_better_picture(test::AlikeParallel(n), of_parallel, test::smooth_windows);
}

TEST(ModelsAlike, OfLargerSlicesComeToTheBetterPicture) {
  constexpr Window windows[] = {Window::hann};
  constexpr Model models[] = {Model::pixel_driven, Model::fourier};
  expect_the_better_picture(test::AlikeParallel(512), models, windows);
}

TEST(ModelsAlike, OfAFanComeToTheBetterPicture) {
  expect_the_better_picture(test::AlikeFan(128), of_fans, test::smooth_windows);
}

/// The middle slice of five in a cone beam, all round, magnification 2.
struct AlikeCone {
  static constexpr Index n = 64, cells = 101;
  ConeBeam scan{{cells, cells, 2, 2, 0.5 * (cells - 1)},
                test::regular_angles(201, 2 * std::numbers::pi),
                3 * n,
                6 * n,
                0.5 * (cells - 1)};
  VolumeGrid grid = test::grid_of(n, n, 5);
  Array y{projection_space(scan)}, truth{cone_volume_space(grid)};

  AlikeCone() {
    const Phantom phantom = scaled(shepp_logan_in_space(), half_width(grid), 1);
    project(phantom, scan, {0, cells}, {y.data(), static_cast<std::size_t>(y.size())});
    voxelise(phantom, grid, {0, 5}, {truth.data(), static_cast<std::size_t>(truth.size())});
  }
  LinearOperator by(Model model, const Filter& filter) const { return fdk(scan, grid, filter, model); }
  double error(const LinearOperator& B) const { return test::quality(B * y, truth, 2).rmse_disc; }
};

TEST(ModelsAlike, OfAConeComeToTheBetterPicture) {
  constexpr Model models[] = {Model::separable_footprint, Model::pixel_driven, Model::joseph};
  constexpr Window windows[] = {Window::cosine, Window::hann};
  expect_the_better_picture(AlikeCone(), models, windows);
}

TEST(ModelsAlike, AreNoWorseThanWithoutMakingUp) {
  expect_no_worse(test::AlikeParallel(128), direct);
  expect_no_worse(test::AlikeFan(96), of_fans);
}

TEST(ModelsAlike, AreNoWorseInWiderOrNarrowerPixels) {
  for (const double pitch : {0.5, 1.5, 2.0, 3.0}) expect_no_worse(test::AlikeParallel(96, pitch), direct);
}

/// The noise is that of theory (tests/operators/test_interpolation.cpp).
TEST(ModelsAlike, ByTheBareRampFourierIsLinearInterpolation) {
  for (const Index n : {128, 256, 512}) {
    const test::AlikeParallel c(n);
    for (const Window window : {Window::ramp, Window::shepp}) {
      const double linear = c.error(c.by(Model::pixel_driven, {window})),
                   fourier = c.error(c.by(Model::fourier, {window}));
      EXPECT_NEAR(fourier / linear, 1, tolerance::bare_ramps_alike) << n << ", " << static_cast<int>(window);
    }
  }
}

}  // namespace
}  // namespace tandem
