// tandem calibrate, the whole program.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

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

/// Writes the views of a file as text, with detectors that are moved by other parts of a bin and a row in
/// each view. Returns by how much they are, without the mean and what goes once up and down a turn.
std::vector<double> shake(const Program& program, const std::string& from, const std::string& to) {
  std::ifstream in(program / from);
  std::ofstream out(program / to);
  out << std::setprecision(17);
  std::vector<double> rows;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::vector<double> n;
    for (double number = 0; words >> number;) n.push_back(number);
    if (n.size() != 12) {
      out << line << '\n';
      continue;
    }
    const auto k = static_cast<double>(rows.size());
    const double bin = 0.7 * std::sin(2.4 * k), row = 0.7 * std::cos(1.7 * k);
    for (std::size_t i = 3; i < 6; ++i) n[i] -= bin * n[i + 3] + row * n[i + 6];
    for (const double number : n) out << number << ' ';
    out << '\n';
    rows.push_back(row);
  }
  double mean = 0;
  for (const double row : rows) mean += row / static_cast<double>(rows.size());
  for (double& row : rows) row -= mean;
  return rows;
}

TEST(Calibrate, FindsWhereEachViewIs) {
  const Program program;
  const std::string cells = "--pixel-size 1 --size 40 --bins 40 --rows 32 --phantom ellipsoids --quiet ";
  ASSERT_EQ(program("simulate -o level.h5 --views 60 " + cells).code, 0);
  ASSERT_EQ(program("info level.h5 --write-geometry level.txt").code, 0);
  const std::vector<double> rows = shake(program, "level.txt", "shaken.txt");
  ASSERT_EQ(rows.size(), 60u);
  ASSERT_EQ(program("simulate -o shaken.h5 --geometry shaken.txt " + cells).code, 0);
  const Ended ended = program(
      "calibrate shaken.h5 --geometry level.txt --pixel-size 1 --each-view -o found.npy --json found.json "
      "--preview found.png");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const nlohmann::json report = program.json("found.json");
  EXPECT_EQ(report["row_shifts_verdict"], "resolved");
  double off = 0;
  for (std::size_t k = 0; k < rows.size(); ++k)
    off += std::pow(report["row_shifts"]["value"][k].get<double>() - rows[k], 2);
  EXPECT_LT(std::sqrt(off / 60), 0.08);  // cells: what is asked for
  EXPECT_EQ(report["bin_shifts"]["uncertainty"].size(), 60u);
  EXPECT_LT(report["misfit"], 0.6 * report["misfit_before"].get<double>());
  EXPECT_FALSE(report.contains("view_rolls_deg"));
  EXPECT_TRUE(program.has("found.png"));
  EXPECT_EQ(program("recon shaken.h5 --geometry found.npy -o volume.h5 --quiet").code, 0);
}

/// One row tells no roll and no midplane, which is no matter of views. No picture is asked for, and none is
/// made.
TEST(Calibrate, NamesWhyAFanTellsNoMidplane) {
  const Program program;
  ASSERT_EQ(
      program("simulate -o fan.h5 " + cone + "--size 64 --bins 64 --rows 1 --views 90 --axis-bin 30.4").code,
      0);
  const Ended ended = program(
      "calibrate fan.h5 --geometry fan --sod 200 --sdd 300 --pixel-size 0.8 --arc 360 "
      "--device cpu -o found.npy --json found.json");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const nlohmann::json report = program.json("found.json");
  EXPECT_NEAR(report["axis_bin"]["value"], 30.4, 0.1);
  EXPECT_EQ(report["not_told"][0]["what"], "roll_deg");
  EXPECT_EQ(report["not_told"][0]["why"], "a detector of so few rows does not tell it");
  EXPECT_EQ(report["not_told"][1]["what"], "midplane_row");
  EXPECT_EQ(report["not_told"][1]["why"],
            "frames of fewer than 24 rows or bins, once cells are joined, make no slices that tell it");
  EXPECT_EQ(report["device"], "cpu");
  EXPECT_TRUE(report["seconds"].contains("opposite_rays"));
  EXPECT_FALSE(report["seconds"].contains("pictures"));
}

