#include <gtest/gtest.h>

#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"

namespace tandem::test {
namespace {

using namespace pipeline;

/// A volume of three different extents, in chunks that end anywhere.
TEST(Pictures, AreTheMiddleSlicesOfTheVolume) {
  const TemporaryFolder folder;
  write_scan(folder / "scan.h5", SimulatedScan(small_simulation({})));
  Recipe recipe;
  recipe.region_x = Range{4, 57}, recipe.region_y = Range{13, 40};
  const auto reader = io::open_scan(folder / "scan.h5");
  Plan plan = make_plan(reader->info(), recipe);
  plan.rows_at_once = 4;
  MemoryWriter writer(plan.grid.shape());
  const Outcome outcome = reconstruct(*reader, plan, writer, {.progress = {}, .truth = {}, .pictures = true});

  constexpr Index nx = 53, ny = 27, nz = small::rows;
  ASSERT_EQ(plan.grid.shape(), (Shape{nz, ny, nx}));
  const auto at = [&](Index z, Index y, Index x) {
    return writer.volume[static_cast<std::size_t>((z * ny + y) * nx + x)];
  };
  ASSERT_EQ(outcome.middle.size(), 3u);
  const auto expect = [&](const io::Picture& picture, Index height, Index width, const auto& value) {
    ASSERT_EQ(picture.height, height);
    ASSERT_EQ(picture.width, width);
    for (Index i = 0; i < height; ++i)
      for (Index j = 0; j < width; ++j)
        ASSERT_EQ(picture.grey[static_cast<std::size_t>(i * width + j)], value(i, j)) << i << ' ' << j;
  };
  expect(outcome.middle[0], ny, nx, [&](Index y, Index x) { return at(nz / 2, y, x); });
  expect(outcome.middle[1], nz, nx, [&](Index z, Index x) { return at(z, ny / 2, x); });
  expect(outcome.middle[2], nz, ny, [&](Index z, Index y) { return at(z, y, nx / 2); });
}

}  // namespace
}  // namespace tandem::test
