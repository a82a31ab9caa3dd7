// Solvers at work on what somebody looks at.

#include "../../pipeline/plan/make_job.hpp"
#include "../../pipeline/slice_solver.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "../../core/error.hpp"
#include "../../pipeline/reconstruct.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"

namespace tandem::pipeline {
namespace {

class SliceSolverTest : public ::testing::Test {
 protected:
  void write(const Simulation& s) {
    test::write_scan(path_, SimulatedScan(s));
    reader_ = io::open_scan(path_);
    solver_ = std::make_unique<SliceSolver>(*reader_);
  }
  static Recipe by(const char* method, int iterations) {
    Recipe recipe;
    recipe.method = method, recipe.iterations = iterations;
    if (std::string(method) == "tv") recipe.tv_weight = 0.02F;
    return recipe;
  }
  std::vector<float> of_run(const Recipe& recipe, Index z) {
    const Plan plan = make_plan(reader_->info(), recipe);
    const auto [slices, height, width] = plan.job.grid.shape();
    const std::vector<float> volume = test::reconstructed(*reader_, plan);
    const auto first = volume.begin() + z * height * width;
    return {first, first + height * width};
  }
  Index slices() { return make_job(reader_->info(), {}).full_size[2]; }

  test::TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "scan.h5";
  std::unique_ptr<io::ScanReader> reader_;
  std::unique_ptr<SliceSolver> solver_;
};

Simulation one_row_fan() {
  Simulation fan = test::cone_simulation();
  fan.scan = FanBeam{{{43, 1, 0.5, 0.5, 21.4}, test::regular_angles(60, whole_turn), 60, 90, 0}};
  fan.grid = fitting_grid(fan.scan);
  return fan;
}

/// What a page says of a method is what a run has to be given: then the slice has the same bits.
TEST_F(SliceSolverTest, MakesTheSliceOfARun) {
  for (const Simulation& s : {test::small_simulation(1000), one_row_fan(), test::cone_simulation()}) {
    write(s);
    for (const char* method : {"cgls", "sirt", "os-sirt", "tv"}) {
      const Recipe recipe = by(method, 4);
      const Index z = slices() / 3;
      const Solved made = solver_->solve(recipe, {.slice = z}, {});
      EXPECT_TRUE(test::same_bits(made.picture.grey, of_run(recipe, z))) << kind_of(s.scan) << ' ' << method;
      EXPECT_EQ(made.iterations, 4);
      EXPECT_EQ(made.slice, z);
      EXPECT_EQ(made.slices, slices());
      EXPECT_EQ(made.whole, !rows_are_slices(s.scan));
      EXPECT_EQ(made.stopped_by, "max_iterations");
    }
  }
}

TEST_F(SliceSolverTest, EndsWhereItIsEnoughWithTheVolumeOfThatIteration) {
  for (const Simulation& s : {test::small_simulation(1000), test::cone_simulation()}) {
    write(s);
    std::vector<int> steps;
    std::vector<double> residuals;
    SolveSeen seen;
    seen.step = [&](int iteration, double residual) {
      steps.push_back(iteration), residuals.push_back(residual);
      return iteration < 3;
    };
    const Solved made = solver_->solve(by("cgls", 50), {.slice = 4}, seen);
    EXPECT_EQ(steps, (std::vector{0, 1, 2, 3}));
    EXPECT_EQ(residuals.front(), 1);
    EXPECT_TRUE(std::ranges::is_sorted(residuals, std::greater<>()));
    EXPECT_EQ(made.iterations, 3);
    EXPECT_EQ(made.stopped_by, "stopped");
    EXPECT_TRUE(test::same_bits(made.picture.grey, of_run(by("cgls", 3), 4))) << kind_of(s.scan);
  }
}

/// A solver that makes no step leaves its start as it is: the volume from the last time.
TEST_F(SliceSolverTest, BeginsWarmAtTheVolumeOfTheLastTime) {
  for (const Simulation& s : {test::small_simulation(1000), test::cone_simulation()}) {
    write(s);
    Recipe recipe = by("tv", 5);
    if (rows_are_slices(s.scan)) recipe.region_x = Range{5, 40};  // a part of what is solved
    const Solved before = solver_->solve(recipe, {.slice = 4}, {});
    EXPECT_FALSE(before.warm);
    recipe.iterations = 0, recipe.tv_weight = 0.1F;
    const Solved warm = solver_->solve(recipe, {.slice = 4, .warm = true}, {});
    EXPECT_TRUE(warm.warm);
    EXPECT_TRUE(test::same_bits(warm.picture.grey, before.picture.grey)) << kind_of(s.scan);
    const Solved cold = solver_->solve(recipe, {.slice = 4}, {});
    EXPECT_TRUE(test::same_bits(cold.picture.grey, of_run(recipe, 4))) << kind_of(s.scan);
  }
}

/// The whole state is taken on where only iterations and weights are others: 3 iterations and 4 more are 7.
TEST_F(SliceSolverTest, GoesOnFromTheStateOfTheSameProblem) {
  for (const Simulation& s : {test::small_simulation(1000), test::cone_simulation()})
    for (const char* method : {"cgls", "tv"}) {
      write(s);
      solver_->solve(by(method, 3), {.slice = 4, .problem = "a"}, {});
      const Solved warm = solver_->solve(by(method, 4), {.slice = 4, .warm = true, .problem = "a"}, {});
      EXPECT_TRUE(test::same_bits(warm.picture.grey, of_run(by(method, 7), 4))) << kind_of(s.scan) << method;
      const Solved other = solver_->solve(by(method, 0), {.slice = 4, .warm = true, .problem = "b"}, {});
      EXPECT_TRUE(test::same_bits(other.picture.grey, warm.picture.grey));  // the volume alone
      const Solved cold = solver_->solve(by(method, 3), {.slice = 4, .problem = "b"}, {});
      EXPECT_TRUE(test::same_bits(cold.picture.grey, of_run(by(method, 3), 4)));
    }
}

/// The voxels of another slice, or of another width, are no start.
TEST_F(SliceSolverTest, BeginsColdWhereVoxelsAreOthers) {
  write(test::small_simulation(1000));
  const Recipe recipe = by("cgls", 3);
  solver_->solve(recipe, {.slice = 4}, {});
  const Solved other = solver_->solve(recipe, {.slice = 5, .warm = true}, {});
  EXPECT_FALSE(other.warm);
  EXPECT_TRUE(test::same_bits(other.picture.grey, of_run(recipe, 5)));
}

TEST_F(SliceSolverTest, BinsAWholeVolume) {
  write(test::cone_simulation());
  const Solved made = solver_->solve(by("cgls", 3), {.slice = 10, .binning = 1}, {});
  Recipe binned = by("cgls", 3);
  binned.binning = 1;
  EXPECT_EQ(made.slice, 5);
  EXPECT_TRUE(test::same_bits(made.picture.grey, of_run(binned, 5)));
  ASSERT_TRUE(solver_->plane(2, made.slices - 1));
  EXPECT_TRUE(test::same_bits(solver_->plane(2, 2)->grey, of_run(binned, 2)));
}

/// A binned volume has the region and the size of the recipe in its own voxels.
TEST_F(SliceSolverTest, BinsWhatTheRecipeSaysOfVoxels) {
  write(test::cone_simulation());
  Recipe recipe = by("cgls", 2);
  recipe.size = 40, recipe.region_x = Range{9, 31};
  const Solved made = solver_->solve(recipe, {.slice = 10, .binning = 1}, {});
  EXPECT_EQ(made.picture.width, 12);  // voxels 4 to 15 hold voxels 8 to 31
  EXPECT_EQ(made.picture.height, 20);
}

TEST_F(SliceSolverTest, BinsNoSlicesThatAreApartAndNoSmallVolume) {
  write(test::small_simulation(1000));
  EXPECT_EQ(solver_->quick_binning(by("cgls", 3)), 0);
  write(test::cone_simulation());
  EXPECT_EQ(solver_->quick_binning(by("cgls", 3)), 0);
  Recipe large = by("cgls", 3);
  large.size = 200, large.slices = 160;  // 3.8e8 updates; each binning leaves an eighth
  EXPECT_EQ(solver_->quick_binning(large), 1);
  large.method = "fbp", large.iterations.reset();  // one of its updates is all
  EXPECT_EQ(solver_->quick_binning(large), 0);
}

TEST_F(SliceSolverTest, ShowsIteratesOfTheSliceThatIsLookedAt) {
  write(test::cone_simulation());
  std::vector<io::Picture> pictures;
  std::vector<int> numbers;
  SolveSeen seen;
  seen.picture = [&](io::Picture picture, int iteration) {
    pictures.push_back(std::move(picture)), numbers.push_back(iteration);
  };
  solver_->solve(by("cgls", 2), {.slice = 3}, seen);
  ASSERT_FALSE(pictures.empty());  // the first one comes at once, later ones when they are due
  ASSERT_EQ(numbers.front(), 1);
  EXPECT_TRUE(test::same_bits(pictures.front().grey, of_run(by("cgls", 1), 3)));
}

TEST_F(SliceSolverTest, FindsTheWeightThatARunWouldFindForTheSlice) {
  write(test::small_simulation(1000));
  Recipe recipe = by("tv", 5);
  recipe.tv_weight.reset();
  const Solved made = solver_->solve(recipe, {.slice = 4}, {});
  ASSERT_TRUE(made.tv_weight);
  recipe.tv_weight = made.tv_weight;
  EXPECT_TRUE(test::same_bits(made.picture.grey, of_run(recipe, 4)));
}

TEST_F(SliceSolverTest, EndsByAnExceptionAndWorksAgain) {
  struct Enough {};
  write(test::cone_simulation());
  SolveSeen seen;
  seen.step = [](int iteration, double) -> bool { return iteration < 2 ? true : throw Enough{}; };
  EXPECT_THROW(solver_->solve(by("cgls", 9), {.slice = 3}, seen), Enough);
  EXPECT_FALSE(solver_->plane(2, 0));
  EXPECT_TRUE(test::same_bits(solver_->solve(by("cgls", 2), {.slice = 3}, {}).picture.grey,
                              of_run(by("cgls", 2), 3)));
}

/// A filter makes all slices, and planes along the axis are those of the volume that a run makes.
TEST_F(SliceSolverTest, ShowsThePlanesOfAVolumeByAFilter) {
  for (const Simulation& s : {test::small_simulation(1000), test::cone_simulation()}) {
    write(s);
    EXPECT_FALSE(solver_->plane(2, 0));
    const Solved made = solver_->solve({}, {.slice = 4}, {});
    EXPECT_TRUE(made.whole);
    const Plan plan = make_plan(reader_->info(), {});
    const std::vector<float> volume = test::reconstructed(*reader_, plan);
    const auto [nx, ny, nz] = plan.job.grid.size;
    const auto at = [&, nx = nx, ny = ny](Index x, Index y, Index z) {
      return volume[static_cast<std::size_t>((z * ny + y) * nx + x)];
    };
    const io::Picture x = solver_->plane(0, 7).value(), y = solver_->plane(1, 9).value();
    ASSERT_EQ(x.width, ny);
    ASSERT_EQ(y.width, nx);
    ASSERT_EQ(x.height, nz);
    for (Index z = 0; z < nz; ++z)
      for (Index k = 0; k < nx; ++k) {
        ASSERT_EQ(x.grey[static_cast<std::size_t>(z * ny + k)], at(7, k, z));
        ASSERT_EQ(y.grey[static_cast<std::size_t>(z * nx + k)], at(k, 9, z));
        ASSERT_EQ(made.picture.grey[static_cast<std::size_t>(k * nx + 3)], at(3, k, 4));
      }
    EXPECT_FALSE(solver_->plane(0, nx));
    EXPECT_FALSE(solver_->plane(1, -1));
  }
}

}  // namespace
}  // namespace tandem::pipeline
