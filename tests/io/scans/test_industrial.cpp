// Settings of industrial scanners: phoenix, North Star Imaging, Diondo, YXLON. The readers
// named in io/scans/settings say the expected places.

#include <array>
#include <cmath>
#include <utility>

#include "../../../io/files/text.hpp"
#include "scanned_folder.hpp"

namespace tandem::test {

namespace {

const std::vector<std::string> pca{"[General]",      "Version-pca=2",    "[Geometry]",
                                   "FDD=800",        "FOD=200",          "VoxelSizeX=0.05",
                                   "VoxelSizeY=0.1", "CalibValue=0.000", "Tilt=0.00000000",
                                   "[CT]",           "NumberImages=4",   "RotationSector=360.00000000",
                                   "[CalibValue]",   "NumberImages=18",  "[Image]",
                                   "DimX=5",         "DimY=3",           "Rotation=0",
                                   "FreeRay=3401",   "[Detector]",       "PixelsizeX=0.3",
                                   "PixelsizeY=0.3"};

const std::vector<std::string> diondo{"<?xml version=\"1.0\"?>",
                                      "<Scan><ScanParameter><HelixMode>false</HelixMode>",
                                      "<Laminography>false</Laminography></ScanParameter>",
                                      "<Geometrie><SourceDetectorDist>800</SourceDetectorDist>",
                                      "<SourceObjectDist>200</SourceObjectDist></Geometrie>",
                                      "<Recon><ProjectionCount>4</ProjectionCount>",
                                      "<ProjectionCountPer360deg>5</ProjectionCountPer360deg>",
                                      "<ProjectionDimX>5</ProjectionDimX><ProjectionDimY>3</ProjectionDimY>",
                                      "<ProjectionPixelSizeX>0.2</ProjectionPixelSizeX>",
                                      "<ProjectionPixelSizeY>0.4</ProjectionPixelSizeY>",
                                      "<ProjectionCenterOffsetX>0</ProjectionCenterOffsetX></Recon></Scan>"};

const std::vector<std::string> yxlon{
    "<Scan xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"><ConeBeamScanParameter>",
    "<PixelSize><Width>0.2</Width><Height>0.4</Height></PixelSize>",
    "<ProjectionSize><Width>5</Width><Height>3</Height></ProjectionSize>",
    "<ProjectionBitdepth>16</ProjectionBitdepth>",
    "<ScanTrajectory "
    "xsi:type=\"CircleTrajectory\"><PixelPitch>0.2</PixelPitch><Fdd>4000</Fdd><Fod>1000</Fod>",
    "<YoCenter>0</YoCenter>",
    "<NumberOfProjections>4</NumberOfProjections>",
    "<StartAngle>30</StartAngle><Rotation>360</Rotation></ScanTrajectory>",
    "<DejustmentParameter><HorizontalDetectorOffset>0.75</HorizontalDetectorOffset>",
    "<VerticalDetectorOffset>-0.5</VerticalDetectorOffset></DejustmentParameter>",
    "</ConeBeamScanParameter></Scan>"};

/// Four views; the axis at bin 1.8, the midplane at row 0.8.
const std::vector<std::string> nsipro{"<NSI Reconstruction Project>",
                                      "  <CT Project Configuration>",
                                      "    <Object Radiograph>",
                                      "      <pitch>0.5 0.5",
                                      "      <number>4",
                                      "      <angleStep>90",
                                      "    </Object Radiograph>",
                                      "    <Detector>",
                                      "      <width pixels>5",
                                      "      <height pixels>3",
                                      "      <pitch>7 7",
                                      "    </Detector>",
                                      "    <Correction>",
                                      "      <rotate>0",
                                      "      <flipH>False",
                                      "      <flipV>False",
                                      "    </Correction>",
                                      "    <Processed>",
                                      "      <clockwise>True",
                                      "    </Processed>",
                                      "    <Result>",
                                      "      <source>0 0.2 400",
                                      "      <reference>-0.9 0.6 -200",
                                      "      <axis>0 1 0",
                                      "      <normal>0 0 -1",
                                      "      <horizontal>1 0 0",
                                      "    </Result>",
                                      "  </CT Project Configuration>",
                                      "</NSI Reconstruction Project>"};

/// Requires distances, pitches, axis and midplane.
void expect_cone(const io::ScanInfo& info, const std::vector<double>& expected) {
  ASSERT_EQ(kind_of(info.scan), ConeBeam::kind);
  const ConeBeam& c = point_source_of(info.scan);
  const std::vector<double> found{
      c.sod, c.sdd, c.detector.bin_pitch, c.detector.row_pitch, c.detector.axis_bin, c.midplane_row};
  for (std::size_t k = 0; k < found.size(); ++k) EXPECT_NEAR(found[k], expected[k], 1e-9) << k;
}

/// The steps from one view to the next, in degrees from -180 to 180.
void expect_steps(const io::ScanInfo& info, double step) {
  const std::vector<double>& angles = angles_of(info.scan);
  for (std::size_t k = 1; k < angles.size(); ++k)
    EXPECT_NEAR(std::remainder(angles[k] - angles[k - 1], 360 * degree) / degree, step, 1e-9) << k;
}

std::string replaced(std::string line, const std::string& from, const std::string& to) {
  return line.replace(line.find(from), from.size(), to);
}

}  // namespace

TEST(Phoenix, GivesTheGeometry) {
  const Scanned scan("cup", 1);
  scan.text("cup.pca", pca);
  const auto reader = scan.open();
  EXPECT_EQ(reader->info().format, "TIFF stack with phoenix datos|x settings");
  expect_cone(reader->info(), {200, 800, 0.2, 0.4, 2, 1});
  expect_degrees(reader->info(), {0, 90, 180, 270});
  EXPECT_EQ(all_of(*reader, io::FrameKind::flat), std::vector<double>(15, 3401));
  EXPECT_TRUE(says(scan.notes(), {"does not say which way the sample turns", "--rotation-direction -1"}));
  scan.text("cup.pca", with(with(pca, "VoxelSizeX", ""), "VoxelSizeY", ""));
  expect_cone(scan.open()->info(), {200, 800, 0.3, 0.3, 2, 1});
}

TEST(Phoenix, SaysWhatItDoesNotObey) {
  const Scanned scan("cup", 1);
  for (const auto& [start, line] : std::vector<std::pair<std::string, std::string>>{
           {"CalibValue", "CalibValue=-1.2"}, {"Tilt", "Tilt=0.3"}, {"Rotation=", "Rotation=90"}}) {
    scan.text("cup.pca", with(pca, start, line));
    EXPECT_TRUE(says(scan.notes(), {"cup.pca", line.substr(0, line.find('=')), " is left out: "}));
  }
  scan.text("cup.pca", with(pca, "RotationSector", "NoRotation=1"));
  EXPECT_TRUE(says(scan.refused(), {"cup.pca: CT/NoRotation = 1: only circles"}));
  scan.text("cup.pca", with(pca, "FOD", "FOD=0"));
  EXPECT_TRUE(says(scan.refused(), {"cup.pca: Geometry/FOD = 0; a number above 0 is needed"}));
  scan.text("cup.pca", with(pca, "FOD", ""));
  EXPECT_TRUE(says(scan.refused(), {"cup.pca: has no FOD or no FDD"}));
}

TEST(Diondo, GivesTheGeometry) {
  const Scanned scan("p_", 0);
  scan.text("scan.xml", diondo);
  const auto reader = scan.open();
  expect_cone(reader->info(), {200, 800, 0.2, 0.4, 2, 1});
  expect_degrees(reader->info(), {0, -72, -144, -216});
  EXPECT_EQ(all_of(*reader, io::FrameKind::flat), std::vector<double>(15, 65535));
  scan.text("scan.xml", with(diondo, "<Scan>", "<Scan><ScanParameter><HelixMode>true</HelixMode>"));
  EXPECT_TRUE(says(scan.refused(), {"scan.xml: HelixMode = true: only circles are reconstructed"}));
  scan.text("scan.xml", with(diondo, "<Geometrie>", "<Geometrie><SourceObjectDist>200</SourceObjectDist>"));
  EXPECT_TRUE(says(scan.refused(), {"scan.xml: has no SourceObjectDist or no SourceDetectorDist"}));
  scan.text("scan.xml", with(diondo, "<ProjectionCenter",
                             "<ProjectionCenterOffsetX>3</ProjectionCenterOffsetX></Recon></Scan>"));
  EXPECT_TRUE(says(scan.notes(), {"ProjectionCenterOffsetX = 3 is left out", "--rotation-axis auto"}));
}

TEST(Yxlon, GivesTheGeometry) {
  const Scanned scan("p_", 0);
  scan.text("ScanParameter.xml", yxlon);
  const auto reader = scan.open();
  expect_cone(reader->info(), {200, 800, 0.2, 0.4, 2.75, 0.5});
  expect_degrees(reader->info(), {30, -60, -150, -240});
  EXPECT_EQ(all_of(*reader, io::FrameKind::flat), std::vector<double>(15, 65535));
  EXPECT_TRUE(says(reader->info().axis_note, {"HorizontalDetectorOffset, with the sign of TIGRE 3"}));
  scan.text("ScanParameter.xml", with(yxlon, "<YoCenter>", "<YoCenter>7</YoCenter>"));
  EXPECT_TRUE(says(scan.notes(), {"YoCenter = 7 is left out", "--rotation-axis auto"}));
  std::vector<std::string> helix = yxlon;
  helix[4] = replaced(helix[4], "CircleTrajectory", "HelixTrajectory");
  scan.text("ScanParameter.xml", helix);
  EXPECT_TRUE(says(scan.refused(), {"ScanParameter.xml: its ScanTrajectory is no CircleTrajectory"}));
}

TEST(NorthStar, GivesTheGeometry) {
  const Scanned scan("p_", 0);
  scan.text("scan.nsipro", nsipro);
  expect_cone(scan.open()->info(), {400, 600, 0.5, 0.5, 1.8, 0.8});
  expect_steps(scan.open()->info(), 90);
  EXPECT_TRUE(says(scan.notes(), {"the detector lies as <reference> says", "gain0.tif", "--flats"}));
  scan.text("scan.nsipro", with(nsipro, "      <clockwise>", "<clockwise>False"));
  expect_steps(scan.open()->info(), -90);
  scan.text("scan.nsipro", with(nsipro, "      <axis>", "<axis>0 -1 0"));
  expect_steps(scan.open()->info(), 90);
  scan.text("Geometry Report.rtf", {"{\\rtf1 Image center\\tab (-1.15, 0.35) [mm]  / (1, 2) [in]}"});
  expect_cone(scan.open()->info(), {400, 600, 0.5, 0.5, 2.3, 0.3});
  EXPECT_TRUE(says(scan.notes(), {"the detector lies as", "Geometry Report.rtf says"}));
}

/// A mirrored image has its axis on the other side, and the sample turns the other way; so it does in an
/// image that is upside down.
TEST(NorthStar, TurnsTheDetectorWithItsImages) {
  const Scanned scan("p_", 0);
  scan.text("scan.nsipro", with(nsipro, "      <flipH>", "<flipH>True"));
  expect_cone(scan.open()->info(), {400, 600, 0.5, 0.5, 4 - 1.8, 0.8});
  expect_steps(scan.open()->info(), -90);
  scan.text("scan.nsipro", with(nsipro, "      <rotate>", "<rotate>180"));
  expect_cone(scan.open()->info(), {400, 600, 0.5, 0.5, 4 - 1.8, 2 - 0.8});
  expect_steps(scan.open()->info(), -90);
}

TEST(NorthStar, ThatIsDamagedIsRefused) {
  const Scanned scan("p_", 0);
  for (const auto& [start, line, why] : std::vector<std::array<std::string, 3>>{
           {"      <source>", "<source>0 1", "result/source has not 3 numbers"},
           {"      <axis>", "<axis>0 0 0", "result/axis has no length"},
           {"      <rotate>", "<rotate>45", "Correction/rotate = 45; 0, 90, 180 or 270"},
           {"      <angleStep>", "<angleStep>1,5", "angleStep = \"1,5\"; a finite number is needed"},
           {"      <clockwise>", "<clockwise>yes", "clockwise = yes; True or False is needed"},
           {"      <number>", "<number>1e8", "has no width pixels"},
           {"      <width", "<width pixels>7", "says images of 3 rows and 7 bins"}}) {
    scan.text("scan.nsipro", with(nsipro, start, line));
    EXPECT_NE(io::in_lower_case(scan.refused()).find(io::in_lower_case(why)), std::string::npos)
        << scan.refused();
  }
}

TEST(Scans, OfFormatsWithoutADescriptionSayWhatToGive) {
  const TemporaryFolder folder;
  for (const auto& [name, why] : std::vector<std::pair<std::string, std::string>>{
           {"a.rek", "--raw TYPE,BINSxROWS,header=2048"}, {"a.vgi", "give the images of the scan"}}) {
    write_lines(folder / name, {"something"});
    EXPECT_TRUE(says(refusal_of(folder / name), {name, why}));
  }
}

}  // namespace tandem::test
