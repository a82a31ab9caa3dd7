// What scanners write beside images, up to the slices.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../io/sample_files.hpp"
#include "program.hpp"

namespace tandem::test {
namespace {

/// A folder of a few images of Nikon, of so many rows.
void write_nikon(const fs::path& folder, const std::vector<std::string>& more, unsigned height = 9) {
  fs::create_directories(folder);
  for (int k = 1; k <= 6; ++k)
    write_tiff_pages(folder / ("cup_" + std::to_string(k) + ".tif"),
                     {std::vector<double>(std::size_t{13} * height, 40000 + 100.0 * k)},
                     {.rows_per_strip = height, .height = height, .width = 13});
  std::vector<std::string> lines{"[XTekCT]",
                                 "Name=cup",
                                 "InputSeparator=_",
                                 "SrcToObject=120",
                                 "SrcToDetector=600",
                                 "DetectorPixelSizeX=0.2",
                                 "DetectorPixelSizeY=0.2",
                                 "WhiteLevel=60000",
                                 "Projections=6",
                                 "AngularStep=60"};
  lines.insert(lines.end(), more.begin(), more.end());
  write_lines(folder / "cup.xtekct", lines);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(ScannerFiles, ARecordedLeanIsTakenAwayUnlessAnotherIsGiven) {
  const Program run;
  write_nikon(run / "leans", {"ObjectRoll=1.5", "ObjectTilt=-2"});
  write_nikon(run / "upright", {});
  const auto slices = [&](const std::string& arguments) {
    const Ended ended = run("recon " + arguments + " --overwrite -o v.nrrd");
    EXPECT_EQ(ended.code, 0) << ended.err;
    const std::string all = text_of(run / "v.nrrd");  // without the head, which names the scan
    return all.substr(all.find("\n\n") + 2);
  };
  const std::string taken = slices("leans");
  EXPECT_EQ(run("info leans --json i.json").code, 0);
  const nlohmann::json geometry = run.json("i.json")["geometry"];
  EXPECT_NEAR(geometry["detector_roll_deg"].get<double>(), 1.5, 1e-2);
  EXPECT_NEAR(geometry["axis_tilt_deg"].get<double>(), 2, 1e-2);
  EXPECT_EQ(taken, slices("upright --detector-roll " + geometry["detector_roll_deg"].dump() +
                          " --axis-tilt " + geometry["axis_tilt_deg"].dump()));
  EXPECT_EQ(slices("leans --detector-roll 0 --axis-tilt 0"), slices("upright"));
  EXPECT_NE(taken, slices("upright"));
  EXPECT_NE(run("recon leans --overwrite -o v.nrrd").err.find("rolled by 1.5"), std::string::npos);
}

TEST(ScannerFiles, OneRowHasNoLean) {
  const Program run;
  write_nikon(run / "fan", {"ObjectRoll=1.5", "ObjectTilt=2"}, 1);
  const Ended ended = run("recon fan -o v.h5");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_FALSE(has(ended.err, "rolled"));
}

TEST(ScannerFiles, ALeanGoesWithTheImagesThatAreTurned) {
  const Program run;
  write_nikon(run / "leans", {"ObjectRoll=1.5", "ObjectTilt=-2"});
  const auto lean = [&](const std::string& how) {
    EXPECT_EQ(run("info leans --json i.json --orient " + how).code, 0);
    const nlohmann::json geometry = run.json("i.json")["geometry"];
    return std::pair(geometry["detector_roll_deg"], geometry["axis_tilt_deg"]);
  };
  EXPECT_LT(lean("flip-rows").first, 0);
  EXPECT_LT(lean("flip-rows").second, 0);
  EXPECT_LT(lean("flip-columns").first, 0);
  EXPECT_GT(lean("flip-columns").second, 0);
  EXPECT_GT(lean("flip-rows,flip-columns").first, 0);
  EXPECT_TRUE(lean("transpose").first.is_null());
}

TEST(ScannerFiles, ThePlannedAxisIsToldToWhoTakesIt) {
  const Program run;
  for (int k = 0; k < 6; ++k)
    write_tiff_pages(run / ("scan_" + std::to_string(k) + ".tif"),
                     {std::vector<double>(13, 40000 + 100.0 * k)},
                     {.rows_per_strip = 1, .height = 1, .width = 13});
  write_lines(run / "data settings XRE.txt",
              {"SOD = \"120\"", "SDD = \"600\"", "Pixel size = \"0.2\"", "COR = \"6.5\"", "VC = \"0\"",
               "number projections = \"6\"", "Start angle = \"0\"", "Last angle = \"300\""});
  const std::string recon = "recon . -o v.h5 --overwrite --minus-log false ";
  EXPECT_TRUE(has(run(recon).err, "planned (COR)"));
  EXPECT_FALSE(has(run(recon + "--rotation-axis 6").err, "planned (COR)"));
  EXPECT_TRUE(has(run("info .").out, "planned (COR)"));
}

}  // namespace
}  // namespace tandem::test
