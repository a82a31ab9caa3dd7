// Slices that are looked at, one after the other.

#include "../../pipeline/slice_maker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <variant>

#include "../../core/error.hpp"
#include "../../pipeline/complete/complete.hpp"
#include "../../pipeline/reconstruct.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"
#include "../support/tolerances.hpp"

namespace tandem::pipeline {
namespace {

const auto go_on = [] {};

class SliceMakerTest : public ::testing::Test {
 protected:
  void write(const Simulation& s) {
    test::write_scan(path_, SimulatedScan(s));
    reader_ = io::open_scan(path_);
    maker_ = std::make_unique<SliceMaker>(*reader_);
  }
  LookedAt slice(const Recipe& recipe, Index z) {
    Look look;
    look.slice = z;
    return maker_->slice(recipe, look, go_on);
  }
  std::vector<float> of_run(Recipe recipe, Index z) {
    give_circles(recipe, attenuation_beyond(*reader_, recipe));
    Plan plan = make_plan(reader_->info(), recipe);
    const auto [slices, height, width] = plan.job.grid.shape();
    const std::vector<float> volume = test::reconstructed(*reader_, plan);
    const auto first = volume.begin() + z * height * width;
    return {first, first + height * width};
  }
  test::TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "scan.h5";
  std::unique_ptr<io::ScanReader> reader_;
  std::unique_ptr<SliceMaker> maker_;
};

Simulation fan_simulation() {
  Simulation fan = test::cone_simulation();
  fan.scan = FanBeam{{{43, 1, 0.5, 0.5, 21.4}, test::regular_angles(60, whole_turn), 60, 90, 0}};
  fan.grid = fitting_grid(fan.scan);
  return fan;
}

/// A run with the options that a page names makes a slice with the same bits.
TEST_F(SliceMakerTest, MakesTheSliceOfARun) {
  for (const Simulation& s : {test::small_simulation(1000), fan_simulation(), test::cone_simulation()}) {
    write(s);
    Recipe recipe;
    if (rows_are_slices(s.scan)) recipe.rows = Range{2, 9}, recipe.bins = Range{3, 55};
    for (const double axis : {20.25, 23.0}) {
      recipe.axis_bin = axis;
      const Index slices = maker_->full_size(recipe)[0], z = slices / 2;
      const LookedAt at = slice(recipe, z);
      const std::vector<float> expected = of_run(recipe, z);
      if (slices == 1 || rows_are_slices(s.scan))
        EXPECT_TRUE(test::same_bits(at.picture.grey, expected)) << kind_of(s.scan) << " " << axis;
      else
        EXPECT_LE(test::relative_error(at.picture.grey, expected), tolerance::parts_of_fbp) << axis;
    }
  }
}

/// A page need not name the attenuation of circles: it is found, as a run finds it.
TEST_F(SliceMakerTest, FindsTheAttenuationOfCircles) {
  for (const Simulation& s : {test::small_simulation(1000), fan_simulation()}) {
    write(s);
    for (const std::optional<Padding> asked : {std::optional(Padding::circle), std::optional<Padding>()}) {
      Recipe recipe;
      recipe.padding = asked, recipe.bins = Range{12, 30}, recipe.axis_bin = 21.0;
      const Index z = maker_->full_size(recipe)[0] / 2;
      const LookedAt at = slice(recipe, z);
      Recipe completed = recipe;
      complete(completed, *reader_);
      EXPECT_EQ(completed.padding, Padding::circle);
      EXPECT_GT(completed.fbp_filter.attenuation, 0);
      EXPECT_TRUE(test::same_bits(at.picture.grey, of_run(completed, z))) << kind_of(s.scan);
      completed.fbp_filter.attenuation *= 2;
      EXPECT_FALSE(test::same_bits(at.picture.grey, slice(completed, z).picture.grey)) << kind_of(s.scan);
    }
  }
}

/// Counts are kept, but not what rows do beyond their ends. A scan that is gone for a moment does not tell
/// it.
TEST_F(SliceMakerTest, DoesNotTakeAScanThatIsGoneForOneThatEndsInAir) {
  write(test::small_simulation(1000));
  Recipe recipe;
  recipe.bins = Range{12, 30}, recipe.axis_bin = 21.0;
  Recipe plain = recipe;
  plain.padding = Padding::none;
  slice(plain, 2);
  std::filesystem::rename(path_, folder_ / "gone.h5");
  EXPECT_THROW(slice(recipe, 2), FileError);
  std::filesystem::rename(folder_ / "gone.h5", path_);
  EXPECT_TRUE(test::same_bits(slice(recipe, 2).picture.grey, of_run(recipe, 2)));
}

/// Views in equal steps go all round: a scan of views 0, 2, ... alone gives each of them twice the weight.
TEST_F(SliceMakerTest, TellsWhatEverySecondViewAdds) {
  Simulation half = test::small_simulation({});
  angles_of(half.scan) = test::regular_angles(60, half_turn);
  for (Simulation s : {half, fan_simulation(), test::cone_simulation()}) {
    write(s);
    Look look;
    look.slice = maker_->full_size({})[0] / 2, look.halves = true;
    const LookedAt at = maker_->slice({}, look, go_on);
    look.halves = false;
    const LookedAt again = maker_->slice({}, look, go_on);
    EXPECT_TRUE(test::same_bits(again.picture.grey, at.picture.grey));
    EXPECT_TRUE(again.even.empty());
    std::vector<Index> even;
    for (Index view = 0; view < views_of(s.scan); view += 2) even.push_back(view);
    std::visit([&](auto& scan) { keep_views(scan, even); }, s.scan);
    write(s);
    std::vector<float> twice = slice({}, look.slice).picture.grey;
    // The largest line integral of a scan is 3, and may be in a view that is left out: so the scale is free.
    const auto dot = [](const std::vector<float>& a, const std::vector<float>& b) {
      return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    };
    const double scale = dot(at.even, twice) / dot(twice, twice);
    EXPECT_NEAR(scale, 0.5, 0.01) << kind_of(s.scan);
    for (float& v : twice) v *= static_cast<float>(scale);
    EXPECT_LE(test::relative_error(at.even, twice), tolerance::parts_of_fbp) << kind_of(s.scan);
  }
}

/// A detector that sees 20 bins on one side of the axis and 40 on the other, over a whole turn.
TEST_F(SliceMakerTest, TellsHowFarBothSidesSee) {
  Simulation s = test::small_simulation({});
  for (const double turn : {half_turn, whole_turn}) {
    angles_of(s.scan) = test::regular_angles(60, turn);
    detector_of(s.scan).axis_bin = 20;
    s.grid = fitting_grid(s.scan);
    write(s);
    const LookedAt at = slice({}, 3);
    const double half_width = 0.5 * static_cast<double>(at.place.grid.size[0]);
    EXPECT_EQ(at.seen_twice, turn == whole_turn ? 20 : half_width);
  }
}

TEST_F(SliceMakerTest, MakesAnewOnlyWhatHasChanged) {
  using Made = std::vector<std::string>;
  write(test::small_simulation(1000));
  Recipe recipe;
  recipe.steps["remove-stripe-method"] = "fw";
  EXPECT_EQ(slice(recipe, 3).made, (Made{"lines", "filter", "operator"}));
  EXPECT_EQ(slice(recipe, 3).made, Made{});
  recipe.axis_bin = 30.5;
  EXPECT_EQ(slice(recipe, 3).made, Made{"operator"});  // rows that were filtered are those of any axis
  recipe.fbp_filter.window = Window::hann;
  EXPECT_EQ(slice(recipe, 3).made.front(), "filter");
  EXPECT_EQ(slice(recipe, 4).made.front(), "lines");
  recipe.steps["remove-stripe-method"] = "sf";
  EXPECT_EQ(slice(recipe, 4).made.front(), "lines");
}

/// A method that looks at both sides of the axis finds other stripes about another one.
TEST_F(SliceMakerTest, MakesLinesAnewWhereStepsHeedTheAxis) {
  write(test::small_simulation(1000));
  Recipe recipe;
  recipe.steps["remove-stripe-method"] = "auto";
  recipe.axis_bin = 30;
  slice(recipe, 3);
  recipe.axis_bin = 30.5;
  EXPECT_EQ(slice(recipe, 3).made.front(), "lines");
}

/// Rays of a half acquisition have weights by the axis, and an axis near the middle of the detector makes
/// none of it.
TEST_F(SliceMakerTest, FiltersAnewWhereRaysHaveWeightsByTheAxis) {
  Simulation s = test::small_simulation({});
  angles_of(s.scan) = test::regular_angles(60, whole_turn);
  detector_of(s.scan).axis_bin = 20;
  s.grid = fitting_grid(s.scan);
  write(s);
  Recipe recipe;
  const double middle = 0.5 * static_cast<double>(detector_of(s.scan).bins - 1);
  for (const auto& [axis, due] :
       {std::pair{20.0, true}, {20.5, true}, {middle, true}, {middle + 0.25, false}}) {
    recipe.axis_bin = axis;
    const LookedAt at = slice(recipe, 3);
    EXPECT_TRUE(test::same_bits(at.picture.grey, of_run(recipe, 3))) << axis;
    const bool filters = std::ranges::find(at.made, "filter") != at.made.end();
    EXPECT_EQ(filters, due) << axis;
  }
}

TEST_F(SliceMakerTest, KeepsNothingThatWouldBeWrong) {
  for (const Simulation& s : {test::small_simulation(1000), test::cone_simulation()}) {
    write(s);
    std::vector<Recipe> recipes(5);
    recipes[1].axis_bin = 24.5;
    recipes[2].axis_bin = 24.5, recipes[2].fbp_filter.window = Window::cosine;
    recipes[3].bins = Range{2, 40}, recipes[3].axis_bin = 24.5;
    recipes[4].views = Range{0, 31};
    for (const Index z : {3, 4, 3})
      for (const Recipe& recipe : recipes)
        EXPECT_LE(test::relative_error(slice(recipe, z).picture.grey, of_run(recipe, z)),
                  tolerance::parts_of_fbp)
            << kind_of(s.scan) << ' ' << z;
  }
}

TEST_F(SliceMakerTest, MakesAPartOfTheVoxelsAndCoarserOnes) {
  write(test::small_simulation(1000));
  const LookedAt all = slice({}, 4);
  Look part;
  part.slice = 4, part.x = Range{10, 31}, part.y = Range{5, 26};
  const LookedAt some = maker_->slice({}, part, go_on);
  ASSERT_EQ(some.picture.width, 21);
  for (Index y = 0; y < 21; ++y)
    for (Index x = 0; x < 21; ++x)
      EXPECT_NEAR(some.picture.grey[static_cast<std::size_t>(y * 21 + x)],
                  all.picture.grey[static_cast<std::size_t>((y + 5) * all.picture.width + x + 10)], 1e-4);
  Look coarse;
  coarse.slice = 4, coarse.coarser = 4;
  const LookedAt rough = maker_->slice({}, coarse, go_on);
  EXPECT_EQ(rough.picture.width, (all.picture.width + 3) / 4);
  EXPECT_EQ(rough.place.grid.pitch[0], 4 * all.place.grid.pitch[0]);
}

/// A slice that is passed on has the same bits, and keeps them while another one is made.
TEST_F(SliceMakerTest, LandsSlices) {
  for (const Simulation& s : {test::small_simulation(1000), test::cone_simulation()}) {
    write(s);
    std::vector<LandedSlice> landed;
    Look look;
    for (look.slice = 3; look.slice < 6; ++look.slice)
      landed.push_back(maker_->landed_slice({}, look, go_on));
    for (const LandedSlice& one : landed) {
      const LookedAt at = slice({}, 3 + (&one - landed.data()));
      EXPECT_TRUE(one.about.picture.grey.empty());
      EXPECT_EQ(one.about.picture.width, at.picture.width);
      const float* first = one.voxels->data();
      EXPECT_TRUE(test::same_bits({first, first + one.voxels->size()}, at.picture.grey));
    }
  }
}

TEST_F(SliceMakerTest, EndsWhenItIsToldTo) {
  struct Enough {};
  write(fan_simulation());
  EXPECT_THROW(maker_->slice({}, {}, [] { throw Enough{}; }), Enough);
  EXPECT_TRUE(test::same_bits(slice({}, 0).picture.grey, of_run({}, 0)));
}

TEST_F(SliceMakerTest, RefusesASolverAndWhatIsNotThere) {
  write(test::small_simulation(1000));
  Recipe recipe;
  recipe.method = "cgls";
  EXPECT_THROW(slice(recipe, 0), GeometryError);
  EXPECT_THROW(slice({}, 1000), GeometryError);
}

TEST_F(SliceMakerTest, SaysWhatARunWouldSayOnce) {
  Simulation s = test::small_simulation({});
  s.scan = ParallelBeam{{61, 3, 1, 1, 30}, test::regular_angles(40, 0.5 * half_turn), {}};
  s.grid = fitting_grid(s.scan);
  write(s);
  EXPECT_EQ(slice({}, 1).warnings.size(), 1u);  // limited angle
  EXPECT_EQ(slice({}, 1).warnings.size(), 1u);
}

TEST_F(SliceMakerTest, ShowsTheSinogram) {
  write(test::small_simulation(1000));
  Look look;
  look.slice = 2;
  const LookedAt at = maker_->sinogram({}, look, go_on);
  const Scan& scan = reader_->info().scan;
  EXPECT_EQ(at.picture.width, detector_of(scan).bins);
  EXPECT_EQ(at.picture.height, views_of(scan));
  EXPECT_EQ(at.rows, (Range{2, 3}));
  EXPECT_GT(*std::ranges::max_element(at.picture.grey), 0);
}

}  // namespace
}  // namespace tandem::pipeline
