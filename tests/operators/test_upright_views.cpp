// Views of any geometry whose detectors are upright: they have the pair of circular cone beams.

#include <gtest/gtest.h>

#include "../../geometry/phantom.hpp"
#include "../../operators/adjointness.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/random.hpp"
#include "../support/cone_scans.hpp"
#include "../support/flexible_scans.hpp"
#include "../support/operators.hpp"
#include "../support/property.hpp"
#include "../support/tolerances.hpp"

namespace tandem::test {
namespace {

/// A circle of this view alone, and the grid as it lies in there: about the foot of the source on the plane
/// through the origin that is parallel to the detector.
std::pair<ConeBeam, VolumeGrid> as_circle_view(const FlexibleBeam& scan, std::size_t number,
                                               VolumeGrid grid) {
  const FlexibleView& view = scan.views[number];
  const double bin = length(view.bin_step), row = length(view.row_step);
  const Vector3 along = 1 / bin * view.bin_step, away = cross({0, 0, 1}, along);
  const Vector3 foot = dot(view.source, along) * along + Vector3{0, 0, view.source[2]},
                principal = view.detector - view.source;
  const Detector& d = scan.detector;
  for (std::size_t k = 0; k < 3; ++k) grid.centre[k] -= foot[k];
  return {{{d.bins, d.rows, bin, row, 0.5 * static_cast<double>(d.bins - 1) - dot(principal, along) / bin},
           {std::atan2(along[1], along[0])},
           -dot(view.source, away),
           dot(principal, away),
           0.5 * static_cast<double>(d.rows - 1) - principal[2] / row},
          grid};
}

/// Many rows and slices, and few: they have kernels of their own.
TEST(UprightViews, EachIsThatOfACircle) {
  Random random(1);
  for (const auto& [rows, slices] : {std::pair<Index, Index>{37, 23}, {3, 23}, {37, 2}, {1, 1}}) {
    const FlexibleBeam scan = random_upright_views(6, rows, 41, 12, random);
    ASSERT_TRUE(has_upright_views(scan));
    const VolumeGrid grid{{15, 17, slices}, {0.8, 0.8, 0.9}, {0.3, -0.2, 0.4}};
    const LinearOperator A = projector(scan, grid);
    const Array x = random_array(A.domain(), 1), y = A * x;
    Array sum(A.domain());
    const Array q = random_array(A.range(), 2);
    for (std::size_t k = 0; k < scan.views.size(); ++k) {
      const auto [circle, moved] = as_circle_view(scan, k, grid);
      const LinearOperator B = projector(circle, moved);
      const auto part = [&](const Array& all) {
        Array one(B.range());
        std::copy_n(all.data() + static_cast<Index>(k) * one.size(), one.size(), one.data());
        return one;
      };
      Array from(B.domain());
      std::copy_n(x.data(), x.size(), from.data());
      EXPECT_LE(relative_error(part(y), B * from), tolerance::devices) << rows << " rows, view " << k;
      const Array back = adjoint(B) * part(q);
      for (Index i = 0; i < sum.size(); ++i) sum.data()[i] += back.data()[i];
    }
    EXPECT_LE(relative_error(adjoint(A) * q, sum), tolerance::devices) << rows << " rows";
  }
}

TEST(UprightViews, PairsMatch) {
  Random random(2);
  for (const Index rows : {1, 7, 40})
    for (const double pitch : {0.3, 0.9, 2.0}) {
      const FlexibleBeam scan = random_upright_views(11, rows, 47, 20 * pitch, random);
      const Adjointness a = adjointness(projector(scan, box(23, 19, 21, pitch)));
      EXPECT_LE(a.mismatch, tolerance::mismatch) << rows << " rows, " << pitch << " mm";
      EXPECT_NEAR(a.coupling, 1, tolerance::coupling);
    }
}

/// Line integrals of ellipsoids in a helix that wobbles: errors of voxels at sharp edges fall as the pitch.
TEST(UprightViews, AHelixProjectsEllipsoids) {
  const Phantom body{{{1, {14, 12, 13}, {1, -1, 0.5}, 0.3}, {0.5, {5, 6, 4}, {6, 3, -2}, 0}}};
  std::vector<double> errors;
  for (const Index n : {24, 48}) {
    Random random(3);
    const double pitch = 40.0 / static_cast<double>(n);
    FlexibleBeam scan = jittered_helix(9, n, n, 2.3, 12, 1.5, random);
    for (FlexibleView& view : scan.views)
      view.bin_step = 2 * pitch * view.bin_step, view.row_step = 2 * pitch * view.row_step;
    scan = flexible_beam(n, n, scan.views, false);
    ASSERT_TRUE(has_upright_views(scan));
    Array exact(projection_space(scan));
    project(body, scan, {0, n}, {exact.data(), static_cast<std::size_t>(exact.size())}, 4);
    const VolumeGrid grid{{n, n, n}, {pitch, pitch, pitch}, {}};
    const Array x = means_of(grid, [&](const Vector3& p) { return value_at(body, p[0], p[1], p[2]); });
    errors.push_back(relative_error(projector(scan, grid) * x, exact));
  }
  EXPECT_LE(errors[0], 3.1e-2);
  EXPECT_LE(errors[1], 1.55e-2);
}

/// A part of a scan has the coefficients of the whole, so it is upright only if that is.
TEST(UprightViews, AreFoundAndKept) {
  Random random(4);
  const FlexibleBeam scan = random_upright_views(5, 9, 11, 8, random);
  EXPECT_TRUE(has_upright_views(scan));
  EXPECT_TRUE(has_upright_views(crop(scan, {1, 3}, {2, 7}, {0, 5})));
  EXPECT_TRUE(has_upright_views(bin_down(scan, 1)));
  const auto made = [&](auto&& change) {
    FlexibleBeam other = scan;
    change(other.views[3]);
    return other;
  };
  const FlexibleBeam leaning = made([](FlexibleView& v) { v.row_step[0] += 1e-5 * v.row_step[2]; });
  EXPECT_FALSE(has_upright_views(leaning));
  const auto first_two = [](const FlexibleBeam& all) { return crop(all, {0, 2}, {0, 9}, {0, 11}); };
  EXPECT_FALSE(has_upright_views(first_two(leaning)));
  EXPECT_NE(fingerprint(first_two(leaning)), fingerprint(first_two(scan)));
  FlexibleBeam kept = leaning;
  keep_views(kept, std::vector<Index>{0, 1});
  EXPECT_FALSE(has_upright_views(kept));
  EXPECT_TRUE(has_upright_views(made([](FlexibleView& v) { v.row_step[0] += 1e-6 * v.row_step[2]; })));
  EXPECT_FALSE(has_upright_views(made([](FlexibleView& v) { v.bin_step[2] += 1e-5; })));
  EXPECT_FALSE(has_upright_views(made([](FlexibleView& v) { v.row_step = -1 * v.row_step; })))
      << "rows downwards";
  EXPECT_FALSE(has_upright_views(made([](FlexibleView& v) { v.bin_step = -1 * v.bin_step; }))) << "mirrored";
}

}  // namespace
}  // namespace tandem::test
