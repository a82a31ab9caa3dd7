// Slices about trial axes.

#include "../../pipeline/axis_trials.hpp"

#include <gtest/gtest.h>

#include "../../core/error.hpp"
#include "../../pipeline/watch/live.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"
#include "../support/tolerances.hpp"

namespace tandem::pipeline {
namespace {

constexpr Index side = 400;

class AxisTrialsTest : public ::testing::Test {
 protected:
  void write(const Simulation& s) { test::write_scan(path_, SimulatedScan(s)); }
  AxisTrials trials(std::span<const double> axes, const Recipe& recipe = {}) {
    const auto reader = io::open_scan(path_);
    return try_axes(*reader, recipe, axes, side, [this](std::size_t done) { done_ = done; });
  }
  test::TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "scan.h5";
  std::size_t done_ = 0;
};

/// The label of a slice is what a run has to be given: then the slice has the same bits.
TEST_F(AxisTrialsTest, AreTheMiddleSliceOfARunWithThisAxis) {
  Simulation fan = test::cone_simulation();
  fan.scan = FanBeam{{{43, 1, 0.5, 0.5, 21.4}, test::regular_angles(60, whole_turn), 60, 90, 0}};
  fan.grid = fitting_grid(fan.scan);
  const std::vector<double> axes{20.25, 23};
  for (const Simulation& s : {test::small_simulation(1000), fan, test::cone_simulation()}) {
    write(s);
    Recipe recipe;
    if (rows_are_slices(s.scan)) recipe.rows = Range{2, 9}, recipe.bins = Range{3, 55};
    const AxisTrials all = trials(axes, recipe);
    ASSERT_EQ(all.trials.size(), 2u);
    EXPECT_EQ(done_, 2u);
    for (const AxisTrial& trial : all.trials) {
      recipe.axis_bin = trial.axis_bin;
      const auto reader = io::open_scan(path_);
      Plan plan = make_plan(reader->info(), recipe);
      const auto [slices, height, width] = plan.job.grid.shape();
      const std::vector<float> volume = test::reconstructed(*reader, plan);
      const Index middle = slices / 2 * height * width;
      const std::vector<float> expected(volume.begin() + middle, volume.begin() + middle + height * width);
      if (slices == 1 || rows_are_slices(s.scan))
        EXPECT_TRUE(test::same_bits(trial.slice.grey, expected)) << kind_of(s.scan) << " " << trial.axis_bin;
      else
        EXPECT_LE(test::relative_error(trial.slice.grey, expected), tolerance::parts_of_fbp)
            << trial.axis_bin;
    }
  }
}

TEST_F(AxisTrialsTest, AreSharpestAboutTheTrueAxis) {
  const std::vector<double> axes{29.2, 30.2, 31.2, 31.7, 32.2, 33.2};
  for (const std::optional<double> photons : {std::optional<double>(), std::optional<double>(1e4)}) {
    Simulation s = test::small_simulation(photons);
    ASSERT_NEAR(detector_of(s.scan).axis_bin, 31.7, 1e-9);
    write(s);
    const AxisTrials all = trials(axes);
    EXPECT_EQ(all.best, 3u);
    for (const AxisTrial& trial : all.trials) EXPECT_GE(trial.unsharpness, 1);
    EXPECT_EQ(all.trials[3].unsharpness, 1);
    EXPECT_GT(all.trials[0].unsharpness, all.trials[1].unsharpness);
  }
}

TEST_F(AxisTrialsTest, SayWhatARunWouldSayOnce) {
  Simulation s = test::small_simulation({});
  s.scan = ParallelBeam{{61, 3, 1, 1, 30}, test::regular_angles(40, 0.5 * half_turn), {}};
  s.grid = fitting_grid(s.scan);
  write(s);
  EXPECT_EQ(trials(std::vector<double>{29, 30, 31}).warnings.size(), 1u);  // limited angle
  EXPECT_THROW(trials(std::vector<double>{29, 1000}), GeometryError);
}

}  // namespace
}  // namespace tandem::pipeline
