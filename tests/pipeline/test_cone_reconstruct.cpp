// Cone beams from file to volume.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/fbp.hpp"
#include "../../operators/vector.hpp"
#include "../../pipeline/beams/placement.hpp"
#include "../support/reconstructions.hpp"
#include "../support/scans.hpp"
#include "../support/temporary_folder.hpp"
#include "../support/tolerances.hpp"

namespace tandem::pipeline {
namespace {

using test::cone_simulation, test::reconstructed, test::regular_angles;

class ConeReconstruct : public ::testing::Test {
 protected:
  ConeReconstruct() { test::write_scan(path_, SimulatedScan(cone_simulation(2e4))); }
  Plan plan(const Recipe& recipe) const { return make_plan(io::open_scan(path_)->info(), recipe); }
  std::vector<float> volume(const Recipe& recipe, Index slices_at_once = 0, Outcome* outcome = nullptr) {
    return reconstructed(path_, recipe, slices_at_once, outcome);
  }

  test::TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "scan.h5";
};

/// The largest difference over the largest value.
double difference(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    largest = std::max(largest, std::abs(static_cast<double>(a[i])));
  }
  return worst / largest;
}

TEST_F(ConeReconstruct, IsFdkOfThePhantomsLineIntegrals) {
  const SimulatedScan exact(cone_simulation());
  test::write_scan(path_, exact);
  const auto& scan = std::get<ConeBeam>(exact.simulation().scan);
  Array y(projection_space(scan));
  project(exact.phantom(), scan, {0, 35}, {y.data(), static_cast<std::size_t>(y.size())});
  const Array x = fdk(scan, fitting_grid(scan)) * y;
  EXPECT_LE(difference({x.data(), x.data() + x.size()}, volume({})), tolerance::region);
}

TEST_F(ConeReconstruct, SlabsMakeNoDifference) {
  const std::vector<float> whole = volume({}, 35);
  for (const Index at_once : {1, 8, 20}) EXPECT_LE(difference(whole, volume({}, at_once)), tolerance::region);
}

TEST_F(ConeReconstruct, SlabsOnSeveralDevicesMakeNoDifference) {
  const std::vector<float> whole = volume({});
  Recipe recipe;
  recipe.devices = {Device::cpu(), Device::cpu(), Device::cpu()};
  EXPECT_EQ(plan(recipe).flow.workers.size(), 3u);
  for (const Index at_once : {0, 5, 20})
    EXPECT_LE(difference(whole, volume(recipe, at_once)), tolerance::region);
}

/// Whatever the blocks of views and the slabs, each pixel counts once.
TEST_F(ConeReconstruct, BlocksOfViewsMakeNoDifference) {
  const auto reader = io::open_scan(path_);
  Recipe recipe;
  recipe.steps["saturation"] = 19000.0;
  Plan asked = make_plan(reader->info(), recipe);
  Outcome outcome;
  const std::vector<float> whole = reconstructed(*reader, asked, &outcome);
  EXPECT_GT(outcome.findings.replaced_by("saturation"), 0);
  for (const Index views : {1, 7, 16, 60})
    for (const Index slices : {3, 35}) {
      std::get<ViewSizes>(asked.flow.sizes).block_views = views, asked.flow.chunk_slices = slices;
      Outcome again;
      EXPECT_LE(difference(whole, reconstructed(*reader, asked, &again)), tolerance::region)
          << views << " views, " << slices << " slices";
      EXPECT_EQ(again.findings.replaced_by("saturation"), outcome.findings.replaced_by("saturation"));
      EXPECT_EQ(again.findings.dead, outcome.findings.dead);
      EXPECT_EQ(again.findings.floor.lowest, outcome.findings.floor.lowest);
      EXPECT_DOUBLE_EQ(again.updates, outcome.updates);
    }
}

/// Steps on sinograms need all views at once: line integrals are then made once, and pass in blocks.
TEST_F(ConeReconstruct, StepsOnAllViewsPassInBlocksToo) {
  const auto reader = io::open_scan(path_);
  Recipe recipe;
  recipe.steps["remove-stripe-method"] = std::string("sf");
  Plan asked = make_plan(reader->info(), recipe);
  ASSERT_TRUE(asked.job.needs_all_views);
  const std::vector<float> whole = reconstructed(*reader, asked);
  EXPECT_GT(difference(whole, volume({})), 1e-4);
  std::get<ViewSizes>(asked.flow.sizes).block_views = 7, asked.flow.chunk_slices = 11;
  EXPECT_LE(difference(whole, reconstructed(*reader, asked)), tolerance::region);
}

TEST_F(ConeReconstruct, TilesOnSeveralDevicesMakeNoDifference) {
  for (const std::string method : {"cgls", "sirt", "os-sirt", "lsmr"}) {
    Recipe recipe;
    recipe.method = method;
    recipe.iterations = 3;
    recipe.initial = method == "cgls" ? Initial::fbp : Initial::zero;
    const std::vector<float> whole = volume(recipe);
    recipe.devices = {Device::cpu(), Device::cpu(), Device::cpu()};
    recipe.device_bytes = 2 << 20;
    ASSERT_TRUE(in_tiles(plan(recipe).flow));
    EXPECT_LE(difference(whole, volume(recipe)), tolerance::region) << method;
    recipe.device_bytes = 1 << 10;
    EXPECT_THROW(plan(recipe), DeviceError);
    recipe.fewest_devices = true;  // a CPU holds it
    EXPECT_FALSE(in_tiles(plan(recipe).flow));
    EXPECT_EQ(plan(recipe).flow.active_devices.size(), 1u);
  }
}

/// The devices and their memory decide where a solver's vectors lie.
TEST_F(ConeReconstruct, VectorsAreSplitOverDevicesThatHoldThem) {
  for (const std::string method : {"cgls", "tv"})
    for (const Initial initial : {Initial::zero, Initial::fbp}) {
      Recipe recipe;
      recipe.method = method, recipe.initial = initial;
      recipe.iterations = 3, recipe.tv_weight = 0.05f;
      EXPECT_EQ(vectors(plan(recipe).flow), "on one device");
      const std::vector<float> whole = volume(recipe);
      recipe.devices = {Device::cpu(), Device::cpu(), Device::cpu()};
      const Plan three = plan(recipe);
      EXPECT_EQ(vectors(three.flow), "split over 3 devices");
      EXPECT_EQ(three.flow.workers.size(), 1u);
      EXPECT_LE(difference(whole, volume(recipe)), tolerance::region) << method;
      recipe.device_bytes = 2 << 20;
      EXPECT_EQ(vectors(plan(recipe).flow), "on the host, in tiles");
      recipe.device_bytes.reset();
      recipe.views = Range{0, 2};  // fewer than devices
      EXPECT_EQ(vectors(plan(recipe).flow), "on the host, in tiles");
    }
}

/// TV's weight is looked for where the vectors lie.
TEST_F(ConeReconstruct, TeamsFindTheWeightOfOneDevice) {
  Recipe recipe;
  recipe.method = "tv", recipe.iterations = 3, recipe.binning = 2;
  const std::vector<float> whole = volume(recipe);
  recipe.devices = {Device::cpu(), Device::cpu()};
  EXPECT_LE(difference(whole, volume(recipe)), tolerance::region);
}

TEST_F(ConeReconstruct, VolumesThatNoRayMeetsNeedNoWeight) {
  Recipe recipe;
  recipe.method = "tv", recipe.binning = 2;
  recipe.slices = 101, recipe.region_z = Range{0, 5};
  for (const std::size_t devices : {1, 2}) {
    recipe.devices = std::vector<Device>(devices, Device::cpu());
    for (const float voxel : volume(recipe)) EXPECT_EQ(voxel, 0);
  }
}

/// Filters that need a wider detector, and voxels that are taller than the row.
TEST_F(ConeReconstruct, TilesOfOneSidedDetectorsAndFansMakeNoDifference) {
  const ThreadLimit two(2);  // more threads do not fit the memory that makes tiles
  for (const bool fan : {false, true})
    for (const double axis : {21.4, 33.1, 8.3}) {
      Simulation s = cone_simulation(1e4);
      auto& scan = std::get<ConeBeam>(s.scan);
      scan.detector.axis_bin = axis;
      if (fan) scan.detector.rows = 1, scan.midplane_row = 0.2, s.grid.size[2] = 1;
      test::write_scan(path_, SimulatedScan(s));
      for (const std::string method : {"fbp", "cgls"}) {
        Recipe recipe;
        recipe.method = method;
        recipe.iterations = 3;
        const std::vector<float> whole = volume(recipe);
        recipe.devices = {Device::cpu(), Device::cpu()};
        recipe.device_bytes = 1 << 20;
        EXPECT_LE(difference(whole, volume(recipe)), tolerance::region)
            << (fan ? "fan, axis " : "cone, axis ") << axis << ", method " << method;
      }
    }
}

/// One row and three slices are no fan, all at once or not.
TEST_F(ConeReconstruct, SlicesOfOneRowAreMadeAtOnce) {
  Recipe recipe;
  recipe.rows = Range{17, 18}, recipe.slices = 3;
  EXPECT_EQ(plan(recipe).flow.chunk_slices, 3);
  recipe.host_bytes = 1;
  EXPECT_THROW(plan(recipe), DeviceError);
}

TEST_F(ConeReconstruct, RegionsAreCutOutOfTheWhole) {
  const std::vector<float> whole = volume({});
  Recipe recipe;
  recipe.region_x = Range{11, 30}, recipe.region_y = Range{20, 41}, recipe.region_z = Range{3, 9};
  EXPECT_LT(plan(recipe).job.rows.size(), 35);
  const std::vector<float> part = volume(recipe);
  std::vector<float> expected;
  for (Index z = 3; z < 9; ++z)
    for (Index y = 20; y < 41; ++y)
      expected.insert(expected.end(), whole.begin() + (z * 43 + y) * 43 + 11,
                      whole.begin() + (z * 43 + y) * 43 + 30);
  EXPECT_LE(difference(expected, part), tolerance::region);
}

TEST_F(ConeReconstruct, SelectedRowsMakeTheSlicesAtTheirHeights) {
  const std::vector<float> whole = volume({});
  Recipe recipe;
  recipe.rows = Range{6, 29};
  const Plan some = plan(recipe);
  EXPECT_EQ(some.job.grid.size[2], 23);
  EXPECT_LT(some.job.rows.first, 6) << "rows that are not selected, but that the slices need";
  EXPECT_GT(some.job.rows.last, 29);
  constexpr Index slice = 43 * 43;
  EXPECT_LE(difference({whole.begin() + 6 * slice, whole.begin() + 29 * slice}, volume(recipe)),
            tolerance::region);
  recipe.model = Model::hierarchical;
  const std::vector<float> part = volume(recipe);
  recipe.rows.reset();
  const std::vector<float> all = volume(recipe);
  EXPECT_LE(difference({all.begin() + 6 * slice, all.begin() + 29 * slice}, part), tolerance::region);
}

/// Rows that were left out because they are broken stay out: beyond them the sample is taken to go on.
TEST_F(ConeReconstruct, SelectedRowsDoWithoutBrokenOnes) {
  test::write_scan(path_, SimulatedScan(cone_simulation()), [](io::Frames& frames) {
    auto* y = reinterpret_cast<float*>(frames.bytes.data());
    for (Index v = 0; v < 60; ++v)
      std::fill_n(y + (v * 35 + 4) * 43, 43, std::numeric_limits<float>::quiet_NaN());
  });
  EXPECT_THROW(volume({}), FileError);
  Recipe recipe;
  recipe.rows = Range{6, 29};
  const std::vector<float> part = volume(recipe);
  test::write_scan(path_, SimulatedScan(cone_simulation()));
  constexpr Index slice = 43 * 43;
  const std::vector<float> good = volume(recipe);
  EXPECT_LE(difference({part.begin() + 5 * slice, part.end()}, {good.begin() + 5 * slice, good.end()}),
            tolerance::region);
  EXPECT_GT(difference(part, good), tolerance::region) << "row 4 had something to tell";
}

TEST_F(ConeReconstruct, NoiseStopsOneProblem) {
  test::write_scan(path_, SimulatedScan(cone_simulation(2000)));
  for (const std::string method : {"cgls", "sirt"}) {
    Recipe recipe;
    recipe.method = method;
    recipe.iterations = 60;
    recipe.stop_by_discrepancy = true;
    recipe.initial = Initial::fbp;
    Outcome outcome;
    volume(recipe, 0, &outcome);
    EXPECT_EQ(outcome.slice_iterations.size(), 1u);
    EXPECT_EQ(outcome.stopped_by, std::vector<std::string>{"discrepancy"});
    EXPECT_GT(outcome.iterations, 0);
    for (std::size_t k = 1; k < outcome.residuals.size(); ++k)
      EXPECT_LE(outcome.residuals[k], outcome.residuals[k - 1]);
  }
}

TEST_F(ConeReconstruct, BinningKeepsTheBodyInPlace) {
  Recipe recipe;
  recipe.binning = 1;
  const Plan coarse = plan(recipe);
  EXPECT_DOUBLE_EQ(coarse.job.grid.pitch[0], 2 * plan({}).job.grid.pitch[0]);
  std::vector<float> truth(static_cast<std::size_t>(17 * 21 * 21));
  voxelise(SimulatedScan(cone_simulation(2e4)).phantom(), coarse.job.grid, {0, 17}, truth);
  const std::vector<float> x = volume(recipe);
  const float range = *std::max_element(truth.begin(), truth.end());
  const Quality quality = compare({x.data() + 4 * 441, 9 * 441}, {truth.data() + 4 * 441, 9 * 441},
                                  {9, 21, 21}, static_cast<double>(range));
  EXPECT_GT(quality.psnr, 20);
}

TEST_F(ConeReconstruct, SlicesThatNoRayMeetsAreZeroAndSaid) {
  Recipe recipe;
  recipe.slices = 101;
  const Plan tall = plan(recipe);
  ASSERT_EQ(tall.warnings.size(), 1u);
  EXPECT_NE(tall.warnings[0].find("no ray meets slices 0:"), std::string::npos) << tall.warnings[0];
  const std::vector<float> x = volume(recipe);
  EXPECT_EQ(std::count(x.begin(), x.begin() + 20 * 43 * 43, 0.0f), 20 * 43 * 43);
  EXPECT_GT(*std::max_element(x.begin(), x.end()), 0);

  recipe.region_x = recipe.region_y = Range{0, 43};
  recipe.region_z = Range{0, 10};
  const auto reader = io::open_scan(path_);
  for (const std::string method : {"fbp", "cgls"}) {
    recipe.method = method;
    const Plan none = make_plan(reader->info(), recipe);
    ASSERT_EQ(none.warnings.size(), 1u);
    EXPECT_NE(none.warnings[0].find("no ray meets the volume"), std::string::npos) << none.warnings[0];
    const std::vector<float> zero = reconstructed(*reader, none);
    EXPECT_EQ(static_cast<std::size_t>(std::count(zero.begin(), zero.end(), 0.0f)), zero.size());
  }
}

TEST_F(ConeReconstruct, PlanRefusesASourceInTheGridAndWhatIsNotThere) {
  Recipe recipe;
  recipe.size = 300;
  EXPECT_THROW(plan(recipe), GeometryError);
  recipe = {};
  recipe.execution.variant = "texture";
  EXPECT_THROW(plan(recipe), DeviceError);
  recipe = {};
  recipe.method = "cgls";
  recipe.host_bytes = 1;
  EXPECT_THROW(plan(recipe), DeviceError);
}

TEST_F(ConeReconstruct, PlanNamesTheArcThatIsMissing) {
  EXPECT_TRUE(plan({}).warnings.empty());
  Recipe recipe;
  recipe.views = Range{0, 30};  // steps of 6 degrees: half a turn
  const double fan = std::atan(21.4 * 0.5 / 90) * 180 / std::numbers::pi;
  const Plan arc = plan(recipe);
  ASSERT_EQ(arc.warnings.size(), 1u);
  const std::size_t number = arc.warnings[0].find("leave ") + 6;
  EXPECT_NEAR(std::stod(arc.warnings[0].substr(number)), 2 * fan, 0.01) << arc.warnings[0];
}

/// A disc of attenuation mu reads mu (docs/conventions.md).
TEST(FanReconstruct, DiscReadsItsAttenuation) {
  constexpr Index n = 128;
  const test::TemporaryFolder folder;
  Simulation s;
  s.phantom = "disc";
  s.scan = ConeBeam{{150, 1, 0.3, 0.3, 73.1}, regular_angles(240, whole_turn), 80, 130, 0};
  s.grid = fitting_grid(s.scan);
  s.grid.size[0] = s.grid.size[1] = n;
  const SimulatedScan simulated(s);
  test::write_scan(folder / "scan.h5", simulated);
  const double half = half_width(s.grid), mu = simulated.phantom().ellipsoids[0].attenuation;
  for (const auto& [method, iterations] : {std::pair{"fbp", 0}, {"cgls", 12}}) {
    Recipe recipe;
    recipe.method = method;
    recipe.iterations = iterations;
    recipe.size = n;
    const std::vector<float> x = reconstructed(folder / "scan.h5", recipe);
    double sum = 0;
    int count = 0;
    for (Index iy = 0; iy < n; ++iy)
      for (Index ix = 0; ix < n; ++ix) {
        const double dx = s.grid.x(static_cast<double>(ix)) - 0.2 * half,
                     dy = s.grid.y(static_cast<double>(iy)) - 0.1 * half;
        if (std::hypot(dx, dy) > 0.4 * half) continue;
        sum += static_cast<double>(x[static_cast<std::size_t>(iy * n + ix)]);
        ++count;
      }
    EXPECT_GT(count, 2000);
    EXPECT_NEAR(sum / count / mu, 1, tolerance::fbp_patch);
  }
}

}  // namespace
}  // namespace tandem::pipeline
