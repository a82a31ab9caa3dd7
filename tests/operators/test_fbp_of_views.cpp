#include "../../operators/filtered_scan.hpp"

#include <gtest/gtest.h>

#include "../../core/error.hpp"
#include "../../operators/fbp.hpp"
#include "../../operators/projector.hpp"
#include "../support/cone_scans.hpp"
#include "../support/dense.hpp"
#include "../support/operators.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

/// A window whose filter makes up for the interpolation of the model.
const Filter hann{.window = Window::hann};

/// The parts of views, with weights of the whole scan, batch by batch.
template <class Kind>
Array sum_of_parts(const Kind& scan, const VolumeGrid& grid, Model model, const Array& y,
                   const std::vector<Index>& batches, const Filter& filter = {}) {
  const std::vector<float> weights = filter_weights(scan);
  const std::size_t of_view = weights.size() / scan.angles.size();
  const Index frame = y.size() / views_of(scan);
  std::optional<Array> volume;
  Range views;
  for (const Index size : batches) {
    views = {views.last, views.last + size};
    const std::span<const float> some(&weights[static_cast<std::size_t>(views.first) * of_view],
                                      static_cast<std::size_t>(size) * of_view);
    const LinearOperator part =
        fbp_of_views(scan, views, some, grid, filter, model, Device::cpu(), Execution{});
    if (!volume) volume.emplace(part.range());
    part.apply(1, {y.data() + views.first * frame, part.domain()}, 1, *volume, default_stream(Device::cpu()));
  }
  EXPECT_EQ(views.last, views_of(scan));
  return std::move(*volume);
}

void expect_same(const Array& sum, const Array& whole) {
  float largest = 0, apart = 0;
  for (Index i = 0; i < whole.size(); ++i) {
    largest = std::max(largest, std::abs(whole.data()[i]));
    apart = std::max(apart, std::abs(whole.data()[i] - sum.data()[i]));
  }
  EXPECT_GT(largest, 0);
  EXPECT_LE(apart, static_cast<float>(tolerance::parts_of_fbp) * largest);
}

TEST(FbpOfViews, SumsToFbpOfAParallelBeam) {
  ParallelBeam scan = test::scan_of(31, 5, 37);
  scan.row_axis_bins = {18.2, 19.1, 17.7, 18, 18.9};
  const VolumeGrid grid = fitting_grid(scan);
  const Array y = test::random_array(projection_space(scan), 5);
  for (const Model model : {Model::pixel_driven, Model::joseph})
    expect_same(sum_of_parts(scan, grid, model, y, {1, 17, 4, 9}, hann),
                fbp(projector(scan, grid, model), scan, grid, hann, interpolation_of(scan, grid, model)) * y);
}

TEST(FbpOfViews, SumsToFdkOfCirclesAndArcs) {
  ConeBeam circle = test::far_cone(23, 9, 21), aside = circle, arc = circle;
  circle.angles = test::regular_angles(23, whole_turn);
  aside.angles = circle.angles, aside.detector.axis_bin = 5.6;
  arc.angles = test::regular_angles(23, 3.7);
  for (const ConeBeam& scan : {circle, aside, arc}) {
    const VolumeGrid grid = test::box(17, 15, 9, 0.5);
    const Array y = test::random_array(projection_space(scan), 6);
    for (const Padding padding : {Padding::none, Padding::cosine}) {
      const Filter filter{.window = Window::hann, .padding = padding};
      expect_same(sum_of_parts(scan, grid, Model::separable_footprint, y, {6, 1, 16}, filter),
                  fdk(scan, grid, filter) * y);
    }
  }
}

/// The given weights also weigh what rows go on with.
TEST(FbpOfViews, IsLinearInItsWeights) {
  ConeBeam aside = test::far_cone(23, 9, 21);
  aside.angles = test::regular_angles(23, whole_turn), aside.detector.axis_bin = 5.6;
  const VolumeGrid grid = test::box(17, 15, 9, 0.5);
  const Array y = test::random_array(projection_space(aside), 6);
  const std::vector<float> all = filter_weights(aside);
  std::vector<float> some = all, rest = all;
  for (std::size_t i = 0; i < all.size(); ++i) some[i] *= 0.25f, rest[i] *= 0.75f;
  const Filter filter{.padding = Padding::edge};
  const auto part = [&](const std::vector<float>& weights) {
    return fbp_of_views(aside, {0, 23}, weights, grid, filter, Model::separable_footprint, Device::cpu(), {});
  };
  Array sum = part(some) * y;
  part(rest).apply(1, y, 1, sum, default_stream(Device::cpu()));
  expect_same(sum, fdk(aside, grid, filter) * y);
}

TEST(FbpOfViews, SumsToFdkOfAFanBeam) {
  const ConeBeam cone = test::far_cone(19, 1, 25);
  FanBeam scan{cone};
  scan.midplane_row = 0.1;
  const VolumeGrid grid = fitting_grid(scan);
  const Array y = test::random_array(projection_space(scan), 7);
  expect_same(sum_of_parts(scan, grid, Model::separable_footprint, y, {10, 9}, hann),
              fdk(scan, grid, hann) * y);
}

TEST(FbpOfViews, RefusesAnotherNumberOfWeights) {
  const ParallelBeam scan = test::scan_of(7, 2, 9);
  const std::vector<float> weights(3, 1.0f);
  EXPECT_THROW(ramp_filter(scan, {0, 4}, weights), GeometryError);
  EXPECT_THROW(ramp_filter(test::far_cone(7, 3, 9), {0, 3}, weights), GeometryError);
}

}  // namespace
}  // namespace tandem
