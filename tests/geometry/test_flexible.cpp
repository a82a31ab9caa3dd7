// Views of any geometry: their parts, and the part of a grid that they see.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "../../core/error.hpp"
#include "../../geometry/scan.hpp"
#include "../../geometry/vector3.hpp"
#include "../support/flexible_scans.hpp"

namespace tandem::test {
namespace {

static_assert(Beam<FlexibleBeam>);

constexpr double rounding = 1e-9;  // mm, of places within a metre in double

FlexibleBeam some_views(bool parallel, Index rows = 13, Index bins = 17) {
  Random random(4);
  return random_views(6, rows, bins, 9, random, parallel);
}

void expect_same_place(const Vector3& a, const Vector3& b) { EXPECT_LE(length(a - b), rounding); }

TEST(FlexibleBeam, PartsKeepTheirCellsInPlace) {
  for (const bool parallel : {false, true}) {
    const FlexibleBeam all = some_views(parallel), part = crop(all, {2, 5}, {3, 8}, {1, 2});
    EXPECT_EQ(views_of(part), 3);
    EXPECT_EQ(part.detector.rows, 5);
    EXPECT_EQ(part.detector.bins, 1);
    for (Index view = 0; view < 3; ++view)
      for (const double row : {0.0, 4.0})
        expect_same_place(place_of(part, view, row, 0), place_of(all, view + 2, row + 3, 1));
  }
  EXPECT_THROW(crop(some_views(false), {2, 7}, {0, 13}, {0, 17}), GeometryError);
  EXPECT_THROW(crop(some_views(false), {3, 3}, {0, 13}, {0, 17}), GeometryError);
}

/// Odd sizes leave cells out at the end; one row stays one.
TEST(FlexibleBeam, CellsThatAreJoinedLieWhereTheirPartsLay) {
  for (const Index rows : {1, 13}) {
    const FlexibleBeam all = some_views(false, rows), binned = bin_down(all, 2);
    EXPECT_EQ(binned.detector.bins, 4);
    EXPECT_EQ(binned.detector.rows, rows == 1 ? 1 : 3);
    for (const double row : {0.0, static_cast<double>(binned.detector.rows - 1)})
      for (const double bin : {0.0, 3.0})
        expect_same_place(place_of(binned, 1, row, bin),
                          place_of(all, 1, rows == 1 ? row : 4 * row + 1.5, 4 * bin + 1.5));
  }
}

TEST(FlexibleBeam, ViewsAreKeptInAnyOrder) {
  const FlexibleBeam all = some_views(false);
  FlexibleBeam some = all;
  keep_views(some, std::vector<Index>{4, 0});
  ASSERT_EQ(views_of(some), 2);
  expect_same_place(some.views[0].source, all.views[4].source);
  expect_same_place(some.views[1].source, all.views[0].source);
  EXPECT_NE(fingerprint(some), fingerprint(all));
}

/// Points of a slice fall on rows that it is said to meet, and the other way round.
TEST(FlexibleBeam, TellsWhichRowsMeetWhichSlices) {
  Random random(9);
  const VolumeGrid grid{{5, 4, 6}, {1, 1, 1.5}, {0.2, -0.1, 0.4}};
  for (const bool parallel : {false, true}) {
    const FlexibleBeam scan = some_views(parallel, 40, 40);
    for (int k = 0; k < 500; ++k) {
      const auto within = [&](Index n) { return static_cast<double>(n) * random.uniform() - 0.5; };
      const double iz = within(6);
      const Vector3 point{grid.x(within(5)), grid.y(within(4)), grid.z(iz)};
      const auto slice = static_cast<Index>(std::lround(iz));
      const auto row = static_cast<Index>(std::lround(shadow_of(scan, k % 6, point)[0]));
      if (row < 0 || row >= 40) continue;
      const Range rows = rows_met(scan, grid, {slice, slice + 1});
      EXPECT_TRUE(rows.first <= row && row < rows.last) << row;
      const Range slices = slices_met(scan, grid, {row, row + 1});
      EXPECT_TRUE(slices.first <= slice && slice < slices.last) << slice;
    }
  }
}

/// A circle of magnification 2 has voxels of half a bin; a source at the origin has none.
TEST(FlexibleBeam, FitsAGridToTheOrigin) {
  const VolumeGrid grid = fitting_grid(standing(7, 9, 11, 50, 100, {}));
  EXPECT_EQ(grid.size, (std::array<Index, 3>{11, 11, 9}));
  EXPECT_NEAR(grid.pitch[0], 0.5, rounding);
  FlexibleBeam inside = standing(1, 9, 11, 50, 100, {});
  inside.views[0].source = {};
  EXPECT_THROW(fitting_grid(inside), GeometryError);
}

/// An error about any number or vector of a view is one line that has the number of the view.
TEST(FlexibleBeam, NamesTheViewThatIsNoView) {
  const std::vector<std::function<void(FlexibleView&, double)>> faults{
      [](FlexibleView& v, double) { v.source[1] = NAN; },
      [](FlexibleView& v, double) { v.detector[2] = INFINITY; },
      [](FlexibleView& v, double) { v.bin_step[0] = -INFINITY; },
      [](FlexibleView& v, double) { v.row_step[2] = NAN; },
      [](FlexibleView& v, double) { v.bin_step = {}; },
      [](FlexibleView& v, double) { v.row_step = {}; },
      [](FlexibleView& v, double far) { v.row_step = far * v.bin_step; },
      [](FlexibleView& v, double far) { v.bin_step = -far * v.row_step; }};
  Random random(3);
  for (const bool parallel : {false, true})
    for (const auto& fault : faults)
      for (int trial = 0; trial < 20; ++trial) {
        FlexibleBeam scan = random_views(9, 5, 7, 6, random, parallel);
        ASSERT_NO_THROW(validate(scan));
        const std::size_t view = random.bits() % 9;
        fault(scan.views[view], 0.1 + random.uniform());
        try {
          validate(scan);
          FAIL() << "not refused";
        } catch (const GeometryError& error) {
          const std::string text = error.what();
          EXPECT_NE(text.find("view " + std::to_string(view) + ":"), std::string::npos) << text;
          EXPECT_EQ(text.find('\n'), std::string::npos);
        }
      }
}

/// A source may stand anywhere outside: if a voxel is less than 4 voxels before it, or behind it, the view
/// and that distance are named.
TEST(FlexibleBeam, NamesTheViewWhoseSourceIsInTheVolumeAndHowNear) {
  Random random(4);
  const VolumeGrid grid{{9, 8, 7}, {0.5, 0.5, 0.4}, {0.3, 0, -0.2}};
  int refused = 0;
  for (int trial = 0; trial < 200; ++trial) {
    FlexibleBeam scan = random_views(5, 5, 7, 6, random, false);
    const std::size_t view = random.bits() % 5;
    FlexibleView& moved = scan.views[view];
    moved.source = (0.7 * random.uniform() - 0.1) * moved.source;
    const Vector3 normal = cross(moved.bin_step, moved.row_step);
    const double side = dot(moved.detector - moved.source, normal) < 0 ? -1 : 1;
    double nearest = INFINITY;
    for (const double x : {-0.5, 8.5})
      for (const double y : {-0.5, 7.5})
        for (const double z : {-0.5, 6.5}) {
          const Vector3 corner{0.3 + (x - 4) * 0.5, (y - 3.5) * 0.5, -0.2 + (z - 3) * 0.4};
          nearest = std::min(nearest, side * dot(corner - moved.source, normal) / length(normal));
        }
    if (nearest >= 2) {
      EXPECT_NO_THROW(require_source_outside(scan, grid));
      continue;
    }
    ++refused;
    try {
      require_source_outside(scan, grid);
      FAIL() << "a voxel is " << nearest << " mm before the source";
    } catch (const GeometryError& error) {
      std::ostringstream said;
      said << "view " << view << ": the grid reaches to " << nearest << " mm before the source";
      EXPECT_NE(std::string(error.what()).find(said.str()), std::string::npos) << error.what();
    }
  }
  EXPECT_GT(refused, 20);
}

}  // namespace
}  // namespace tandem::test