TEST(Calibrate, MakesUpNoShiftsOfViews) {
  const Program program;
  ASSERT_EQ(program("simulate -o air.h5 --pixel-size 1 --size 40 --rows 24 --views 40 --max-attenuation 1e-6 "
                    "--photons 100 --seed 3 --quiet")
                .code,
            0);
  const auto refuses = [&](const std::string& words, int code, const std::string& part) {
    const Ended ended = program("calibrate air.h5 -o found.npy " + words);
    EXPECT_EQ(ended.code, code) << words;
    EXPECT_NE(ended.err.find(part), std::string::npos) << ended.err;
    EXPECT_FALSE(program.has("found.npy"));
  };
  refuses("--pixel-size 1 --each-view", 4, "nothing in the frames tells shifts of views");
  refuses("--pixel-size 1 --drift 2", 2, "--each-view");
  refuses("--pixel-size 1 --rotation-axis 3", 2, "--each-view");
  refuses("--pixel-size 1 --each-view --balls", 2, "--balls");
  refuses("--pixel-size 1 --each-view --drift 0", 2, "--drift");
}

/// Laminography whose rays rise by another angle than the file of the views says.
TEST(Calibrate, FindsTheElevationOfLaminography) {
  const Program program;
  const std::string cells =
      "--trajectory laminography --pixel-size 1 --size 80 --bins 80 --rows 56 --views 100 --phantom plate "
      "--quiet ";
  ASSERT_EQ(program("simulate -o scan.h5 --elevation 41 --axis-bin 40.1 --photons 1e4 " + cells).code, 0);
  ASSERT_EQ(program("simulate -o level.h5 --elevation 40 " + cells).code, 0);
  ASSERT_EQ(program("info level.h5 --write-geometry level.txt").code, 0);
  const std::string command =
      "calibrate scan.h5 --geometry level.txt --pixel-size 1 -o found.npy --json found.json ";
  const Ended ended = program(command);
  ASSERT_EQ(ended.code, 0) << ended.err;
  const nlohmann::json report = program.json("found.json");
  EXPECT_NEAR(report["elevation_deg"]["value"], 41, 0.1);  // 0.05 cells at the edge of the plate
  EXPECT_NEAR(report["axis_bin"]["value"], 40.1, 0.05);
  EXPECT_NEAR(report["roll_deg"]["value"], 0, 0.2);
  EXPECT_EQ(program("recon scan.h5 --geometry found.npy -o volume.h5 --quiet").code, 0);
  const Ended quarter = program(command + "--views 0:25:1 --overwrite");
  EXPECT_EQ(quarter.code, 4);
  EXPECT_NE(quarter.err.find("slices do not tell where these views were"), std::string::npos) << quarter.err;
}

/// The midplane of the scan is left out for `calibrate`.
TEST(Calibrate, CountsInBinsWithoutAPixelSize) {
  const Program program;
  ASSERT_EQ(
      program("simulate -o s.h5 --size 40 --rows 24 --views 40 --phantom ellipsoids --axis-bin 20.5 --quiet")
          .code,
      0);
  const Ended ended = program("calibrate s.h5 -o bins.npy --json bins.json");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("no pixel size: lengths of the views are in bins"), std::string::npos)
      << ended.err;
  ASSERT_EQ(program("calibrate s.h5 -o mm.npy --json mm.json --pixel-size 1").code, 0);
  EXPECT_EQ(text_of(program / "bins.npy"), text_of(program / "mm.npy"));
  EXPECT_NEAR(program.json("bins.json")["axis_bin"]["value"], 20.5, 0.1);
  const Ended balls = program("calibrate s.h5 -o balls.npy --balls");
  EXPECT_EQ(balls.code, 4);
  EXPECT_NE(balls.err.find("s.h5: has no pixel size, which places of balls need"), std::string::npos);
}

TEST(Calibrate, FindsTheMidplaneOfACone) {
  const Program program;
  const std::string given = "--geometry cone --sod 120 --sdd 180 --pixel-size 1 --quiet ";
  ASSERT_EQ(
      program(
          "simulate -o scan.h5 " + given +
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
  EXPECT_EQ(midplane["told_by"], "opposite rays");
  EXPECT_NEAR(midplane["value"], 36.5, 1);
  EXPECT_LT(midplane["uncertainty"], 0.5);
  EXPECT_EQ(report["searches"].size(), 1u);
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
