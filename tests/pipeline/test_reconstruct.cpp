#include "../../pipeline/reconstruct.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numbers>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../core/units.hpp"
#include "../../counts/steps/options.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"
#include "../support/tolerances.hpp"

namespace tandem::pipeline {
namespace {

namespace fs = std::filesystem;

using test::small::bins, test::small::rows, test::reconstructed, test::same_bits, test::small_simulation,
    test::write_scan;

class ReconstructTest : public ::testing::Test {
 protected:
  void SetUp() override { write_scan(folder_.path() / "scan.h5", SimulatedScan(small_simulation(1e4))); }

  std::vector<float> volume(const Recipe& recipe, Index rows_at_once = 0, Outcome* outcome = nullptr) {
    return reconstructed(folder_.path() / "scan.h5", recipe, rows_at_once, outcome);
  }

  test::TemporaryFolder folder_;
};

/// A scan that says that it is packed, and how often its projections were read.
class PackedScan final : public io::ScanReader {
 public:
  explicit PackedScan(io::ScanReader& scan) : scan_(scan) {
    info_ = scan.info();
    info_.decoded_bytes = 1 << 20;
  }
  void read(io::FrameKind kind, Range frames, Range of_rows, Range of_bins, io::Frames& into) override {
    reads_ += kind == io::FrameKind::projection;
    scan_.read(kind, frames, of_rows, of_bins, into);
  }
  int reads() const { return reads_; }

