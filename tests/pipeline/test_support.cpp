// Voxels that a support keeps at zero, and those of a shell at the highest value.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../../core/error.hpp"
#include "../../io/volumes/volume_file.hpp"
#include "../../pipeline/complete/complete.hpp"
#include "../../pipeline/methods/method.hpp"
#include "../../pipeline/methods/voxel_bounds.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"
#include "../support/tolerances.hpp"

namespace tandem::pipeline {
namespace {

using test::reconstructed, test::same_bits;

class SupportOfSolvers : public ::testing::Test {
 protected:
  void SetUp() override {
    Simulation one = test::small_simulation(1e4), other = test::cone_simulation();
    one.phantom = other.phantom = "disc";
    test::write_scan(parallel_, SimulatedScan(one));
    test::write_scan(cone_, SimulatedScan(other));
  }

  static Recipe asked(std::string_view method) {
    Recipe recipe;
    recipe.method = method;
    recipe.iterations = 6;
    if (method == "tv") recipe.tv_weight = 0.1f;
    return recipe;
  }
  static Plan plan_of(const std::filesystem::path& scan, const Recipe& recipe) {
    return make_plan(io::open_scan(scan)->info(), recipe);
  }

  /// Calls look(value, x, y, voxel) for all voxels.
  template <class Look>
  static void for_each(const std::vector<float>& volume, const VolumeGrid& grid, const Look& look) {
    const auto [nx, ny, nz] = grid.size;
    ASSERT_EQ(std::ssize(volume), nx * ny * nz);
    for (Index i = 0; i < nx * ny * nz; ++i) look(volume[i], grid.x(i % nx), grid.y(i / nx % ny), i);
  }

  /// Writes a volume on the grid of a plan.
  std::filesystem::path written(const Plan& plan, const std::vector<float>& voxels,
                                const char* name = "support.h5") {
    const auto path = folder_.path() / name;
    io::VolumeFormat format;
    format.place = plan.job.place();
    auto writer = io::create_volume(path, plan.job.grid.shape(), format, "{}", io::Replace::any);
    writer->write({0, plan.job.grid.size[2]}, voxels.data());
    writer->finish("{}");
    return path;
  }

