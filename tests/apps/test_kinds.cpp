// The kind of beam that options say, and options that were once left out without a word.

#include <gtest/gtest.h>

#include <fstream>

#include "../../core/units.hpp"
#include "../../geometry/free_views.hpp"
#include "../../io/scans/geometries/geometry_file.hpp"
#include "../../io/scans/scan_reader.hpp"
#include "program.hpp"

namespace tandem::test {
namespace {

class Kinds : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    program = new Program;
    const std::string some = " --size 16 --bins 24 --views 40 --pixel-size 0.1 --phantom ellipsoids --quiet";
    ASSERT_EQ((*program)("simulate -o parallel.h5 --rows 6" + some).code, 0);
    for (const std::string name : {"cone.h5 --rows 6", "fan.h5 --rows 1"})
      ASSERT_EQ((*program)("simulate --geometry cone --sod 50 --sdd 80 -o " + name + some).code, 0);
    ASSERT_EQ((*program)("recon parallel.h5 -o volume.h5 --quiet").code, 0);
    std::ofstream shifts(*program / "shifts.txt");
    for (int k = 0; k < 40; ++k) shifts << 0.3 * (k % 4) << '\n';
  }
  static void TearDownTestSuite() {
    delete program;
    program = nullptr;
  }

  static void refuses(const std::string& arguments, int code, const std::string& words) {
    const Ended run = (*program)(arguments + " --quiet");
    EXPECT_EQ(run.code, code) << arguments << '\n' << run.err;
    EXPECT_NE(run.err.find(words), std::string::npos) << words << " is not in " << run.err;
  }
  static std::string says(const std::string& arguments) {
    const Ended run = (*program)(arguments);
    EXPECT_EQ(run.code, 0) << arguments << '\n' << run.err;
    return run.out + run.err;
  }

  static Program* program;
};
Program* Kinds::program = nullptr;

TEST_F(Kinds, NeedWhatTheyNeed) {
  for (const std::string command : {"recon parallel.h5 -o v.h5", "info parallel.h5", "center parallel.h5"}) {
    refuses(command + " --geometry cone", 4, "cone beam: no distance from source to axis; give --sod MM");
    refuses(command + " --geometry CONE --sod 50", 4, "no distance from source to detector; give --sdd MM");
    refuses(command + " --geometry fan", 4, "--geometry fan: the detector has 6 rows");
    refuses(command + " --geometry parallel --sod 50 --sdd 80", 4, "--geometry parallel has no source");
  }
  refuses("recon cone.h5 -o v.h5 --geometry fan", 4, "--geometry fan: the detector has 6 rows");
  refuses("simulate -o s.h5 --geometry fan --rows 3 --sod 50 --sdd 80 --pixel-size 1", 4, "--rows 1");
}

TEST_F(Kinds, TakeThePlaceOfThatOfTheFile) {
  EXPECT_NE(says("info cone.h5 --geometry parallel").find("parallel beam"), std::string::npos);
  EXPECT_NE(says("info parallel.h5 --geometry cone --sod 50 --sdd 80").find("cone beam"), std::string::npos);
  EXPECT_NE(says("info fan.h5 --geometry fan").find("fan beam"), std::string::npos);
}

TEST_F(Kinds, NameTheModelsThatTheyHave) {
  refuses(
      "recon parallel.h5 -o v.h5 --model hierarchical", 4,
      "--model hierarchical: a parallel beam does not have it; it has pixel_driven and joseph and fourier");
  says("info parallel.h5 --write-geometry off.npy --axis-tilt 4");
  refuses("recon parallel.h5 --geometry off.npy -o v.h5 --model fourier:accuracy=1e-3", 4,
          "--model fourier: a flexible beam does not have it; it has separable_footprint");
}

/// Opposite rays of an axis that leans by a degree are nearly one line.
TEST_F(Kinds, TellATiltedParallelBeamWhatIsOpen) {
  const std::string by = " -o tilted.h5 --overwrite --axis-tilt 1 --reconstruction-algorithm cgls";
  EXPECT_EQ(says("recon parallel.h5" + by).find("open"), std::string::npos);
  EXPECT_NE(says("recon parallel.h5 --views 0:20" + by).find("leave 90 degrees of the half turn open"),
            std::string::npos);
}

TEST_F(Kinds, OfViewsHaveTheRollAndTheTiltThatAreGiven) {
  says("info cone.h5 --write-geometry leaning.npy --detector-roll 1 --axis-tilt 0.5");
  const std::vector<FlexibleView> views = io::read_geometry_file({*program / "leaning.npy"}).views;
  const Scan circle = io::open_scan(*program / "cone.h5")->info().scan;
  const FlexibleBeam leaning = as_free_views(circle, {.roll = in_radians(1), .tilt = in_radians(0.5)});
  ASSERT_EQ(views.size(), leaning.views.size());
  for (std::size_t k = 0; k < views.size(); ++k) {
    EXPECT_EQ(views[k].source, leaning.views[k].source);
    EXPECT_EQ(views[k].detector, leaning.views[k].detector);
    EXPECT_EQ(views[k].bin_step, leaning.views[k].bin_step);
    EXPECT_EQ(views[k].row_step, leaning.views[k].row_step);
  }
}

TEST_F(Kinds, AndSelectionsGoWithNoGeometryOfTheWholeScan) {
  for (const char* option : {"--views 0:20", "--views ::2", "--columns 1:20", "--detector-rows 0:2"})
    refuses(std::string("info cone.h5 --write-geometry v.npy ") + option, 2, "do not go together");
}

TEST_F(Kinds, AreOfScans) {
  for (const char* option : {"--arc 180", "--geometry cone", "--detector-roll 1", "--views 0:2"})
    refuses(std::string("info volume.h5 ") + option, 2, "goes with a scan");
}

TEST_F(Kinds, WithShiftedViewsHaveNoAxisThatIsSearched) {
  for (const std::string option : {"--view-shifts", "--view-row-shifts"})
    refuses("center cone.h5 " + option + " shifts.txt", 4, "the images of the views are shifted");
}

TEST_F(Kinds, AreToldWhatASearchOfTheAxisLeavesOut) {
  EXPECT_NE(says("center parallel.h5 --nsino 100").find("note: --nsino 100: 6 rows of 6 are taken"),
            std::string::npos);
  EXPECT_NE(says("center parallel.h5 --retrieve-phase-method paganin:energy=20,delta-beta=100,distance=9")
                .find("note: --retrieve-phase-method"),
            std::string::npos);
}

}  // namespace
}  // namespace tandem::test
