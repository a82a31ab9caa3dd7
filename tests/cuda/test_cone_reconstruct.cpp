// Cone and fan beams from file to volume on a GPU, against the CPU. Skipped where no GPU is.

#include "../../core/error.hpp"
#include "../../pipeline/beams/placement.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"
#include "../support/tolerances.hpp"
#include "cuda_fixture.hpp"

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

class CudaConeReconstruct : public Cuda {
 protected:
  void SetUp() override {
    Cuda::SetUp();
    if (!IsSkipped()) write_scan(scan_, pipeline::SimulatedScan(cone_simulation(1e4)));
  }
  Recipe recipe_for(const std::string& method, Device device) const {
    Recipe recipe;
    recipe.method = method;
    recipe.iterations = 4;
    recipe.devices = {device};
    return recipe;
  }
  Plan plan_for(const Recipe& recipe) const { return make_plan(io::open_scan(scan_)->info(), recipe); }
  std::vector<float> volume(const Recipe& recipe, Index slices_at_once = 0) const {
    return reconstructed(scan_, recipe, slices_at_once);
  }
  static constexpr std::size_t tile_bytes = 3 << 20;  // too few for all of FDK's data, let alone a solver's
  static double bound_of(const std::string& method) {
    return (method == "fbp" ? 1 : tolerance::cgls_magnifies) * tolerance::fbp_devices;
  }

  const TemporaryFolder folder_;
  const std::filesystem::path scan_ = folder_ / "scan.h5";
};

TEST_F(CudaConeReconstruct, VolumesAgreeWithTheCpu) {
  for (const ScanCase& one : scan_cases()) {
    write_scan(scan_, pipeline::SimulatedScan(one.simulation));
    for (const std::string method : {"fbp", "cgls", "sirt"})
      EXPECT_LE(relative_error(volume(recipe_for(method, gpu)), volume(recipe_for(method, cpu))),
                bound_of(method))
          << one.name << ", method " << method;
  }
}

TEST_F(CudaConeReconstruct, BitsDoNotDependOnPiecesOfCounts) {
  for (const std::vector<Device>& devices : {std::vector{gpu}, std::vector{gpu, gpu, gpu}}) {
    Recipe recipe = recipe_for("cgls", gpu);
    recipe.devices = devices;
    Plan plan = plan_for(recipe);
    const std::vector<float> whole = reconstructed(*io::open_scan(scan_), plan);
    for (const Index bytes : {1, 10'000}) {
      std::get<pipeline::WholeSizes>(plan.flow.sizes).piece_bytes = bytes;
      EXPECT_TRUE(same_bits(reconstructed(*io::open_scan(scan_), plan), whole)) << bytes;
    }
  }
}

TEST_F(CudaConeReconstruct, StartsFromFdkLikeTheCpu) {
  const auto from_fdk = [&](Device device) {
    Recipe recipe = recipe_for("cgls", device);
    recipe.initial = Initial::fbp;
    return volume(recipe);
  };
  EXPECT_LE(relative_error(from_fdk(gpu), from_fdk(cpu)), bound_of("cgls"));
}

TEST_F(CudaConeReconstruct, NoiseStopsTheOneProblemAsOnTheCpu) {
  const auto outcome_on = [&](Device device) {
    Recipe recipe = recipe_for("cgls", device);
    recipe.iterations = 40;
    recipe.stop_by_discrepancy = true;
    pipeline::Outcome outcome;
    reconstructed(scan_, recipe, 0, &outcome);
    return outcome;
  };
  const pipeline::Outcome here = outcome_on(cpu), there = outcome_on(gpu);
  EXPECT_EQ(there.stopped_by, here.stopped_by);
  EXPECT_EQ(there.slice_iterations, here.slice_iterations);
  EXPECT_LT(there.iterations, 40);
}

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
  EXPECT_LE(relative_error(made(gpu), made(cpu)), bound_of("fbp"));
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
    try {
      plan_for(recipe);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const DeviceError& e) {
      const std::string what = method == "fbp" ? "one slice needs" : "one line of voxels and one view need";
      for (const std::string& word : {what, std::string("the limit is"), std::string("--device-memory")})
        EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << word << " is not in " << e.what();
    }
  }
}

TEST_F(CudaConeReconstruct, WhatNoRayMeetsIsZero) {
  Recipe recipe = recipe_for("cgls", gpu);
  recipe.slices = 101;
  recipe.region_x = recipe.region_y = Range{0, 43}, recipe.region_z = Range{0, 10};
  const std::vector<float> zero = reconstructed(scan_, recipe);
  EXPECT_EQ(static_cast<std::size_t>(std::count(zero.begin(), zero.end(), 0.0f)), zero.size());
}

}  // namespace
}  // namespace tandem::test
