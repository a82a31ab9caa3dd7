// FDK by the hierarchical pair: its rows are read as footprints read them, so that pictures of cones have the
// same noise and the same detail along the axis by both models.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "../../core/parallel.hpp"
#include "../../geometry/phantom.hpp"
#include "../../kernels/hierarchical.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/fbp.hpp"
#include "../../operators/hierarchical.hpp"
#include "../../operators/random.hpp"
#include "../support/hierarchical_sum.hpp"
#include "../support/tolerances.hpp"

namespace tandem::test {
namespace {

using kernels::Grouping;

Array ellipsoids_seen_by(const ConeBeam& scan, double radius) {
  Array y(projection_space(scan));
  project(scaled(ellipsoids(), radius, 0.02), scan, {0, scan.detector.rows},
          {y.data(), static_cast<std::size_t>(y.size())}, 3);
  return y;
}

/// use(index) for voxels that all views see, some bins and rows from the ends.
template <class Use>
void for_voxels_seen(const VolumeGrid& grid, const Use& use) {
  const Index n = grid.size[0];
  const double half = 0.5 * static_cast<double>(n);
  for (Index i = 0; i < n * n * n; ++i)
    if (std::hypot(grid.x(static_cast<double>(i % n)), grid.y(static_cast<double>(i / n % n))) < 0.8 * half &&
        std::abs(grid.z(static_cast<double>(i / n / n))) < 0.6 * half)
      use(i);
}

double noise_of(const LinearOperator& B, const VolumeGrid& grid) {
  Random random(17);
  const Array x = B * sign_array(B.domain(), random);
  double sum = 0, count = 0;
  for_voxels_seen(grid, [&](Index i) { sum += std::pow(static_cast<double>(x.data()[i]), 2), ++count; });
  return std::sqrt(sum / count);
}

double error_of(const LinearOperator& B, const Array& y, const Array& truth, const VolumeGrid& grid) {
  const Array x = B * y;
  double sum = 0, count = 0;
  for_voxels_seen(grid, [&](Index i) {
    sum += std::pow(static_cast<double>(x.data()[i]) - static_cast<double>(truth.data()[i]), 2), ++count;
  });
  return std::sqrt(sum / count);
}

/// A cone with cells as large as voxels at the axis.
TEST(HierarchicalFdk, MakesPicturesAsGoodAsThoseOfFootprints) {
  constexpr Index n = 56;
  const ConeBeam scan = cone_case(n, 88);
  const VolumeGrid grid = cube(n, n);
  const Array y = ellipsoids_seen_by(scan, 0.5 * n);
  Array truth(cone_volume_space(grid));
  voxelise(scaled(ellipsoids(), 0.5 * n, 0.02), grid, {0, n},
           {truth.data(), static_cast<std::size_t>(truth.size())});
  for (const Window window : {Window::ramp, Window::cosine, Window::hann}) {
    const LinearOperator groups = fdk(scan, grid, {window}, Model::hierarchical),
                         footprints = fdk(scan, grid, {window}, Model::separable_footprint);
    EXPECT_NEAR(noise_of(groups, grid) / noise_of(footprints, grid), 1, 0.05) << static_cast<int>(window);
    EXPECT_LE(error_of(groups, y, truth, grid), 1.02 * error_of(footprints, y, truth, grid))
        << static_cast<int>(window);
  }
}

/// A little more, since groups alias less: at 0.3 cycles, where a footprint leaves 0.7 of a wave, boxes of
/// nine tenths leave 1.06 times as much, and six taps are 0.01 from these.
TEST(HierarchicalFdk, LeavesOfWavesAlongRowsWhatFootprintsLeave) {
  const auto sinc = [](double f) { return std::sin(std::numbers::pi * f) / (std::numbers::pi * f); };
  const ConeBeam scan = cone_case(24, 20);
  for (const double pitch : {0.5, 1.0, 2.0}) {
    const VolumeGrid grid{{24, 24, 10}, {1, 1, pitch}, {}};
    const auto plan = kernels::pack_hierarchical(scan, grid, kernels::grouping_on(Device::cpu()), 0,
                                                 AlongRows::as_footprints);
    for (const double f : {0.05, 0.15, 0.25, 0.3}) {  // cycles a row, or a voxel that is higher
      const double higher = pitch > 1 ? 1 / pitch : pitch, left = sinc(f) * sinc(higher * f),
                   got = kernels::mean_response(plan->of_view_rows, f);
      EXPECT_GE(got, left) << pitch << ' ' << f;
      EXPECT_LE(got, 1.06 * left) << pitch << ' ' << f;
    }
  }
}

/// Edges along the rows are those of the bodies: nothing smooths them but the taps.
TEST(HierarchicalFdk, IsTheSumOverViews) {
  constexpr Index n = 72;
  for (const Index views : {100, 280}) {  // without merges of groups, and with
    const ConeBeam scan = cone_case(n, views);
    const Array q = own_rows(scan, ramp_filter(scan, {Window::hann, {}}) * ellipsoids_seen_by(scan, 0.5 * n));
    const auto plan = kernels::pack_hierarchical(scan, cube(n, n), kernels::grouping_on(Device::cpu()), 0,
                                                 AlongRows::as_footprints);
    const LinearOperator A =
        hierarchical_projector(scan, cube(n, n), Device::cpu(), {}, AlongRows::as_footprints);
    EXPECT_LE(error_of_sum(scan, *plan, cube(n, n), q, adjoint(A) * q, 400),
              tolerance::hierarchical_sum_of_fdk)
        << views;
  }
}

/// Each level adds its interpolations. The views are read alike, so only groups err.
TEST(HierarchicalFdk, ErrsByLittleForEachLevelOfGroups) {
  constexpr Index n = 96;
  const ConeBeam scan = fan_case(n, 512);
  const VolumeGrid grid{{n, n, 1}, {1, 1, 1000}, {}};  // every row is filled
  const Array q = ramp_filter(scan, {Window::hann, {}}) * ellipsoids_seen_by(scan, 0.5 * n);
  const auto& kernel = kernels::hierarchical(Device::cpu()).front();
  for (const auto& [most_views, bound] : {std::pair<std::size_t, double>{64, tolerance::hierarchical_level},
                                          {16, 2 * tolerance::hierarchical_level},
                                          {4, 3 * tolerance::hierarchical_level}}) {
    const auto plan = kernels::pack_hierarchical(scan, grid, Grouping{4, most_views}, 3e-3);
    Array x(cone_volume_space(grid));
    kernel.backward(*plan, {}, 1, image(ConstVectorView(q)), 0, image(VectorView(x)),
                    default_stream(Device::cpu()));
    EXPECT_LE(error_of_sum(scan, *plan, grid, q, x, 400), bound) << most_views;
  }
}

}  // namespace
}  // namespace tandem::test