 private:
  io::ScanReader& scan_;
  int reads_ = 0;
};

Recipe recipe_for(const std::string& method) {
  Recipe recipe;
  recipe.method = method;
  recipe.iterations = 12;
  recipe.stop_by_discrepancy = method != "fbp";
  return recipe;
}

TEST_F(ReconstructTest, BitsDoNotDependOnChunksOrThreads) {
  for (const std::string method : {"fbp", "cgls", "sirt", "os-sirt", "sart", "lsqr", "lsmr", "ba-gmres"}) {
    const Recipe recipe = recipe_for(method);
    const std::vector<float> whole = volume(recipe, rows);
    for (Index at_once : {1, 2, 4, 7}) EXPECT_TRUE(same_bits(whole, volume(recipe, at_once))) << at_once;
    const ThreadLimit one(1);
    EXPECT_TRUE(same_bits(whole, volume(recipe, 3)));
  }
}

TEST_F(ReconstructTest, NothingDependsOnTheNumberOfWorkers) {
  for (const std::string method : {"fbp", "cgls"}) {
    Recipe recipe = recipe_for(method);
    Outcome one, several;
    const std::vector<float> alone = volume(recipe, 2, &one);
    recipe.devices = {Device::cpu(), Device::cpu(), Device::cpu()};
    EXPECT_TRUE(same_bits(alone, volume(recipe, 2, &several))) << method;
    EXPECT_EQ(several.slice_iterations, one.slice_iterations);
    EXPECT_EQ(several.stopped_by, one.stopped_by);
    EXPECT_EQ(several.residuals, one.residuals);
    EXPECT_EQ(several.updates, one.updates);
    EXPECT_EQ(several.warnings, one.warnings);
    EXPECT_EQ(several.findings.replaced_by("minus-log"), one.findings.replaced_by("minus-log"));
  }
}

TEST_F(ReconstructTest, AScanInMemoryGivesTheVolumeOfItsFile) {
  const auto file = io::open_scan(folder_.path() / "scan.h5");
  io::MemoryScan scan(*file);
  Recipe recipe = recipe_for("fbp");
  recipe.views = Range{3, 40}, recipe.bins = Range{2, 57}, recipe.rows = Range{1, rows - 1};
  for (const int binning : {0, 1}) {
    recipe.binning = binning;
    Plan plan = make_plan(file->info(), recipe);
    plan.flow.chunk_slices = 2;
    EXPECT_TRUE(same_bits(reconstructed(scan, plan), reconstructed(*file, plan))) << binning;
  }
}

TEST_F(ReconstructTest, APackedScanIsReadInAsFewPartsAsMemoryAllows) {
  const auto file = io::open_scan(folder_.path() / "scan.h5");
  Recipe recipe = recipe_for("fbp");
  recipe.size = 8;  // so that most of the memory is that of counts
  const auto parts_of = [&](Index slices_a_read, int& reads) {
    PackedScan scan(*file);
    Plan plan = make_plan(scan.info(), recipe);
    plan.flow.chunk_slices = 2, std::get<SliceSizes>(plan.flow.sizes).part_slices = slices_a_read;
    std::vector<float> voxels = reconstructed(scan, plan);
    reads = scan.reads();
    return voxels;
  };
  int alone = 0, pairs = 0, once = 0;
  const std::vector<float> expected = parts_of(0, alone);
  EXPECT_TRUE(same_bits(parts_of(4, pairs), expected));
  EXPECT_TRUE(same_bits(parts_of(rows, once), expected));
  EXPECT_EQ(alone, (rows + 1) / 2);
  EXPECT_EQ(pairs, (rows + 3) / 4);
  EXPECT_EQ(once, 1);
}

TEST_F(ReconstructTest, ProgressGrowsToAllSlicesWithSeveralWorkers) {
  const auto reader = io::open_scan(folder_.path() / "scan.h5");
  Recipe recipe = recipe_for("sirt");
  recipe.devices = {Device::cpu(), Device::cpu()};
  Plan plan = make_plan(reader->info(), recipe);
  plan.flow.chunk_slices = 2;
  test::MemoryWriter writer(plan.job.grid.shape());
  double most = 0;
  std::vector<std::string> stages;
  Options options;
  options.progress = [&](const Stage& now) {
    if (now.name == "iterate") {
      EXPECT_GE(now.done, most - 1e-9);  // sums of shares
      most = now.done;
    }
    EXPECT_LE(now.done, now.total);
    EXPECT_EQ(now.total, static_cast<double>(rows));
    if (stages.empty() || stages.back() != now.name) stages.push_back(now.name);
  };
  reconstruct(*reader, plan, writer, options);
  EXPECT_GT(most, 0.8 * static_cast<double>(rows));
  EXPECT_EQ(stages.front(), "read");
  EXPECT_EQ(stages.back(), "write");
}

TEST_F(ReconstructTest, BitsDoNotDependOnTheOtherRows) {
  for (const std::string method : {"fbp", "cgls"}) {
    const std::vector<float> whole = volume(recipe_for(method));
    for (Index row : {Index{0}, Index{5}, rows - 1}) {
      Recipe one = recipe_for(method);
      one.rows = Range{row, row + 1};
      const std::vector<float> slice = volume(one);
      EXPECT_EQ(std::memcmp(slice.data(), whole.data() + row * bins * bins, slice.size() * sizeof(float)), 0)
          << row;
    }
  }
}

TEST_F(ReconstructTest, RegionsAreCutOutOfTheWhole) {
  const std::vector<float> whole = volume({});
  Recipe recipe;
  recipe.region_x = Range{16, 48}, recipe.region_y = Range{32, 61}, recipe.region_z = Range{3, 5};
  const std::vector<float> part = volume(recipe);
  double worst = 0;
  for (Index z = 0; z < 2; ++z)
    for (Index y = 0; y < 29; ++y)
      for (Index x = 0; x < 32; ++x)
        worst = std::max(worst, std::abs(static_cast<double>(part[(z * 29 + y) * 32 + x]) -
                                         whole[((z + 3) * bins + y + 32) * bins + x + 16]));
  const double largest = *std::max_element(whole.begin(), whole.end());
  EXPECT_LE(worst, tolerance::region * largest);
}

/// There are so few photons that the noise, not the size of pixels, is what the model cannot explain.
TEST_F(ReconstructTest, DiscrepancyStopsEverySliceByItself) {
  Simulation noisy = small_simulation(200);
  noisy.max_attenuation = 2;
  detector_of(noisy.scan).row_pitch = 5.5;  // from the middle of the ball to its ends
  write_scan(folder_.path() / "scan.h5", SimulatedScan(noisy));
  Outcome outcome;
  Recipe recipe = recipe_for("cgls");
  recipe.iterations = 40;
  volume(recipe, 0, &outcome);
  ASSERT_EQ(outcome.slice_iterations.size(), static_cast<std::size_t>(rows));
  for (const std::string& rule : outcome.stopped_by) EXPECT_EQ(rule, "discrepancy");
  const auto [fewest, most] =
      std::minmax_element(outcome.slice_iterations.begin(), outcome.slice_iterations.end());
  EXPECT_LT(*fewest, *most);
  EXPECT_EQ(outcome.iterations, *most);
}

/// The noise claimed sixteen times too small, in variance: the residual never comes down to it.
TEST_F(ReconstructTest, StagnationStopsWhereTheNoiseIsClaimedTooSmall) {
  Outcome outcome;
  Recipe recipe = recipe_for("cgls");
  recipe.iterations = 40;
  recipe.gain = 1.0 / 16;
  volume(recipe, 4, &outcome);
  ASSERT_EQ(outcome.stopped_by.size(), static_cast<std::size_t>(rows));
  for (const std::string& rule : outcome.stopped_by) EXPECT_EQ(rule, "stagnation");
  EXPECT_LT(outcome.iterations, 12);
}

TEST_F(ReconstructTest, RefusesANoiseAboveEverySlicesData) {
  Recipe recipe = recipe_for("cgls");
  recipe.gain = 1e6;
  for (const Index at_once : {Index{3}, rows}) {
    try {
      volume(recipe, at_once);
      FAIL() << "zero iterations are no reconstruction";
    } catch (const GeometryError& e) {
      EXPECT_NE(std::string(e.what()).find("within the noise"), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("discrepancy:gain="), std::string::npos) << e.what();
    }
  }
}

TEST_F(ReconstructTest, WarnsOfSlicesWithinTheNoise) {
  Simulation tall = small_simulation(300);
  tall.max_attenuation = 1;
  detector_of(tall.scan).row_pitch = 8;  // the outer rows see air alone
  write_scan(folder_.path() / "scan.h5", SimulatedScan(tall));
  Recipe recipe = recipe_for("cgls");
  recipe.gain = 1.2;  // so that chance decides nothing
  Outcome outcome;
  const std::vector<float> x = volume(recipe, 4, &outcome);
  const auto still = std::count(outcome.slice_iterations.begin(), outcome.slice_iterations.end(), 0);
  ASSERT_GT(still, 0);
  ASSERT_LT(still, rows);
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_EQ(outcome.warnings[0].find(std::to_string(still) + " of 11 slices are within the noise"), 0u)
      << outcome.warnings[0];
}

TEST_F(ReconstructTest, RefusesMoreFlooredTransmissionsThanAllowed) {
  Simulation dense = small_simulation(300);
  dense.max_attenuation = 8;  // a tenth of a photon
  write_scan(folder_.path() / "scan.h5", SimulatedScan(dense));
  for (const Index at_once : {Index{1}, rows}) EXPECT_THROW(volume({}, at_once), FileError);
  Recipe recipe;
  option::most_floored.set(recipe.steps, 60);
  Outcome outcome;
  volume(recipe, 3, &outcome);
  const Index floored = outcome.findings.replaced_by("minus-log");
  const double share = static_cast<double>(floored) / (test::small::views * rows * bins);
  EXPECT_GT(share, 0.01);
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_EQ(outcome.warnings[0].find("projections: " + std::to_string(floored)), 0u);
  option::most_floored.set(recipe.steps, 99 * share);
  EXPECT_THROW(volume(recipe), FileError);
  option::most_floored.set(recipe.steps, 101 * share);
  EXPECT_NO_THROW(volume(recipe));
}

/// A voxel of 1e-40 mm has an attenuation beyond what a float holds.
TEST_F(ReconstructTest, RefusesVoxelsThatAreNotFinite) {
  const auto reader = io::open_scan(folder_.path() / "scan.h5", {.pixel_size_mm = 1e-40});
  const Plan plan = make_plan(reader->info(), {});
  EXPECT_THROW(reconstructed(*reader, plan), GeometryError);
}

/// One row of four, binned along its bins alone, reads the same attenuation in voxels twice as wide.
TEST_F(ReconstructTest, OneRowIsBinnedAlongItsBins) {
  Simulation disc = small_simulation({});
  disc.phantom = "disc";
  detector_of(disc.scan).bins = 64, detector_of(disc.scan).axis_bin = 31.5;
  write_scan(folder_.path() / "scan.h5", SimulatedScan(disc));
  Recipe recipe;
  recipe.rows = Range{3, 4};
  const auto middle = [](const std::vector<float>& slice, Index n) { return slice[(n / 2) * n + n / 2]; };
  const std::vector<float> whole = volume(recipe);
  recipe.binning = 1;
  const std::vector<float> binned = volume(recipe);
  ASSERT_EQ(binned.size(), 32u * 32u);
  EXPECT_NEAR(middle(binned, 32), 2 * middle(whole, 64), 0.02 * 2 * middle(whole, 64));
}

TEST_F(ReconstructTest, InitialVolumeIsTheStart) {
  const auto reader = io::open_scan(folder_.path() / "scan.h5");
  const fs::path path = folder_.path() / "start.h5";
  std::vector<float> start(static_cast<std::size_t>(rows * bins * bins));
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = static_cast<float>(i % 17);
  const auto writer = io::create_volume(path, {rows, bins, bins}, {}, "{}");
  writer->write({0, rows}, start.data());
  writer->finish("{}");
  Recipe recipe = recipe_for("cgls");
  recipe.iterations = 0;
  recipe.initial = Initial::file;
  recipe.initial_file = path;
  EXPECT_TRUE(same_bits(volume(recipe, 4), start));
  recipe.region_x = Range{0, 3}, recipe.region_y = Range{0, 3}, recipe.region_z = Range{0, 1};
  EXPECT_THROW(volume(recipe), FileError);
}

TEST_F(ReconstructTest, ProgressCanCancel) {
  const auto reader = io::open_scan(folder_.path() / "scan.h5");
  const Plan plan = make_plan(reader->info(), {});
  const fs::path path = folder_.path() / "volume.h5";
  {
    const auto writer = io::create_volume(path, plan.job.grid.shape(), {}, "{}");
    Options options{[](const Stage&) { throw std::runtime_error("stop"); }, {}, false};
    EXPECT_THROW(reconstruct(*reader, plan, *writer, options), std::runtime_error);
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(ReconstructTest, RefusesFlatsThatAreNotAboveTheirDarks) {
  Simulation s = small_simulation({});
  const SimulatedScan scan(s);
  io::ScanWriter writer({folder_.path() / "scan.h5", io::Content::scan}, s.scan, {}, scan.type(), 1, 1);
  writer.write(io::FrameKind::projection, {0, rows}, scan.frames(io::FrameKind::projection, {0, rows}));
  io::Frames flat = scan.frames(io::FrameKind::dark, {0, rows});
  flat.shape[0] = 1;
  flat.bytes.assign(static_cast<std::size_t>(rows * bins) * sizeof(float), std::byte{0});
  writer.write(io::FrameKind::flat, {0, rows}, flat);
  writer.write(io::FrameKind::dark, {0, rows}, flat);
  writer.finish("{}");
  for (Index at_once : {Index{1}, rows}) EXPECT_THROW(volume({}, at_once), FileError);
}

TEST(Plan, ChunksFitTheMemory) {
  io::ScanInfo info;
  detector_of(info.scan) = {2048, 2048, 1, 1, 1023.5};
  angles_of(info.scan).assign(2048, 0.0);
  for (std::size_t v = 0; v < 2048; ++v)
    angles_of(info.scan)[v] = std::numbers::pi * static_cast<double>(v) / 2048;
  Recipe recipe;
  for (double gib : {1.0, 4.0, 64.0}) {
    recipe.host_bytes = static_cast<std::size_t>(gib * bytes_per_gib);
    const Plan plan = make_plan(info, recipe);
    EXPECT_LE(plan.flow.memory.host, recipe.host_bytes);
    EXPECT_GE(plan.flow.chunk_slices, 1);
    EXPECT_EQ(std::get<SliceSizes>(plan.flow.sizes).part_slices, 0);
  }
  io::ScanInfo packed = info;
  packed.decoded_bytes = 1 << 20;
  for (double gib : {1.0, 12.0, 64.0}) {
    recipe.host_bytes = static_cast<std::size_t>(gib * bytes_per_gib);
    const Plan plan = make_plan(packed, recipe);
    EXPECT_LE(plan.flow.memory.host, recipe.host_bytes);
    const Index part = std::get<SliceSizes>(plan.flow.sizes).part_slices;
    EXPECT_TRUE(gib < 12 || (part > plan.flow.chunk_slices && part % plan.flow.chunk_slices == 0)) << part;
    EXPECT_TRUE(gib < 64 || part == 2048) << part;  // 16 GiB of counts
  }
  recipe.host_bytes = 1 << 26;
  try {
    make_plan(info, recipe);
    FAIL() << "64 MiB cannot be enough";
  } catch (const DeviceError& e) {
    EXPECT_NE(std::string(e.what()).find("--memory"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("GiB"), std::string::npos) << e.what();
  }
}

TEST(Plan, ResolvesTheExecutionOrRefusesIt) {
  io::ScanInfo info;
  detector_of(info.scan) = {100, 2, 1, 1, 49.5};
  angles_of(info.scan) = {0, 1, 2};
  const Plan plan = make_plan(info, {});
  EXPECT_EQ(plan.flow.execution(), (Execution{"standard", Precision::float32}));
  EXPECT_EQ(plan.flow.memory.device, 0u);
  Recipe recipe;
  recipe.execution.variant = "texture";
  EXPECT_THROW(make_plan(info, recipe), DeviceError);
  recipe = {};
  recipe.devices = {Device::cuda(1000)};
  EXPECT_THROW(make_plan(info, recipe), DeviceError);
}

TEST(Plan, AxisComesFromUserThenFileThenMiddle) {
  io::ScanInfo info;
  detector_of(info.scan) = {100, 2, 1, 1, 49.5};
  angles_of(info.scan) = {0, 1, 2};
  Plan plan = make_plan(info, {});
  EXPECT_EQ(plan.job.axis_in_file, 49.5);
  EXPECT_FALSE(plan.warnings.empty());
  info.axis_bin = 42;
  EXPECT_EQ(make_plan(info, {}).job.axis_in_file, 42);
  Recipe recipe;
  recipe.axis_bin = 60;
  recipe.bins = Range{10, 90};
  recipe.binning = 1;
  plan = make_plan(info, Recipe{recipe});
  EXPECT_EQ(detector_of(plan.job.scan).axis_bin, (50 + 0.5) / 2 - 0.5);
  recipe.axis_bin = 500;
  EXPECT_THROW(make_plan(info, recipe), GeometryError);
}

TEST(Plan, WarnsOfAMissingArc) {
  io::ScanInfo info;
  detector_of(info.scan) = {100, 1, 1, 1, 49.5};
  info.axis_bin = 49.5;
  for (int v = 0; v < 120; ++v) angles_of(info.scan).push_back(v * std::numbers::pi / 360);
  const Plan plan = make_plan(info, {});
  ASSERT_EQ(plan.warnings.size(), 1u);
  EXPECT_NE(plan.warnings[0].find("120 degrees"), std::string::npos) << plan.warnings[0];
}

}  // namespace
}  // namespace tandem::pipeline
