// Cone and fan beams from file to volume on a GPU, against the CPU. Skipped where no GPU is.

#include <algorithm>
#include <cmath>

#include "../../pipeline/beams/placement.hpp"
#include "recon_fixture.hpp"

namespace tandem::test {
namespace {

using pipeline::Initial;
using pipeline::Plan;
using pipeline::Recipe;

struct ScanCase {
  std::string name;
  pipeline::Simulation simulation;
};

/// A circle, one with the detector to either side, a short scan; and the same of one row.
std::vector<ScanCase> scan_cases() {
  std::vector<ScanCase> all;
  for (const bool fan : {false, true}) {
    const auto add = [&](const std::string& name, double axis, double arc) {
      pipeline::Simulation s = cone_simulation(1e4);
      auto& scan = std::get<ConeBeam>(s.scan);
      scan.detector.axis_bin = axis;
      scan.angles = regular_angles(60, arc);
      if (fan) scan.detector.rows = 1, scan.midplane_row = 0.2, s.grid.size[2] = 1;
      all.push_back({(fan ? "fan, " : "cone, ") + name, s});
    };
    add("circle", 21.4, whole_turn);
    add("detector towards low bins", 33.1, whole_turn);
    add("detector towards high bins", 8.3, whole_turn);
    add("short scan", 21.4, 3.8);
  }
  return all;
}

class CudaConeReconstruct : public CudaRecipes {
 protected:
  void SetUp() override {
    CudaRecipes::SetUp();
    if (!IsSkipped()) simulate(cone_simulation(1e4));
  }
  static constexpr std::size_t tile_bytes = 3 << 20;  // too few for all of FDK's data, let alone a solver's
  static double bound_of(const std::string& method) {
    return (method == "fbp" ? 1 : tolerance::cgls_magnifies) * tolerance::fbp_devices;
  }
};

TEST_F(CudaConeReconstruct, VolumesAgreeWithTheCpu) {
  for (const ScanCase& one : scan_cases()) {
    simulate(one.simulation);
    for (const std::string method : {"fbp", "cgls", "sirt"})
      expect_the_cpus_volume([&](Device device) { return volume(recipe_for(method, device)); },
                             bound_of(method), one.name + ", method " + method);
  }
}

TEST_F(CudaConeReconstruct, GoesOnWithCirclesLikeTheCpu) {
  for (const ScanCase& one : scan_cases()) {
    simulate(one.simulation);
    Recipe recipe = recipe_for("fbp", gpu);
    const Index axis = std::lround(detector_of(one.simulation.scan).axis_bin);
    recipe.bins = Range{std::max<Index>(axis - 14, 0), std::min<Index>(axis + 15, 43)};
    const std::vector<float> usual = volume(recipe);
    recipe.padding = Padding::circle, recipe.fbp_filter.attenuation = 0.01;
    const std::vector<float> there = volume(recipe);
    recipe.devices = {cpu};
    EXPECT_LE(relative_error(there, volume(recipe)), bound_of("fbp")) << one.name;
    EXPECT_GT(relative_error(usual, there), 0.01) << one.name;
  }
}

TEST_F(CudaConeReconstruct, BitsDoNotDependOnPiecesOfCounts) {
  for (const std::vector<Device>& devices : {std::vector{gpu}, std::vector{gpu, gpu, gpu}}) {
    Recipe recipe = recipe_for("cgls", gpu);
    recipe.devices = devices;
    Plan plan = plan_for(recipe);
    const std::vector<float> whole = volume(plan);
    for (const Index bytes : {1, 10'000}) {
      std::get<pipeline::WholeSizes>(plan.flow.sizes).piece_bytes = bytes;
      EXPECT_TRUE(same_bits(volume(plan), whole)) << bytes;
    }
  }
}

TEST_F(CudaConeReconstruct, StartsFromFdkLikeTheCpu) {
  const auto from_fdk = [&](Device device) {
    Recipe recipe = recipe_for("cgls", device);
    recipe.initial = Initial::fbp;
    return volume(recipe);
  };
  expect_the_cpus_volume(from_fdk, bound_of("cgls"));
}

TEST_F(CudaConeReconstruct, NoiseStopsTheOneProblemAsOnTheCpu) { expect_noise_to_stop(0); }

TEST_F(CudaConeReconstruct, SlabsMakeNoDifference) {
  const Recipe recipe = recipe_for("fbp", gpu);
  const std::vector<float> whole = volume(recipe);
  for (const Index at_once : {1, 8, 20})
    EXPECT_LE(relative_error(volume(recipe, at_once), whole), tolerance::devices) << at_once;
}

TEST_F(CudaConeReconstruct, LittleMemoryMakesSmallBlocksAndSlabs) {
  Recipe recipe = recipe_for("fbp", gpu);
  const Plan whole = plan_for(recipe);
  ASSERT_EQ(whole.flow.chunk_slices, 18);  // a half
  EXPECT_EQ(whole.flow.execution(), (Execution{"standard", Precision::float32}));
  EXPECT_EQ(std::get<pipeline::ViewSizes>(whole.flow.sizes).block_views, 64);
  recipe.device_bytes = (std::size_t{128} << 20) + 1'500'000;  // beside batches of the filter
  const Plan part = plan_for(recipe);
  EXPECT_LT(std::get<pipeline::ViewSizes>(part.flow.sizes).block_views, 64);
  EXPECT_LE(part.flow.memory.device, recipe.device_bytes);
  EXPECT_LE(relative_error(volume(recipe), volume(recipe_for("fbp", gpu))), tolerance::devices);
}

TEST_F(CudaConeReconstruct, SeveralGpusTakeSlabs) {
  Recipe recipe = recipe_for("fbp", gpu);
  const std::vector<float> whole = volume(recipe);
  recipe.devices = {gpu, gpu};
  const Plan two = plan_for(recipe);
  EXPECT_EQ(two.flow.workers.size(), 2u);
  EXPECT_FALSE(in_tiles(two.flow));
  for (const Index at_once : {0, 5})
    EXPECT_LE(relative_error(volume(recipe, at_once), whole), tolerance::devices);
}

/// Each pixel counts once, whatever the slabs, and as on the CPU.
TEST_F(CudaConeReconstruct, FindsWhatTheCpuFinds) {
  const auto found = [&](Device device, Index slices) {
    Recipe recipe = recipe_for("fbp", device);
    recipe.steps["saturation"] = 9000.0;
    pipeline::Outcome outcome;
    reconstructed(scan_, recipe, slices, &outcome);
    EXPECT_GT(outcome.findings.replaced_by("saturation"), 0);
    return outcome.findings.replaced_by("saturation");
  };
  EXPECT_EQ(found(gpu, 0), found(cpu, 35));
  EXPECT_EQ(found(gpu, 35), found(cpu, 7));
}

TEST_F(CudaConeReconstruct, StepsOnAllViewsAgreeWithTheCpu) {
  const auto made = [&](Device device) {
    Recipe recipe = recipe_for("fbp", device);
    recipe.steps["remove-stripe-method"] = std::string("sf");
    return volume(recipe);
  };
  expect_the_cpus_volume(made, bound_of("fbp"));
}

/// Vectors of a solver lie on the GPU, split over several, or in tiles on the host.
TEST_F(CudaConeReconstruct, MemoryAndGpusDecideWhereVectorsLie) {
  for (const std::string method : {"cgls", "sirt"}) {
    Recipe recipe = recipe_for(method, gpu);
    if (method == "cgls") recipe.initial = Initial::fbp;
    const std::vector<float> whole = volume(recipe);
    recipe.devices = {gpu, gpu};
    ASSERT_EQ(vectors(plan_for(recipe).flow), "split over 2 GPUs");
    EXPECT_LE(relative_error(volume(recipe), whole), bound_of(method));
    recipe.fewest_devices = true;
    ASSERT_EQ(vectors(plan_for(recipe).flow), "on one device");
    recipe.device_bytes = tile_bytes;
    ASSERT_EQ(plan_for(recipe).flow.active_devices.size(), 2u);
    ASSERT_TRUE(in_tiles(plan_for(recipe).flow));
    recipe.fewest_devices = false;
    EXPECT_LE(relative_error(volume(recipe), whole), bound_of(method));
    recipe.devices = {gpu}, recipe.device_bytes.reset();
    ASSERT_FALSE(in_tiles(plan_for(recipe).flow));
    recipe.device_bytes = tile_bytes;
    const Plan tiles = plan_for(recipe);
    ASSERT_TRUE(in_tiles(tiles.flow));
    EXPECT_LE(relative_error(volume(recipe), whole), bound_of(method));
  }
}

TEST_F(CudaConeReconstruct, TooLittleMemorySaysWhatIsNeeded) {
  for (const std::string method : {"fbp", "cgls"}) {
    Recipe recipe = recipe_for(method, gpu);
    recipe.device_bytes = 1 << 10;
    const char* what = method == "fbp" ? "one slice needs" : "one line of voxels and one view need";
    expect_device_error([&] { plan_for(recipe); }, {what, "the limit is", "--device-memory"});
  }
}

TEST_F(CudaConeReconstruct, WhatNoRayMeetsIsZero) {
  Recipe recipe = recipe_for("cgls", gpu);
  recipe.slices = 101;
  recipe.region_x = recipe.region_y = Range{0, 43}, recipe.region_z = Range{0, 10};
  const std::vector<float> zero = volume(recipe);
  EXPECT_EQ(static_cast<std::size_t>(std::count(zero.begin(), zero.end(), 0.0f)), zero.size());
}

}  // namespace
}  // namespace tandem::test
