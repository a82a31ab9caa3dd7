// tandem calibrate, the whole program.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "program.hpp"

namespace tandem::test {
namespace {

const std::string cone = "--geometry cone --sod 200 --sdd 300 --pixel-size 0.8 --quiet ";

TEST(Calibrate, WritesTheViewsThatBallsTell) {
  const Program program;
  ASSERT_EQ(program("simulate -o balls.h5 " + cone +
                    "--phantom balls --size 96 --bins 100 --rows 100 --views 48 --axis-bin 50.6")
                .code,
            0);
  const Ended ended = program(
      "calibrate balls.h5 --geometry cone --sod 200 --sdd 306 --pixel-size 0.8 --arc 360 "
      "--midplane-row 40 --balls -o found.npy --json found.json --preview found.png");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const nlohmann::json report = program.json("found.json");
  const auto near = [&](const char* name, double value, double most) {
    EXPECT_NEAR(report[name]["value"], value, most) << name;
    EXPECT_LT(report[name]["uncertainty"], most) << name;
  };
  near("axis_bin", 50.6, 0.02);  // cells of one ray: the shadows' middles are off by some 0.03 cells
  near("roll_deg", 0, 0.02);
  near("sdd_mm", 300, 2);
  EXPECT_EQ(report["sod_mm"]["value"], 200);
  EXPECT_TRUE(report["sod_mm"]["uncertainty"].is_null());
  EXPECT_TRUE(report["pitch_deg"].is_null());
  EXPECT_EQ(report["not_told"].size(), 2u);
  EXPECT_EQ(report["rotation"], "along the angles");
  EXPECT_LT(report["rms_cells"], 0.2 * report["rms_before_cells"].get<double>());
  EXPECT_TRUE(program.has("found.png"));
  EXPECT_EQ(program("info balls.h5 --geometry found.npy").code, 0);
}

TEST(Calibrate, GivesPlacesOnTheWholeDetectorFromAPartOfIt) {
  const Program program;
  ASSERT_EQ(
      program("simulate -o balls.h5 " + cone + "--phantom balls --size 96 --bins 100 --rows 100 --views 48")
          .code,
      0);
  ASSERT_EQ(
      program("calibrate balls.h5 --balls -o found.npy --json found.json --detector-rows 2: --columns 3:")
          .code,
      0);
  const nlohmann::json report = program.json("found.json");
  EXPECT_NEAR(report["axis_bin"]["value"], 49.5, 0.02);
  EXPECT_NEAR(report["midplane_row"]["value"], 49.5, 0.3);
}

/// The midplane of the scan is left out for `calibrate`, which finds it by slices.
TEST(Calibrate, FindsTheMidplaneOfAConeByItsSlices) {
  const Program program;
  const std::string given = "--geometry cone --sod 120 --sdd 180 --pixel-size 1 --quiet ";
  ASSERT_EQ(program("simulate -o scan.h5 " + given +
                    "--phantom ellipsoids --size 80 --bins 80 --rows 64 --views 120 --midplane-row 36.5 --photons 1e5")
                .code,
            0);
  const Ended ended =
      program("calibrate scan.h5 " + given + "--arc 360 --midplane-row 31.5 -o found.npy --json found.json");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const nlohmann::json report = program.json("found.json");
  EXPECT_NEAR(report["axis_bin"]["value"], 39.5, 0.05);
  EXPECT_NEAR(report["roll_deg"]["value"], 0, 0.2);
  const nlohmann::json midplane = report["midplane_row"];
  EXPECT_EQ(midplane["told_by"], "sharpness of slices");
  EXPECT_NEAR(midplane["value"], 36.5, 2.5);
  EXPECT_LT(midplane["uncertainty"], 2.5);
  EXPECT_EQ(report["searches"].size(), 2u);
  for (const nlohmann::json& search : report["searches"]) EXPECT_EQ(search["verdict"], "resolved");
  EXPECT_EQ(program("info scan.h5 --geometry found.npy").code, 0);
}

TEST(Calibrate, SaysWhatIsNotGivenAsItIsMeant) {
  const Program program;
  ASSERT_EQ(
      program("simulate -o flat.h5 " + cone + "--phantom ellipsoids --size 24 --rows 24 --views 12").code, 0);
  ASSERT_EQ(program("simulate -o level.h5 --size 24 --rows 3 --views 12 --quiet").code, 0);
  const auto refuses = [&](const std::string& words, int code, const std::string& part) {
    const Ended ended = program("calibrate " + words);
    EXPECT_EQ(ended.code, code) << words;
    EXPECT_NE(ended.err.find(part), std::string::npos) << ended.err;
    EXPECT_FALSE(program.has("found.npy"));
  };
  refuses("flat.h5 --balls -o found.npy", 4, "balls: ");
  refuses("level.h5 --pixel-size 1 --balls -o found.npy", 4, "parallel beam");
  refuses("flat.h5 --balls -o found.npy --length 0:0:3", 2, "is not A:B:MM");
  refuses("flat.h5 --balls -o found.npy --detector-roll 1", 4, "leave it out");
  std::ofstream(program / "places.txt") << "1 2 3\n4 5\n";
  refuses("flat.h5 --balls -o found.npy --ball-places places.txt", 3, "line 2");
}

}  // namespace
}  // namespace tandem::test
