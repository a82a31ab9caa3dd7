#include <gtest/gtest.h>

#include <cmath>

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
  plan.flow.chunk_slices = 4;
  MemoryWriter writer(plan.job.grid.shape());
  const Outcome outcome = reconstruct(*reader, plan, writer, {.progress = {}, .truth = {}, .pictures = true});

  constexpr Index nx = 53, ny = 27, nz = small::rows;
  ASSERT_EQ(plan.job.grid.shape(), (Shape{nz, ny, nx}));
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

/// The first pictures come after the first chunk, the last after the last: what has no slice yet is NaN.
TEST(Pictures, AreShownWhileTheVolumeIsMade) {
  const TemporaryFolder folder;
  write_scan(folder / "scan.h5", SimulatedScan(small_simulation({})));
  const auto reader = io::open_scan(folder / "scan.h5");
  Plan plan = make_plan(reader->info(), {});
  plan.flow.chunk_slices = 2;
  MemoryWriter writer(plan.job.grid.shape());
  std::vector<std::vector<LivePicture>> shown;
  Options options;
  options.pictures = true;
  options.show = [&](std::vector<LivePicture> pictures) { shown.push_back(std::move(pictures)); };
  const Outcome outcome = reconstruct(*reader, plan, writer, options);

  constexpr Index n = small::bins, nz = small::rows;
  ASSERT_GE(shown.size(), 2u);
  const std::vector<LivePicture>&first = shown.front(), &last = shown.back();
  ASSERT_EQ(first.size(), 4u);
  EXPECT_EQ(first[0].name, "newest");
  EXPECT_EQ(first[0].index, 1);
  EXPECT_EQ(first[0].count, nz);
  EXPECT_TRUE(
      std::equal(first[0].grey.grey.begin(), first[0].grey.grey.end(), writer.volume.begin() + n * n));
  EXPECT_EQ(first[2].name, "y");
  EXPECT_EQ(first[2].index, n / 2);
  for (Index z = 0; z < nz; ++z)
    EXPECT_EQ(std::isnan(first[2].grey.grey[static_cast<std::size_t>(z * n)]), z >= 2) << z;
  ASSERT_EQ(last.size(), 3u);
  for (std::size_t k = 0; k < last.size(); ++k) EXPECT_EQ(last[k].grey.grey, outcome.middle[k].grey) << k;
}

/// Expects that the picture of a solver after its only step is a slice of the volume, though none is made by
/// then.
void expect_iterate(const Simulation& simulation, Index rows_at_once) {
  const TemporaryFolder folder;
  write_scan(folder / "scan.h5", SimulatedScan(simulation));
  const auto reader = io::open_scan(folder / "scan.h5");
  Recipe recipe;
  recipe.method = "sirt";
  recipe.iterations = 1;
  recipe.region_x = Range{4, 17}, recipe.region_y = Range{3, 14};
  Plan plan = make_plan(reader->info(), recipe);
  if (rows_at_once > 0) plan.flow.chunk_slices = rows_at_once;
  const Index chunk = std::min(plan.flow.chunk_slices, plan.job.grid.size[2]), middle = chunk / 2;
  MemoryWriter writer(plan.job.grid.shape());
  std::vector<std::vector<LivePicture>> shown;
  Options options;
  options.show = [&](std::vector<LivePicture> pictures) { shown.push_back(std::move(pictures)); };
  reconstruct(*reader, plan, writer, options);
  ASSERT_GE(shown.size(), 2u);
  ASSERT_EQ(shown.front().size(), 1u);
  const LivePicture& iterate = shown.front().front();
  EXPECT_EQ(iterate.name, "iterate");
  EXPECT_EQ(iterate.detail, "iteration 1 of 1");
  EXPECT_EQ(iterate.index, middle);
  EXPECT_EQ(iterate.count, plan.job.grid.size[2]);
  ASSERT_EQ(iterate.grey.grey.size(), 13u * 11u);
  EXPECT_TRUE(std::equal(iterate.grey.grey.begin(), iterate.grey.grey.end(),
                         writer.volume.begin() + middle * 13 * 11));
}

TEST(Pictures, OfASolverAreItsIterates) {
  expect_iterate(small_simulation({}), 3);
  expect_iterate(cone_simulation(2e4), 0);
}

TEST(Pictures, AreNotShownMoreOftenThanOnceASecond) {
  int count = 0;
  LiveView view([&](const std::vector<LivePicture>&) { ++count; });
  for (int k = 0; k < 100; ++k)
    if (view.due()) view.show({});
  EXPECT_EQ(count, 1);
  EXPECT_FALSE(LiveView({}).due());
}

TEST(Pictures, AreShrunkByMeansOfWhatIsFinite) {
  constexpr float none = NAN;
  const std::vector<float> grey{1, 3,    5,    7,    9,   //
                                2, none, none, none, 11,  //
                                4, 8,    none, none, 13};
  const io::Picture small = shrunk(grey, 5, 3, 3);
  EXPECT_EQ(small.width, 3);
  EXPECT_EQ(small.height, 2);
  EXPECT_EQ((std::vector(small.grey.begin(), small.grey.begin() + 4)), (std::vector<float>{2, 6, 10, 6}));
  EXPECT_TRUE(std::isnan(small.grey[4]));
  EXPECT_EQ(small.grey[5], 13);
  EXPECT_EQ(shrunk(std::vector<float>{1, 2, 3}, 3, 1, 3).grey, (std::vector<float>{1, 2, 3}));
}

}  // namespace
}  // namespace tandem::test
