// What completes a recipe from a scan, as a program calls it.

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "../../core/error.hpp"
#include "../../pipeline/complete/complete.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"

namespace tandem::pipeline {
namespace {

constexpr Index bins = 97, rows = 9, views = 120;
constexpr double axis = 50.3;

/// A simulated scan in a file.
class CompleteScan {
 public:
  explicit CompleteScan(Scan scan, const io::OpenOptions& how = {}, const char* phantom = "foam") {
    Simulation s;
    s.phantom = phantom, s.scan = std::move(scan), s.grid = fitting_grid(s.scan);
    test::write_scan(folder_ / "scan.h5", SimulatedScan(s));
    reader_ = io::open_scan(folder_ / "scan.h5", how);
  }
  io::ScanReader& operator*() const { return *reader_; }
  const test::TemporaryFolder& folder() const { return folder_; }

  Listener listener() {
    return {.note = [this](const std::string& text) { notes += text; },
            .warn = [this](const std::string& text) { warnings += text; }};
  }
  std::string notes, warnings;

 private:
  test::TemporaryFolder folder_;
  std::unique_ptr<io::ScanReader> reader_;
};

ParallelBeam parallel(double arc = whole_turn, bool both_ends = false) {
  return {{bins, rows, 1, 1, axis}, test::regular_angles(views, arc, both_ends), {}};
}

ConeBeam cone() {
  return {{bins, rows, 0.5, 0.5, axis}, test::regular_angles(views, whole_turn), 120, 180, 3.4};
}

TEST(FindAxis, TellsTheAxisWithinItsUncertainty) {
  for (const Scan& scan : {Scan(parallel()), Scan(parallel(half_turn)), Scan(cone())}) {
    CompleteScan made(scan);
    for (const Range& part : {Range{0, bins}, Range{6, bins - 2}}) {
      const Recipe recipe{.rows = Range{1, rows}, .bins = part};
      const calibration::AxisEstimate found = find_axis(*made, recipe, {}, 5, made.listener());
      EXPECT_NEAR(found.axis_bin, axis, 2 * found.uncertainty) << kind_of(scan) << part.first;
      EXPECT_LT(found.uncertainty, 0.5) << kind_of(scan);
      EXPECT_FALSE(found.turns_back) << kind_of(scan);
    }
    EXPECT_EQ(made.warnings, "");
  }
}

TEST(FindAxis, SearchesBetweenBinsOfTheFile) {
  const CompleteScan made(parallel());
  const Recipe recipe{.bins = Range{20, bins}};
  EXPECT_NEAR(find_axis(*made, recipe, {.between = {{45, 55}}}).axis_bin, axis, 0.1);
  EXPECT_THROW(find_axis(*made, recipe, {.between = {{10, 55}}}), GeometryError);
}

TEST(FindAxis, WarnsOfTheOtherSenseOfRotation) {
  CompleteScan made(cone(), {.reverse_rotation = true});
  find_axis(*made, {}, {}, 5, made.listener());
  EXPECT_NE(made.warnings.find("in the other --rotation-direction"), std::string::npos) << made.warnings;
}

/// One row cannot agree or disagree with others.
TEST(FindAxis, SaysWhatTheDoubtOfOneRowComesFrom) {
  CompleteScan made(parallel(half_turn));
  const calibration::AxisEstimate found =
      find_axis(*made, {.rows = Range{4, 5}, .bins = Range{22, 78}}, {}, 1, made.listener());
  EXPECT_GT(found.uncertainty, 0.5);
  EXPECT_NE(made.warnings.find("of the one row differ"), std::string::npos) << made.warnings;
}

TEST(FindAxis, IsRefusedWhereViewsHaveNoAxis) {
  const Simulation s = test::views_simulation();
  const CompleteScan made(s.scan, {}, "ellipsoids");
  Recipe recipe{.find_axis = true};
  EXPECT_THROW(complete(recipe, *made), GeometryError);
  recipe.find_axis = false;
  EXPECT_TRUE(complete(recipe, *made).axes.empty());
  EXPECT_FALSE(recipe.axis_bin);
}

TEST(RowsForAxis, AreSpreadOverRowsOrNextToTheMidplane) {
  EXPECT_EQ(calibration::rows_for_axis(parallel(), {2, 8}, 3), (std::vector<Index>{3, 5, 7}));
  EXPECT_EQ(calibration::rows_for_axis(cone(), {0, rows}, 3), (std::vector<Index>{2, 3, 4}));
  EXPECT_EQ(calibration::rows_for_axis(cone(), {5, rows}, 3), (std::vector<Index>{5, 6, 7}));
  EXPECT_EQ(calibration::rows_for_axis(parallel(), {4, 6}, 5), (std::vector<Index>{4, 5}));
}

TEST(Complete, TakesWhatTheRecipeSelectsAndElseAll) {
  const CompleteScan made(parallel());
  Recipe recipe{.method = "cgls", .rows = Range{2, 7}};
  EXPECT_TRUE(complete(recipe, *made).axes.empty());
  EXPECT_EQ(recipe.views, (Range{0, views}));
  EXPECT_EQ(recipe.rows, (Range{2, 7}));
  EXPECT_EQ(recipe.bins, (Range{0, bins}));
  EXPECT_EQ(make_plan((*made).info(), recipe).job.method_name(), "cgls");
  for (Recipe wrong :
       {Recipe{.rows = Range{3, rows + 1}}, Recipe{.views = Range{9, 9}}, Recipe{.bins = Range{-1, bins}}})
    EXPECT_THROW(complete(wrong, *made), GeometryError);
}

TEST(Complete, FindsTheAxisIfThatIsAskedFor) {
  CompleteScan made(parallel());
  Recipe recipe{.find_axis = true, .fbp_filter = {.window = Window::hann}};
  const std::vector<double> open = complete(recipe, *made, made.listener()).axes;
  EXPECT_EQ(open, std::vector{recipe.axis_bin.value()});
  EXPECT_NEAR(*recipe.axis_bin, axis, 0.1);
  EXPECT_EQ(make_plan((*made).info(), recipe).job.axis_in_file, *recipe.axis_bin);
  EXPECT_TRUE(made.notes.starts_with("rotation axis at bin 50.")) << made.notes;
}

TEST(Complete, LeavesNoHardeningToBeFound) {
  CompleteScan made(parallel());
  Recipe recipe{.steps = {{"beam-hardening", "auto"}}};
  EXPECT_THROW(make_plan((*made).info(), recipe), GeometryError);  // not before it is complete
  const Completed by = complete(recipe, *made, made.listener());
  ASSERT_TRUE(by.hardening.one);
  EXPECT_FALSE(by.hardening.one->is_corrected());  // the scan has one energy
  EXPECT_TRUE(recipe.steps.empty());
  make_plan((*made).info(), recipe);
}

TEST(Complete, ReadsTheAxesOfRows) {
  const CompleteScan made(parallel());
  std::ofstream(made.folder() / "axes.txt") << "# of rows 0 to 8\n46\n47\n48\n49\n50\n51\n52\n53\n54\n";
  Recipe recipe{.row_axes = made.folder() / "axes.txt"};
  complete(recipe, *made);
  EXPECT_EQ(recipe.row_axis_bins, (std::vector<double>{46, 47, 48, 49, 50, 51, 52, 53, 54}));
  recipe.row_axes = made.folder() / "gone.txt";
  EXPECT_THROW(complete(recipe, *made), FileError);
}

TEST(FindRoll, IsNoneOfALevelDetector) {
  const CompleteScan made(parallel());
  const Roll roll = find_roll(*made, {});
  EXPECT_NEAR(roll.degrees, 0, 3 * roll.uncertainty);
  EXPECT_NEAR(roll.axis_bin, axis, 3 * roll.axis_uncertainty);
  EXPECT_THROW(find_roll(*CompleteScan(cone()), {}), GeometryError);
  EXPECT_THROW(find_roll(*made, {.rows = Range{0, 2}}), GeometryError);
}

TEST(WarnOfRepeatedView, TellsHowToGiveTheArc) {
  for (const auto& [arc, words] : {std::pair{360.0, "the first one;"}, {180.0, "the first one, mirrored;"}}) {
    CompleteScan ends(parallel(arc / 360 * whole_turn, true)), even(parallel(arc / 360 * whole_turn));
    warn_of_repeated_view(*even, {}, {.arc_deg = arc}, {axis}, even.listener());
    EXPECT_EQ(even.warnings, "");
    warn_of_repeated_view(*ends, {.views = Range{0, views - 1}}, {.arc_deg = arc}, {axis}, ends.listener());
    warn_of_repeated_view(*ends, {}, {.arc_deg = arc, .arc_inclusive = true}, {axis}, ends.listener());
    EXPECT_EQ(ends.warnings, "") << "the last view is left out, or is known to end the arc";
    warn_of_repeated_view(*ends, {}, {.arc_deg = arc}, {axis}, ends.listener());
    EXPECT_NE(ends.warnings.find(words), std::string::npos) << ends.warnings;
    EXPECT_TRUE(
        ends.warnings.ends_with("give --arc " + std::to_string(static_cast<int>(arc)) + ",inclusive"));
  }
}

}  // namespace
}  // namespace tandem::pipeline
