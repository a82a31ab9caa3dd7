#include <gtest/gtest.h>

#include <cmath>

#include "../../core/error.hpp"
#include "../support/property.hpp"
#include "../support/reference.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

TEST(Pack, PutsEachPixelOnTheBinOfTheFormula) {
  for (const test::ProjectorCase& c : test::projector_cases()) {
    SCOPED_TRACE(c.name);
    const ParallelViews packed = pack(c.scan, c.grid, Model::joseph);
    ASSERT_EQ(packed.views.size(), c.scan.angles.size());
    for (std::size_t v = 0; v < packed.views.size(); ++v)
      for (double iy : {0.0, 3.0})
        for (double ix : {0.0, 5.0}) {
          const ParallelView& p = packed.views[v];
          EXPECT_NEAR(p.origin + p.step_x * ix + p.step_y * iy,
                      test::bin_of(c.scan, c.scan.angles[v], c.grid.x(ix), c.grid.y(iy)),
                      100 * tolerance::double_rounding);
        }
  }
}

TEST(Pack, GivesBothModelsHatsOfOneArea) {
  for (const test::ProjectorCase& c : test::projector_cases())
    for (Model model : {Model::pixel_driven, Model::joseph}) {
      SCOPED_TRACE(c.name);
      const ParallelViews packed = pack(c.scan, c.grid, model);
      EXPECT_FLOAT_EQ(packed.scale,
                      static_cast<float>(c.grid.pitch[0] * c.grid.pitch[0] / c.scan.detector.bin_pitch));
      for (const ParallelView& v : packed.views) {
        const float radius = v.height / v.slope;
        EXPECT_FLOAT_EQ(v.height * radius, 1);  // half base times height
        EXPECT_LE(radius, static_cast<float>(packed.half_width) * (1 + 4 * static_cast<float>(tolerance::u)));
        EXPECT_TRUE(model == Model::joseph || radius == 1);
      }
    }
}

TEST(Pack, ReachesOneBinWhereVoxelsAreNoWiderThanBins) {
  EXPECT_EQ(pack(test::scan_of(7, 1, 11), test::grid_of(5, 5, 1), Model::joseph).half_width, 1);
  EXPECT_EQ(pack(test::scan_of(31, 1, 11), test::grid_of(5, 5, 1, 2.3), Model::joseph).half_width, 3);
  EXPECT_EQ(pack(test::scan_of(7, 1, 11), test::grid_of(5, 5, 1, 2.3), Model::pixel_driven).half_width, 1);
}

TEST(Pack, RefusesAGridWithoutASliceForEachRow) {
  EXPECT_THROW(pack(test::scan_of(7, 3, 11), test::grid_of(5, 5, 2), Model::joseph), GeometryError);
}

}  // namespace
}  // namespace tandem