  test::TemporaryFolder folder_;
  const std::filesystem::path parallel_ = folder_.path() / "parallel.h5", cone_ = folder_.path() / "cone.h5";
};

TEST_F(SupportOfSolvers, OfADiscHoldsInEachMethodWithBounds) {
  for (const Method& method : methods())
    for (const auto& scan : {parallel_, cone_}) {
      if (!method.reads("support")) continue;
      Recipe recipe = asked(method.name);
      const float highest = scan == parallel_ ? 0.03f : 0.2f;
      recipe.highest = highest;
      const double unit = scan == parallel_ ? 1 : 0.25;
      const Disc disc{3 * unit, -2 * unit, 17 * unit};
      recipe.support = {.is_disc = true, .disc = disc, .margin = 1.5 * unit, .shell = 4 * unit};
      Index out = 0, shell = 0, between = 0;
      const VolumeGrid grid = plan_of(scan, recipe).job.grid;
      const double whole = disc.radius - 0.5 * grid.pitch[0];
      for_each(reconstructed(scan, recipe), grid, [&](float value, double x, double y, Index) {
        const double r = std::hypot(x - disc.x, y - disc.y);
        const bool is_out = r > disc.radius + recipe.support.margin,
                   is_shell = r <= whole && r > disc.radius - *recipe.support.shell;
        out += is_out && value != 0, shell += is_shell && value != highest;
        between += !is_out && !is_shell && value != 0 && value < highest;
        ASSERT_LE(value, highest) << method.name;
      });
      EXPECT_EQ(out, 0) << method.name << ' ' << scan;
      EXPECT_EQ(shell, 0) << method.name << ' ' << scan;
      EXPECT_GT(between, 0) << method.name << ' ' << scan;
    }
}

/// Slices with supports of their own, a part of the grid that is written, and a shell by its definition: the
/// nearest voxel outside, in the slice, is not farther than its thickness and half a voxel.
TEST_F(SupportOfSolvers, OfAFileIsWhereItSaysAndVoxelsBeyondItAreFree) {
  for (const auto& scan : {parallel_, cone_}) {
    Recipe recipe = asked("sirt");
    recipe.region_x = Range{5, 30}, recipe.region_y = Range{9, 32}, recipe.region_z = Range{2, 6};
    const float highest = scan == parallel_ ? 0.03f : 0.2f;
    recipe.highest = highest;
    const Plan plan = plan_of(scan, recipe);
    const double pitch = plan.job.grid.pitch[0];
    std::vector<float> mask(25 * 23 * 4);
    const auto is_in = [](Index x, Index y, Index z) { return std::hypot(x - 11 + z, 0.8 * (y - 10)) < 9; };
    for (Index i = 0; i < std::ssize(mask); ++i) mask[i] = is_in(i % 25, i / 25 % 23, i / 575) ? -2.5f : 0.0f;
    recipe.support.file = written(plan, mask);
    recipe.support.shell = 2.3 * pitch;
    const std::vector<float> volume = reconstructed(scan, recipe);
    const auto is_in_shell = [&](Index x, Index y, Index z) {
      for (Index j = 0; j < 23; ++j)
        for (Index i = 0; i < 25; ++i)
          if (!is_in(i, j, z) && std::hypot(i - x, j - y) <= 2.8) return true;
      return false;
    };
    Index between = 0;
    for_each(volume, plan.job.grid, [&](float value, double, double, Index i) {
      const Index x = i % 25, y = i / 25 % 23, z = i / 575;
      if (!is_in(x, y, z))
        EXPECT_EQ(value, 0) << x << ' ' << y << ' ' << z;
      else if (is_in_shell(x, y, z))
        EXPECT_EQ(value, highest) << x << ' ' << y << ' ' << z;
      else
        between += value != 0 && value < highest;
    });
    EXPECT_GT(between, 0);
    Recipe whole = recipe;
    whole.support = {}, whole.region_x.reset(), whole.region_y.reset(), whole.region_z.reset();
    EXPECT_GT(std::ssize(reconstructed(scan, whole)), std::ssize(volume));
    EXPECT_TRUE(same_bits(volume, reconstructed(scan, recipe, scan == parallel_ ? 1 : 0))) << "by slices";
  }
}

TEST_F(SupportOfSolvers, OfAFileIsRefusedIfItSaysNothing) {
  Recipe recipe = asked("sirt");
  recipe.highest = 1;
  const Plan plan = plan_of(cone_, recipe);
  const Index count = volume_space(plan.job.grid).size();
  const auto opened = [&](std::vector<float> mask, std::optional<double> shell = {}) {
    recipe.support.file = written(plan, mask), recipe.support.shell = shell;
    return open_bounds(plan_of(cone_, recipe).job, false);
  };
  std::vector<float> mask(count, 0.0f);
  EXPECT_THROW(opened(mask), FileError);
  mask[count / 2] = 1;
  EXPECT_NE(opened(mask).support, nullptr);
  EXPECT_THROW(opened(mask, plan.job.grid.pitch[0]), FileError) << "all of it is shell";
  mask[7] = NAN;
  EXPECT_THROW(opened(mask), FileError);
  mask[7] = 0;
  opened(mask);
  recipe.size = plan.job.grid.size[0] - 2;
  EXPECT_THROW(open_bounds(plan_of(cone_, recipe).job, false), FileError) << "another grid";
}

/// Bounds of voxels from files: some equal, so that a value is given, and some too far to be any; and a disc
/// beside.
TEST_F(SupportOfSolvers, StandsBesideBoundsFromFiles) {
  for (const Method& method : methods())
    for (const auto& scan : {parallel_, cone_}) {
      if (!method.reads("bounds")) continue;
      Recipe recipe = asked(method.name);
      const Plan plan = plan_of(scan, recipe);
      const double unit = scan == parallel_ ? 1 : 0.25;
      const Disc disc{3 * unit, -2 * unit, 17 * unit};
      std::vector<float> low(volume_space(plan.job.grid).size()), high = low;
      for (Index i = 0; i < std::ssize(low); ++i) {
        low[i] = method.kind.only_positive ? 0 : 0.004f * static_cast<float>(i % 5) - 0.004f;
        high[i] = i % 7 == 0 ? 1e30f : low[i] + 0.004f * static_cast<float>(i % 3);
      }
      if (!method.kind.only_positive) recipe.lowest_file = written(plan, low, "low.h5");
      recipe.highest_file = written(plan, high, "high.h5");
      recipe.support = {.is_disc = true, .disc = disc};
      Index wrong = 0, above = 0;
      for_each(reconstructed(scan, recipe), plan.job.grid, [&](float value, double x, double y, Index i) {
        const bool is_out = std::hypot(x - disc.x, y - disc.y) > disc.radius;
        wrong += is_out ? value != 0 : value < low[i] || value > high[i];
        above += !is_out && value > 0.02f;
      });
      EXPECT_EQ(wrong, 0) << method.name << ' ' << scan;
      EXPECT_GT(above, 0) << method.name << ' ' << scan << ": 1e30 is no bound";
    }
}

TEST_F(SupportOfSolvers, BesideBoundsFromFilesThatAreWrongIsRefused) {
  Recipe recipe = asked("sirt");
  const Plan plan = plan_of(cone_, recipe);
  std::vector<float> ends(volume_space(plan.job.grid).size(), 0.1f);
  recipe.highest_file = written(plan, ends);
  recipe.lowest = 0.2f;
  EXPECT_THROW(open_bounds(plan_of(cone_, recipe).job, false), FileError) << "the lowest is above";
  recipe.lowest.reset();
  ends[7] = NAN;
  written(plan, ends);
  EXPECT_THROW(open_bounds(plan_of(cone_, recipe).job, false), FileError);
  ends[7] = 0.1f;
  recipe.highest_file = written(plan, ends), recipe.lowest_file.clear();
  recipe.support = {.is_disc = true, .disc = Disc{0, 0, 5}, .shell = 2};
  EXPECT_NO_THROW(reconstructed(cone_, recipe));
  std::ranges::fill(ends, 1e30f);
  written(plan, ends);
  EXPECT_THROW(reconstructed(cone_, recipe), FileError) << "the shell has no value";
  Recipe positive = asked("mlem");
  positive.lowest_file = recipe.highest_file;
  EXPECT_THROW(plan_of(cone_, positive), GeometryError);
}

TEST_F(SupportOfSolvers, OfADiscIsRefusedWhereItMakesNoSense) {
  Recipe recipe = asked("sirt");
  recipe.support = {.is_disc = true, .disc = Disc{0, 0, 4}, .shell = 4};
  EXPECT_THROW(plan_of(cone_, recipe), GeometryError) << "all of it is shell";
  recipe.support = {.is_disc = true, .disc = Disc{0, 0, 0}};
  EXPECT_THROW(plan_of(cone_, recipe), GeometryError);
  recipe.support.disc = Disc{900, 0, 4};
  EXPECT_THROW(reconstructed(cone_, recipe), GeometryError) << "no voxel is within";
  recipe.support.disc.reset();
  EXPECT_THROW(reconstructed(cone_, recipe), GeometryError) << "it was not fitted";
}

/// The phantom is a cylinder of radius 0.5 about (0.2, 0.1), in half widths of the grid.
TEST_F(SupportOfSolvers, IsFittedToThePhantomInAPartOfATurn) {
  for (const auto& [scan, views] :
       {std::pair{parallel_, Range{0, 47}}, {cone_, Range{0, 60}}, {cone_, Range{3, 13}}}) {
    const auto reader = io::open_scan(scan);
    Recipe recipe = asked("sirt");
    recipe.views = views;
    recipe.support = {.is_disc = true, .margin = 0.2};
    const Completed found = complete(recipe, *reader);
    const VolumeGrid grid =
        scan == parallel_ ? test::small_simulation({}).grid : test::cone_simulation().grid;
    const double half = half_width(grid), within = 2 * tolerance::edge_of_shadow * grid.pitch[0];
    const Disc& disc = recipe.support.disc.value();
    EXPECT_NEAR(disc.x, 0.2 * half, within) << scan;
    EXPECT_NEAR(disc.y, 0.1 * half, within) << scan;
    EXPECT_NEAR(disc.radius, 0.5 * half, within) << scan;
    EXPECT_LE(found.support.disc.value().residual, within);
    EXPECT_EQ(recipe.support.margin, 0.2);
  }
}

/// Binned voxels of a scan without a pitch are counted in bins of the file, and so is its disc.
TEST_F(SupportOfSolvers, WithoutAPitchCountsInBinsOfTheFile) {
  Recipe recipe = asked("sirt");
  recipe.binning = 1;
  recipe.support = {.is_disc = true, .disc = Disc{6, -4, 17}};
  Index out = 0, in = 0;
  for_each(reconstructed(parallel_, recipe), plan_of(parallel_, recipe).job.grid,
           [&](float value, double x, double y, Index) {
             const bool is_in = std::hypot(2 * x - 6, 2 * y + 4) <= 17;
             out += !is_in && value != 0, in += is_in && value != 0;
           });
  EXPECT_EQ(out, 0);
  EXPECT_GT(in, 0);
}

TEST_F(SupportOfSolvers, IsInTheMemoryOfThePlan) {
  const auto volumes = [](const char* name, const Recipe& recipe) {
    return method_named(name).holds_with(recipe).back().volumes;
  };
  Recipe bare = asked("tv"), both = bare;
  both.support.is_disc = true;
  EXPECT_EQ(volumes("tv", both), volumes("tv", bare) + 2 + 2) << "and what bounds need";
  EXPECT_EQ(volumes("sirt", both), volumes("sirt", bare) + 2);
  bare.nonnegative = both.nonnegative = true;
  EXPECT_EQ(volumes("tv", both), volumes("tv", bare) + 1) << "the lowest is zero everywhere";
  bare.stop_gap = both.stop_gap = 0.1;
  EXPECT_EQ(volumes("tv", both), volumes("tv", bare) + 1 + 2) << "and what least products need";
  both.support.shell = 1;
  EXPECT_EQ(volumes("tv", both), volumes("tv", bare) + 2 + 2);
}

/// If all voxels are within, there is no other weight; a support that cuts off the object makes one.
TEST_F(SupportOfSolvers, CountsForTheSearchOfTheWeight) {
  const auto path = folder_.path() / "ellipsoids.h5";
  test::write_scan(path, SimulatedScan(test::small_simulation(3e4)));
  const auto weight = [&](std::optional<double> radius) {
    Recipe recipe = asked("tv");
    recipe.tv_weight.reset(), recipe.nonnegative = true;
    if (radius) recipe.support = {.is_disc = true, .disc = Disc{0, 0, *radius}};
    const auto reader = io::open_scan(path);
    Plan plan = make_plan(reader->info(), recipe);
    look_ahead(*reader, plan);
    return plan.job.options.tv_weight.value();
  };
  const float free = weight({});
  EXPECT_EQ(weight(1000), free);
  EXPECT_NE(weight(22), free);
}

}  // namespace
}  // namespace tandem::pipeline
