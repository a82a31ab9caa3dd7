// A part of the sample that a solver is asked for is that part of the whole, because it solves on all that
// the rays see.

#include <gtest/gtest.h>

#include <cmath>

#include "../../io/volumes/volume_file.hpp"
#include "../../pipeline/methods/method.hpp"
#include "../../pipeline/plan/grids.hpp"
#include "../../pipeline/plan/route.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"
#include "../support/tolerances.hpp"

namespace tandem::pipeline {
namespace {

using test::reconstructed, test::same_bits;

class PartsForSolvers : public ::testing::Test {
 protected:
  void SetUp() override {
    test::write_scan(parallel_, SimulatedScan(test::small_simulation(1e4)));
    test::write_scan(cone_, SimulatedScan(test::cone_simulation()));
  }

  static Recipe asked(std::string_view method) {
    Recipe recipe;
    recipe.method = method;
    recipe.iterations = 3;
    if (method == "tv") recipe.tv_weight = 0.1f;
    return recipe;
  }

  static Plan plan_of(const std::filesystem::path& scan, const Recipe& recipe) {
    return make_plan(io::open_scan(scan)->info(), recipe);
  }

  /// The voxels x, y, z of a volume.
  static std::vector<float> part_of(const std::vector<float>& whole, const Plan& plan, Range x, Range y,
                                    Range z) {
    std::vector<float> part;
    for (Index k = z.first; k < z.last; ++k)
      for (Index j = y.first; j < y.last; ++j) {
        const auto line = whole.begin() + (k * plan.job.grid.size[1] + j) * plan.job.grid.size[0];
        part.insert(part.end(), line + x.first, line + x.last);
      }
    return part;
  }

