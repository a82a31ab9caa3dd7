// What a plan chooses by itself: the model of FDK on a CPU, and the CPU for what no GPU has.

#include <gtest/gtest.h>

#include <algorithm>

#include "../../core/error.hpp"
#include "../../geometry/free_views.hpp"
#include "../../operators/hierarchical.hpp"
#include "../../pipeline/methods/method.hpp"
#include "../../pipeline/plan/gpu_gaps.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"

namespace tandem::pipeline {
namespace {

using test::regular_angles;

/// A scan of n views of n x n cells, as large as the voxels. Nobody reads it: only its size counts.
io::ScanInfo large_cone(Index n, Index rows) {
  const test::TemporaryFolder folder;
  test::write_scan(folder / "scan.h5", SimulatedScan(test::cone_simulation()));
  io::ScanInfo info = io::open_scan(folder / "scan.h5")->info();
  const double size = static_cast<double>(n);
  info.scan = ConeBeam{{n, rows, 1, 1, 0.5 * (size - 1)},
                       regular_angles(n, whole_turn),
                       3 * size,
                       4 * size,
                       0.5 * static_cast<double>(rows - 1)};
  return info;
}

Recipe recipe_of(Window window) {
  Recipe recipe;
  recipe.fbp_filter.window = window;
  recipe.host_bytes = std::size_t{64} << 30;
  return recipe;
}

TEST(ChosenModel, IsHierarchicalWhereItIsFasterAndAsGood) {
  const io::ScanInfo info = large_cone(256, 256);
  const Plan plan = make_plan(info, recipe_of(Window::hann));
  EXPECT_EQ(plan.flow.pair.model, Model::hierarchical);
  EXPECT_NE(plan.flow.pair.reason.find("--model separable_footprint"), std::string::npos);
  EXPECT_EQ(route_of(plan.flow).name, "slabs");
  const auto model = [&](const io::ScanInfo& scan, const Recipe& recipe) {
    const Plan other = make_plan(scan, recipe);
    EXPECT_EQ(other.flow.pair.reason, "");
    return other.flow.pair.model;
  };
  constexpr Model footprints = Model::separable_footprint;
  EXPECT_EQ(model(large_cone(40, 40), recipe_of(Window::hann)), footprints);  // slower
  EXPECT_EQ(model(info, recipe_of(Window::sharp)), footprints);               // aliases
  Recipe recipe = recipe_of(Window::hann);
  recipe.method = "cgls";
  EXPECT_EQ(model(info, recipe), footprints);
  recipe = recipe_of(Window::hann), recipe.model = footprints;
  EXPECT_EQ(model(info, recipe), footprints);
  recipe.model.reset(), recipe.region_z = Range{100, 140};  // slices of a whole volume are as these are
  EXPECT_EQ(model(info, recipe), footprints);
  recipe = recipe_of(Window::hann), recipe.devices = {Device::cpu(), Device::cpu()};
  EXPECT_EQ(model(info, recipe), footprints);
}

/// With less memory it works in slabs, whose rows overlap; not where most rows would be done twice.
TEST(ChosenModel, IsTheUsualOneWhereMemoryIsTooSmall) {
  Recipe recipe = recipe_of(Window::hann);
  const io::ScanInfo info = large_cone(256, 256);
  const std::size_t needed = make_plan(info, recipe).flow.memory.host;
  recipe.host_bytes = needed - (std::size_t{16} << 20);
  const Plan slabs = make_plan(info, recipe);
  EXPECT_EQ(slabs.flow.pair.model, Model::hierarchical);
  EXPECT_LT(slabs.flow.chunk_slices, 256);
  EXPECT_LE(slabs.flow.memory.host, recipe.host_bytes);
  recipe.host_bytes = needed / 3;
  const Plan plan = make_plan(info, recipe);
  EXPECT_EQ(plan.flow.pair.model, Model::separable_footprint);
  EXPECT_TRUE(std::ranges::any_of(plan.warnings, [](const std::string& line) {
    return line.find("memory is too small for the hierarchical model") != std::string::npos;
  }));
  recipe.model = Model::hierarchical, recipe.host_bytes = needed / 2;
  EXPECT_LE(make_plan(info, recipe).flow.memory.host, recipe.host_bytes);
  recipe.host_bytes = needed / 100;
  EXPECT_THROW(make_plan(info, recipe), DeviceError);
}

/// Near the source, where planes would be too few, nothing is refused that nobody asked for.
TEST(ChosenModel, IsTheUsualOneWhereTheOtherOneDoesNotHold) {
  io::ScanInfo info = large_cone(256, 256);
  auto& cone = std::get<ConeBeam>(info.scan);
  cone.sod = 260, cone.sdd = 280;  // corners are 0.64 of that from the axis
  EXPECT_EQ(make_plan(info, recipe_of(Window::hann)).flow.pair.model, Model::separable_footprint);
}

Job job_of(const Scan& scan, const char* method) {
  Job job;
  job.scan = scan, job.method = &method_named(method);
  return job;
}

TEST(LackingOnGpus, AreProjectorsOfCurvedDetectorsAndFinerTaps) {
  const ConeBeam cone{{43, 20, 0.5, 0.5, 21.4}, regular_angles(50, whole_turn), 40, 60, 9.5};
  OffCircle off;
  off.curved = true;
  const Scan curved = as_free_views(cone, off);
  Recipe recipe;
  EXPECT_NE(lacking_on_gpus(job_of(curved, "cgls"), recipe), "");
  EXPECT_EQ(lacking_on_gpus(job_of(curved, "fbp"), recipe), "");
  EXPECT_EQ(lacking_on_gpus(job_of(as_free_views(cone), "cgls"), recipe), "");
  EXPECT_EQ(lacking_on_gpus(job_of(cone, "cgls"), recipe), "");
  recipe.model = Model::hierarchical;
  EXPECT_EQ(lacking_on_gpus(job_of(cone, "fbp"), recipe), "");
  recipe.execution.accuracy = 1e-3;
  EXPECT_NE(lacking_on_gpus(job_of(cone, "fbp"), recipe), "");
  recipe.model = Model::fourier;
  EXPECT_EQ(lacking_on_gpus(job_of(ParallelBeam{}, "fbp"), recipe), "");
}

/// No GPU is needed for this: the plan has none.
TEST(ChosenDevices, AreTheCpuForWhatNoGpuHas) {
  const test::TemporaryFolder folder;
  Simulation s = test::views_simulation();
  std::get<FlexibleBeam>(s.scan) = as_free_views(test::cone_simulation().scan, {.curved = true});
  test::write_scan(folder / "scan.h5", SimulatedScan(s));
  const auto reader = io::open_scan(folder / "scan.h5");
  Recipe recipe;
  recipe.method = "cgls", recipe.iterations = 2;
  recipe.devices = {Device::cuda(0), Device::cuda(1)};
  recipe.devices_are_open = true;
  const Plan plan = make_plan(reader->info(), recipe);
  EXPECT_EQ(plan.flow.active_devices, std::vector{Device::cpu()});
  EXPECT_EQ(plan.flow.home(), Device::cpu());
  EXPECT_EQ(plan.warnings.front(), "GPUs have no projector for a curved detector; the CPU computes");
  recipe.devices_are_open = false;
  EXPECT_THROW(make_plan(reader->info(), recipe), DeviceError);
}

}  // namespace
}  // namespace tandem::pipeline
