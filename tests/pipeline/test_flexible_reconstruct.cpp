// Views of any geometry from file to volume: where vectors lie, and what they take.

#include <gtest/gtest.h>
#include <malloc.h>

#include <fstream>

#include "../../core/error.hpp"
#include "../../core/process_memory.hpp"
#include "../../geometry/trajectories.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/vector.hpp"
#include "../../pipeline/beams/placement.hpp"
#include "../../pipeline/methods/method.hpp"
#include "../../pipeline/methods/vector_bytes.hpp"
#include "../support/flexible_scans.hpp"
#include "../support/operators.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"
#include "../support/tolerances.hpp"

namespace tandem::pipeline {
namespace {

using test::reconstructed, test::relative_error, test::same_bits;

class FlexibleReconstruct : public ::testing::Test {
 protected:
  FlexibleReconstruct() { test::write_scan(path_, SimulatedScan(test::views_simulation(2e4))); }
  static Recipe recipe_for(const std::string& method) {
    Recipe recipe;
    recipe.method = method;
    recipe.iterations = 3;
    if (method == "tv") recipe.tv_weight = 0.05f;
    return recipe;
  }
  Plan plan(const Recipe& recipe) const { return make_plan(io::open_scan(path_)->info(), recipe); }
  std::vector<float> volume(const Recipe& recipe) const { return reconstructed(path_, recipe); }

  test::TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "scan.h5";
};

TEST_F(FlexibleReconstruct, TilesOnSeveralDevicesMakeNoDifference) {
  for (const std::string method : {"cgls", "sirt", "os-sirt", "osem", "tv"}) {
    Recipe recipe = recipe_for(method);
    const std::vector<float> whole = volume(recipe);
    recipe.devices = {Device::cpu(), Device::cpu(), Device::cpu()};
    recipe.device_bytes = 2 << 20;
    ASSERT_TRUE(in_tiles(plan(recipe).flow));
    const std::vector<float> tiles = volume(recipe);
    EXPECT_LE(relative_error(tiles, whole), tolerance::solver_steps) << method;
    EXPECT_TRUE(same_bits(volume(recipe), tiles)) << method;
    recipe.fewest_devices = true;  // a CPU holds it
    EXPECT_FALSE(in_tiles(plan(recipe).flow));
    recipe.fewest_devices = false, recipe.device_bytes = 1 << 10;
    EXPECT_THROW(plan(recipe), DeviceError);
  }
}

TEST_F(FlexibleReconstruct, VectorsAreSplitOverDevicesThatHoldThem) {
  for (const std::string method : {"cgls", "tv"}) {
    Recipe recipe = recipe_for(method);
    EXPECT_EQ(vectors(plan(recipe).flow), "on one device");
    const std::vector<float> whole = volume(recipe);
    recipe.devices = {Device::cpu(), Device::cpu()};
    EXPECT_EQ(vectors(plan(recipe).flow), "split over 2 devices");
    const std::vector<float> two = volume(recipe);
    EXPECT_LE(relative_error(two, whole), tolerance::solver_steps) << method;
    EXPECT_TRUE(same_bits(volume(recipe), two)) << method;
  }
}

/// Each device filters and back-projects its views.
TEST_F(FlexibleReconstruct, SeveralDevicesStartFromAFilter) {
  Recipe recipe = recipe_for("cgls");
  recipe.initial = Initial::fbp, recipe.iterations = 1;
  const std::vector<float> one = volume(recipe);
  recipe.devices = {Device::cpu(), Device::cpu(), Device::cpu()};
  EXPECT_LE(relative_error(volume(recipe), one), tolerance::solver_steps);
  recipe.initial = Initial::zero;
  EXPECT_GE(relative_error(volume(recipe), one), 0.1);
}

/// The filter of a helix takes views beside those that a device has.
TEST_F(FlexibleReconstruct, AHelixStartsFromAFilterOnOneDevice) {
  Trajectory helix;
  helix.name = "helix", helix.pitch = 5, helix.sod = 60, helix.sdd = 90, helix.midplane_row = 9.5;
  for (int k = 0; k < 60; ++k) helix.angles.push_back(k * whole_turn / 20);
  Simulation made;
  made.phantom = "ellipsoids";
  made.scan = views_along(helix, {23, 20, 0.5, 0.5, 11});
  made.grid = fitting_grid(made.scan);
  test::write_scan(folder_ / "helix.h5", SimulatedScan(made));
  const auto reader = io::open_scan(folder_ / "helix.h5");
  Recipe recipe = recipe_for("cgls");
  recipe.initial = Initial::fbp, recipe.iterations = 1;
  EXPECT_GT(reconstructed(folder_ / "helix.h5", recipe).size(), 0);
  recipe.devices = {Device::cpu(), Device::cpu()};
  test::expect_refused([&] { make_plan(reader->info(), recipe); }, "one device");
}

/// Subsets are of views, which a team would share: they go in tiles.
TEST_F(FlexibleReconstruct, SubsetsOnSeveralDevicesGoInTiles) {
  Recipe recipe = recipe_for("os-sirt");
  recipe.devices = {Device::cpu(), Device::cpu()};
  EXPECT_EQ(vectors(plan(recipe).flow), "on the host, in tiles");
}

/// The most that this process has held counts from here on. Returns whether the system lets it.
bool forget_peak() {
  std::ofstream("/proc/self/clear_refs") << "5";
  return peak_memory() < held_memory() + (1 << 20);
}

/// Few voxels and many cells, then the other way round.
TEST(FlexibleMemory, IsWhatThePlanCounts) {
  if (!forget_peak()) GTEST_SKIP() << "this system does not forget a peak";
  mallopt(M_MMAP_THRESHOLD, 1 << 20);  // and no longer what was freed before
  constexpr double beside = 3e6;       // threads, and what is no vector
  struct Case {
    Index views, cells, voxels;
  };
  for (const Case& c : {Case{700, 120, 9}, Case{2, 20, 200}})
    for (const std::string name : {"cgls", "sirt"}) {
      io::ScanInfo info;
      info.scan = test::standing(c.views, c.cells, c.cells, 400, 800, {0.1, 0.2, 0.05}, false, 0.1);
      Recipe recipe;
      recipe.method = name;
      Plan plan = make_plan(info, recipe);
      plan.job.grid = plan.job.solved = {{c.voxels, c.voxels, c.voxels}, {0.05, 0.05, 0.05}, {}};
      plan.job.inside = {};
      const double planned = computing_bytes(plan, plan.flow.workers.front(), c.voxels);
      forget_peak();
      const auto before = static_cast<double>(held_memory());
      const LinearOperator A = projector(plan.job.scan, plan.job.grid);
      Equations equations{A, Array(A.range())};
      fill(equations.y, 1, default_stream(Device::cpu()));
      auto solver = plan.job.method->solver(std::move(equations), Array(A.domain()), plan.job.options);
      for (int k = 0; k < 2; ++k) solver.step({true});
      const double taken = static_cast<double>(peak_memory()) - before;
      EXPECT_LE(taken, planned + beside) << name << ", " << c.views << " views";
      EXPECT_GE(taken, 0.8 * planned - beside) << name << ", " << c.views << " views";
    }
}

}  // namespace
}  // namespace tandem::pipeline