  test::TemporaryFolder folder_;
  const std::filesystem::path parallel_ = folder_.path() / "parallel.h5", cone_ = folder_.path() / "cone.h5";
};

TEST_F(PartsForSolvers, HaveTheBitsOfTheWhole) {
  const Range x{7, 20}, y{11, 30}, z{2, 4};
  for (const Method& method : methods()) {
    if (!method.iterates()) continue;
    for (const auto& scan : {parallel_, cone_}) {
      Recipe recipe = asked(method.name);
      const Plan plan = plan_of(scan, recipe);
      const auto whole = reconstructed(scan, recipe);
      recipe.region_x = x, recipe.region_y = y, recipe.region_z = z;
      EXPECT_TRUE(same_bits(reconstructed(scan, recipe), part_of(whole, plan, x, y, z)))
          << method.name << ' ' << scan;
    }
  }
}

TEST_F(PartsForSolvers, AroundTheMiddleTooByFewerVoxelsAndSlices) {
  for (const auto& scan : {parallel_, cone_}) {
    Recipe recipe = asked("sirt");
    const Plan whole_plan = plan_of(scan, recipe);
    const auto whole = reconstructed(scan, recipe);
    const auto [n, same, slices] = whole_plan.job.grid.size;
    recipe.size = n - 30, recipe.slices = slices - 4;
    EXPECT_TRUE(same_bits(reconstructed(scan, recipe),
                          part_of(whole, whole_plan, {15, n - 15}, {15, n - 15}, {2, slices - 2})));
    recipe.region_z = Range{1, 3};
    EXPECT_TRUE(same_bits(reconstructed(scan, recipe),
                          part_of(whole, whole_plan, {15, n - 15}, {15, n - 15}, {3, 5})));
  }
}

/// FBP and FDK sum over views, voxel by voxel.
TEST_F(PartsForSolvers, OnlySolversSeeMore) {
  for (const auto& scan : {parallel_, cone_}) {
    Recipe recipe = asked("fbp");
    recipe.region_x = Range{7, 20};
    EXPECT_EQ(plan_of(scan, recipe).job.solved.size, plan_of(scan, recipe).job.grid.size);
    recipe.method = "cgls";
    const Plan plan = plan_of(scan, recipe);
    EXPECT_EQ(plan.job.solved.size, fitting_grid(plan.job.scan).size);
    EXPECT_EQ(plan.job.solved.centre, plan_of(scan, asked("cgls")).job.solved.centre);
    EXPECT_EQ(plan.job.inside[0], 7);
  }
}

/// The grid has voxels of another size, and more of them than rays see.
TEST_F(PartsForSolvers, LieWhereTheGridSaysInWhatTheRaysSee) {
  for (const double voxel : {0.11, 0.2, 0.5, 0.9})
    for (const Index size : {9, 40, 71}) {
      Recipe recipe = asked("sirt");
      recipe.voxel_size_mm = voxel, recipe.size = size;
      const Plan plan = plan_of(cone_, recipe);
      const VolumeGrid &all = plan.job.solved, &part = plan.job.grid, seen = fitting_grid(plan.job.scan);
      for (std::size_t i = 0; i < 3; ++i) {
        const auto edge = [i](const VolumeGrid& g, double side) {
          return g.centre[i] + side * 0.5 * static_cast<double>(g.size[i]) * g.pitch[i];
        };
        const double first = edge(all, -1) + static_cast<double>(plan.job.inside[i]) * voxel;
        EXPECT_NEAR(first, edge(part, -1), 1e-9 * voxel) << voxel << ' ' << size;
        EXPECT_LE(edge(all, -1), edge(seen, -1) + 1e-5 * voxel);
        EXPECT_GE(edge(all, 1), edge(seen, 1) - 1e-5 * voxel);
        EXPECT_LT(edge(all, 1), std::max(edge(seen, 1), edge(part, 1)) + 1.001 * voxel);
        EXPECT_LE(plan.job.inside[i] + part.size[i], all.size[i]);
      }
    }
}

/// A few rows of a cone beam see slices that other rows see too, beside the axis more than in the middle.
TEST_F(PartsForSolvers, OfSelectedRowsHaveAllSlicesThatTheseMeet) {
  Recipe recipe = asked("sirt");
  recipe.iterations = 60;
  recipe.rows = Range{12, 23};
  const Plan plan = plan_of(cone_, recipe);
  // the edges of the outer rows, at the far end of a circle of 43 pixels about the axis
  const double beside = 60 + 0.5 * 43 * plan.job.grid.pitch[0], low = (11.5 - 16.6) * 0.5 * beside / 90,
               high = (22.5 - 16.6) * 0.5 * beside / 90;
  const double half = 0.5 * static_cast<double>(plan.job.solved.size[2]) * plan.job.solved.pitch[2];
  EXPECT_LE(plan.job.solved.centre[2] - half, low + 1e-6);
  EXPECT_GE(plan.job.solved.centre[2] + half, high - 1e-6);

  std::vector<float> truth(static_cast<std::size_t>(Space(plan.job.grid.shape()).size()));
  voxelise(SimulatedScan(test::cone_simulation()).phantom(), plan.job.grid, {0, plan.job.grid.size[2]},
           truth);
  const auto reader = io::open_scan(cone_);
  const auto error_of_outer_slice = [&](const Plan& one) {
    const auto area = static_cast<std::ptrdiff_t>(plan.job.grid.size[0] * plan.job.grid.size[1]);
    const auto x = reconstructed(*reader, one);
    return test::relative_error({x.begin(), x.begin() + area}, {truth.begin(), truth.begin() + area});
  };
  Plan narrow = plan;
  narrow.job.solved = plan.job.grid, narrow.job.inside = {};
  EXPECT_LT(error_of_outer_slice(plan), 0.85 * error_of_outer_slice(narrow));  // 0.096 and 0.127
}

/// Selected columns see a sample that goes on beside them.
TEST_F(PartsForSolvers, OfSelectedColumnsHaveAllThatTheDetectorSees) {
  for (const auto& scan : {parallel_, cone_}) {
    Recipe recipe = asked("sirt");
    const Plan whole = plan_of(scan, recipe);
    recipe.bins = Range{10, 33};
    const Plan plan = plan_of(scan, recipe);
    EXPECT_EQ(plan.job.grid.size[0], 23);
    EXPECT_EQ(plan.job.solved.size[0], whole.job.solved.size[0] + (whole.job.solved.size[0] % 2 == 0));
    EXPECT_EQ(plan.job.solved.size[2], whole.job.solved.size[2]);
  }
}

TEST_F(PartsForSolvers, StandInThePlansMemory) {
  for (const auto& scan : {parallel_, cone_}) {
    Recipe recipe = asked("sirt");
    const auto info = io::open_scan(scan)->info();
    const Plan whole = make_plan(info, recipe);
    recipe.region_x = recipe.region_y = Range{10, 12};
    const Plan part = make_plan(info, recipe);
    const Index slices = whole.job.grid.size[2];
    EXPECT_EQ(device_bytes(part, slices) - device_bytes(whole, slices), 0);
    const double spared = 4.0 * static_cast<double>(slices) *
                          (static_cast<double>(whole.job.grid.size[0] * whole.job.grid.size[1]) - 4);
    const double less = host_bytes(whole, info, slices) - host_bytes(part, info, slices);
    EXPECT_GE(less, 0);
    EXPECT_LE(less, spared) << "only what waits to be written";
  }
}

TEST_F(PartsForSolvers, BeginWithAPartAndZerosAround) {
  const auto start = folder_.path() / "start.h5";
  for (const auto& scan : {parallel_, cone_}) {
    Recipe recipe = asked("sirt");
    recipe.region_x = Range{7, 20}, recipe.region_y = Range{11, 30}, recipe.region_z = Range{3, 5};
    const Plan plan = plan_of(scan, recipe);
    std::vector<float> part(static_cast<std::size_t>(13 * 19 * 2));
    for (std::size_t i = 0; i < part.size(); ++i) part[i] = static_cast<float>(i % 17);
    io::VolumeFormat format;
    format.place = plan.job.place();
    auto writer = io::create_volume(start, plan.job.grid.shape(), format, "{}", io::Replace::any);
    writer->write({0, 2}, part.data());
    writer->finish("{}");
    recipe.initial = Initial::file, recipe.initial_file = start;
    recipe.iterations = 0;
    EXPECT_EQ(reconstructed(scan, recipe), part);
    recipe.iterations = 40;
    const auto found = reconstructed(scan, recipe);
    recipe.initial = Initial::zero;
    const auto due = reconstructed(scan, recipe);
    EXPECT_LT(test::relative_error(found, due), 0.5 * test::relative_error(part, due))
        << "the start is forgotten";
  }
}

TEST_F(PartsForSolvers, AreComparedWithTheTruthWhileTheyAreMade) {
  const auto truth = folder_.path() / "truth.h5";
  Recipe recipe = asked("cgls");
  recipe.region_x = Range{7, 20}, recipe.region_y = Range{11, 30}, recipe.region_z = Range{12, 15};
  const Plan plan = plan_of(cone_, recipe);
  const SimulatedScan simulated(test::cone_simulation());
  Recipe all = asked("cgls");
  all.iterations = 3;
  const auto whole = reconstructed(cone_, all);
  const auto part = part_of(whole, plan_of(cone_, all), {7, 20}, {11, 30}, {12, 15});
  io::VolumeFormat format;
  format.place = plan.job.place();
  auto writer = io::create_volume(truth, plan.job.grid.shape(), format, "{}", io::Replace::any);
  writer->write({0, 3}, part.data());
  writer->finish("{}");
  const auto reader = io::open_scan(cone_);
  test::MemoryWriter memory(plan.job.grid.shape());
  Options options;
  options.truth = truth, options.curves = true, options.pictures = true;
  const Outcome outcome = reconstruct(*reader, plan, memory, options);
  EXPECT_EQ(outcome.quality->rmse, 0);
  EXPECT_EQ(outcome.middle.front().width, 13);
  EXPECT_FALSE(outcome.curves.psnr.values.empty());
  EXPECT_EQ(outcome.curves.psnr.values.back(), INFINITY) << "the curve is of the written pixels";
}

}  // namespace
}  // namespace tandem::pipeline
