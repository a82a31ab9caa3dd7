// A sample that goes on above and below the detector: FDK of a long cylinder, in slices that the detector's
// first and last rows bound.

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "../../geometry/free_views.hpp"
#include "../../geometry/phantom.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/fbp.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem::test {
namespace {

constexpr double attenuation = 0.05, part = 0.6;  // share of the field of view

/// A detector of 64 x 24 cells, behind an axis that lies so far from the source.
ConeBeam cone_at(double sod, double midplane_row = 11.5) {
  return {{64, 24, 1, 1, 31.8}, regular_angles(120, whole_turn), sod, 1.5 * sod, midplane_row};
}

double field_of(const ConeBeam& scan) { return distance_from_axis(scan, 31.5); }

template <class Kind>
Array data_of(const Phantom& phantom, const Kind& scan) {
  Array y(projection_space(scan));
  project(phantom, scan, {0, scan.detector.rows}, {y.data(), static_cast<std::size_t>(y.size())});
  return y;
}

Phantom long_cylinder(const ConeBeam& scan) {
  const double radius = part * field_of(scan);
  return {{{attenuation, {radius, radius, INFINITY}, {0.1 * radius, -0.2 * radius, 0}, 0}}};
}

constexpr std::size_t rings = 8;

/// The means of the rings of a slice, inside 0.8 of the radius.
std::array<double, rings> rings_of(const Array& x, const VolumeGrid& grid, const Ellipsoid& cylinder,
                                   Index slice) {
  std::array<double, rings> means{}, counts{};
  for (Index iy = 0; iy < grid.size[1]; ++iy)
    for (Index ix = 0; ix < grid.size[0]; ++ix) {
      const double r = std::hypot(grid.x(static_cast<double>(ix)) - cylinder.centre[0],
                                  grid.y(static_cast<double>(iy)) - cylinder.centre[1]) /
                       cylinder.semi_axes[0];
      if (r >= 0.8) continue;
      const auto ring = static_cast<std::size_t>(10 * r);
      means[ring] += static_cast<double>(x.data()[(slice * grid.size[1] + iy) * grid.size[0] + ix]);
      ++counts[ring];
    }
  for (std::size_t k = 0; k < rings; ++k) means[k] /= counts[k];
  return means;
}

/// The outer slices read the attenuation.
void expect_flat(const Array& x, const VolumeGrid& grid, const Phantom& phantom, double of) {
  for (const Index slice : {Index{0}, Index{1}, grid.size[2] - 1}) {
    const std::array<double, rings> found = rings_of(x, grid, phantom.ellipsoids[0], slice);
    for (std::size_t k = 0; k < rings; ++k)
      EXPECT_NEAR(found[k] / attenuation, 1, tolerance::long_cylinder)
          << "slice " << slice << ", ring " << k << ", " << of;
  }
}

/// Cone angles up to 12 degrees, and fans of up to 38, seen from beside the middle too.
TEST(RowsBeyond, OfALongCylinderAreAsTheOutermostOnes) {
  for (const double sod : {40, 80, 200})
    for (const double midplane : {11.5, 3.2, -5.0}) {
      const ConeBeam scan = cone_at(sod, midplane);
      const VolumeGrid grid = fitting_grid(scan);
      const Phantom phantom = long_cylinder(scan);
      expect_flat(fdk(scan, grid) * data_of(phantom, scan), grid, phantom, sod);
    }
}

TEST(RowsBeyond, AreThereForAllModels) {
  const ConeBeam scan = cone_at(120);
  const VolumeGrid grid = fitting_grid(scan);
  const Phantom phantom = long_cylinder(scan);
  const Array y = data_of(phantom, scan);
  for (const Model model : {Model::joseph, Model::pixel_driven, Model::hierarchical})
    expect_flat(fdk(scan, grid, {}, model) * y, grid, phantom, static_cast<double>(model));
}

TEST(RowsBeyond, AreThereForHalfAcquisitionsAndArcs) {
  ConeBeam half = cone_at(120), arc = half;
  half.detector.axis_bin = 14.3;
  arc.angles = regular_angles(120, 3.9);
  for (const ConeBeam& scan : {half, arc}) {
    const VolumeGrid grid = fitting_grid(scan);
    const Phantom phantom = long_cylinder(cone_at(120));
    expect_flat(fdk(scan, grid) * data_of(phantom, scan), grid, phantom, scan.detector.axis_bin);
  }
}

/// Views that say for themselves where they stand, with a detector that is rolled too.
TEST(RowsBeyond, AreThereForViewsOfAnyGeometry) {
  const ConeBeam scan = cone_at(80, 9.5);
  const VolumeGrid grid = fitting_grid(scan);
  const Phantom phantom = long_cylinder(scan);
  for (const double roll : {0.0, 0.02}) {
    const FlexibleBeam views = as_free_views(scan, OffCircle{.roll = roll});
    const Array x = fbp(views, grid) * data_of(phantom, views);
    expect_flat(x, grid, phantom, roll);
  }
}

/// No slice needs rows beyond those that were left out, so these are none of the volume's business.
TEST(RowsBeyond, AreNotMadeWhereTheDetectorGoesOn) {
  const ConeBeam scan = cone_at(80);
  const ConeBeam wide = filtered_scan(scan), inner = filtered_scan(of_rows_needed(scan, {4, 20})),
                 upper = filtered_scan(of_rows_needed(scan, {10, 24}));
  EXPECT_GT(wide.detector.rows, 24 + 4);
  EXPECT_EQ(inner.detector.rows, 16);
  EXPECT_DOUBLE_EQ(upper.midplane_row, 1.5);
  EXPECT_EQ(upper.detector.rows - 14, wide.detector.rows - 24 - std::lround(wide.midplane_row - 11.5));
  for (const ConeBeam& part_of : {inner, upper}) EXPECT_EQ(part_of.farthest_row(), wide.farthest_row());
  ConeBeam one = cone_at(80, 0);
  one.detector.rows = 1;
  EXPECT_EQ(filtered_scan(one).detector.rows, 1);
}

}  // namespace
}  // namespace tandem::test
