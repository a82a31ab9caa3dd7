// Text files beside images that say how they were taken.

#include <cmath>

#include "scanned_folder.hpp"

namespace tandem::test {

using io::FrameKind;

TEST(FlexRay, FolderNeedsNoNumbers) {
  const Scanned scan("scan_", 0, 4, 2);  // every other view
  scan.add("io000000.tif", 8);
  scan.add("di000000.tif", 9);
  scan.text("scan settings.txt", flexray);
  scan.text("data settings XRE.txt", xre);
  const auto reader = scan.open();
  const io::ScanInfo& info = reader->info();
  EXPECT_EQ(info.format, "TIFF stack with FlexRay settings");
  const ConeBeam& cone = point_source_of(info.scan);
  EXPECT_EQ(kind_of(info.scan), ConeBeam::kind);
  EXPECT_DOUBLE_EQ(cone.sod, 423.5);
  EXPECT_DOUBLE_EQ(cone.sdd, 528.0);
  EXPECT_DOUBLE_EQ(cone.detector.bin_pitch, 0.0748);
  EXPECT_DOUBLE_EQ(cone.detector.row_pitch, 0.0748);
  EXPECT_DOUBLE_EQ(cone.detector.axis_bin, 1.75);
  EXPECT_DOUBLE_EQ(cone.midplane_row, 1.25);
  expect_degrees(info, {10, 100, 190, 280});  // numbers 0, 2, 4, 6 of 9 over 360 degrees with both ends
  EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, 4));
  EXPECT_EQ(all_of(*reader, FrameKind::flat), frames(8, 1));
  EXPECT_EQ(all_of(*reader, FrameKind::dark), frames(9, 1));
  EXPECT_EQ(scan.notes().find("left out"), std::string::npos);
  EXPECT_TRUE(says(scan.notes(), {"4 of the 9 views of data settings XRE.txt are here"}));
  scan.text("data settings XRE.txt", with(xre, "Direction", "Direction = \"-1.0\""));
  expect_degrees(scan.open()->info(), {-10, -100, -190, -280});
}

TEST(FlexRay, OneFileOfTheTwoIsEnough) {
  const Scanned scan;
  scan.text("data settings XRE.txt", [] {
    std::vector<std::string> all = xre;
    for (const char* line : {"SOD = \"423.5\"", "SDD = \"528\"", "Pixel size = \"0.07\""})
      all.emplace_back(line);
    return all;
  }());
  expect_degrees(scan.open()->info(), {10, 55, 100, 145});
  EXPECT_DOUBLE_EQ(point_source_of(scan.open()->info().scan).detector.bin_pitch, 0.07);
  fs::remove(scan / "data settings XRE.txt");
  scan.text("scan settings.txt", flexray);
  EXPECT_TRUE(says(scan.refused(), {"scan settings.txt: angles: missing; give --angles FILE or --arc DEG"}));
  EXPECT_DOUBLE_EQ(detector_of(scan.open("", {.arc_deg = 360})->info().scan).axis_bin, 2.5);
}

TEST(FlexRay, AScanThatWasNotBegunHasNoAngles) {
  const Scanned scan;
  scan.text("scan settings.txt", flexray);
  scan.text("data settings XRE.txt",
            with(with(with(xre, "Start angle", "Start angle = \"0\""), "Last angle", "Last angle = \"0\""),
                 "number projections", "number projections = \"0\""));
  EXPECT_TRUE(says(scan.refused(), {"all 4 views are at 0 deg; give --angles FILE or --arc DEG"}));
  expect_degrees(scan.open("", {.arc_deg = 360})->info(), {0, 90, 180, 270});
}

TEST(Settings, OfTheUserComeFirst) {
  const Scanned scan;
  scan.text("scan settings.txt", flexray);
  scan.text("data settings XRE.txt", xre);
  io::OpenOptions options{.arc_deg = 40, .pixel_size_mm = 0.1, .sod_mm = 100};
  const auto reader = scan.open("", options);
  expect_degrees(reader->info(), {0, 10, 20, 30});
  EXPECT_DOUBLE_EQ(point_source_of(reader->info().scan).sod, 100);
  EXPECT_DOUBLE_EQ(point_source_of(reader->info().scan).sdd, 528);
  EXPECT_DOUBLE_EQ(detector_of(reader->info().scan).bin_pitch, 0.1);
}

TEST(Nikon, GivesGeometryAnglesAndTheWhiteLevel) {
  const Scanned scan("cup_", 1);
  scan.add("other_1.tif", 8);
  scan.add("other_2.tif", 8);
  scan.text("cup.xtekct", nikon);
  for (const std::string name : {"", "cup.xtekct"}) {
    const auto reader = scan.open(name);
    const ConeBeam& cone = point_source_of(reader->info().scan);
    EXPECT_DOUBLE_EQ(cone.sod, 120);
    EXPECT_DOUBLE_EQ(cone.sdd, 600);
    EXPECT_DOUBLE_EQ(cone.detector.bin_pitch, 0.2);
    EXPECT_DOUBLE_EQ(cone.detector.row_pitch, 0.4);
    EXPECT_DOUBLE_EQ(cone.detector.axis_bin, 2 + 0.01 * 5 / 0.2);
    EXPECT_DOUBLE_EQ(cone.midplane_row, 1);
    expect_degrees(reader->info(), {-30, -120, -210, -300});
    EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, 4));
    EXPECT_EQ(all_of(*reader, FrameKind::flat), std::vector<double>(15, 60000.5));
  }
  EXPECT_TRUE(says(scan.notes(), {"2 images with names other than cup_* left out", "60000.5 counts"}));
}

TEST(Nikon, ImagesMayLieBelow) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "raw");
  for (std::size_t k = 0; k < 4; ++k)
    write_tiff_pages(folder / ("raw/cup_" + std::to_string(k) + ".tif"), {frames(k, 1)});
  write_lines(folder / "cup.xtekct", with(nikon, "InputFolderName", "InputFolderName=raw"));
  expect_degrees(io::open_scan(folder / "cup.xtekct")->info(), {-30, -120, -210, -300});  // counted from 0
  write_lines(folder / "cup.xtekct", with(nikon, "InputFolderName", "InputFolderName=..\\raw"));
  EXPECT_TRUE(says(refusal_of(folder / "cup.xtekct"), {"holds no TIFF, EDF or DICOM-CT-PD images"}));
}

TEST(SkyScan, GivesGeometryAnglesAndTheWhiteLevel) {
  const Scanned scan("bone_", 0);
  scan.text("bone_.log", skyscan);
  scan.text("bone__rec.log", skyscan);  // the settings of a reconstruction
  const auto reader = scan.open();
  const ConeBeam& cone = point_source_of(reader->info().scan);
  EXPECT_DOUBLE_EQ(cone.sod, 50);
  EXPECT_DOUBLE_EQ(cone.sdd, 200);
  EXPECT_DOUBLE_EQ(cone.detector.bin_pitch, 0.04);  // 10 microns at the sample, 4 times as large
  EXPECT_DOUBLE_EQ(cone.midplane_row, 2);           // line 0 is the lowest
  expect_degrees(reader->info(), {0, -0.6, -1.2, -1.8});
  EXPECT_EQ(all_of(*reader, FrameKind::flat), std::vector<double>(15, 58000));
  EXPECT_TRUE(says(scan.notes(), {"Rotation Direction = CC"}));
  scan.text("bone_.log", with(skyscan, "Rotation Dir", "Rotation Direction=CW"));
  expect_degrees(scan.open()->info(), {0, 0.6, 1.2, 1.8});
}

TEST(SkyScan, WithoutAPointSourceIsAParallelBeam) {
  const Scanned scan("bone_", 0);
  scan.text("bone_.log", with(skyscan, "Object to", "Object to Source (mm)=1000000"));
  const auto reader = scan.open();
  EXPECT_EQ(kind_of(reader->info().scan), ParallelBeam::kind);
  EXPECT_DOUBLE_EQ(detector_of(reader->info().scan).bin_pitch, 0.01);
}

const std::vector<std::string> tomcat{"User ID : e1",
                                      "File Prefix                 : JC_",
                                      "Number of projections       : 4",
                                      "Number of darks             : 2",
                                      "Number of flats             : 3",
                                      "Number of inter-flats       : 0",
                                      "Rot Y min position  [deg]   : -0.0",
                                      "Rot Y max position  [deg]   : 180.0",
                                      "Rotation axis position      : Standard",
                                      "Angular step [deg]          : 60.000",
                                      "Actual pixel size [um]      : 0.325"};

/// Only the log tells which images are darks and flats.
TEST(Tomcat, ImagesAreToldByTheirOrder) {
  const Scanned scan("JC_", 1, 12);
  scan.text("JC.log", tomcat);
  const auto reader = scan.open();
  std::vector<double> flats = frames(2, 3);
  for (const double value : frames(9, 3)) flats.push_back(value);
  EXPECT_EQ(reader->info().format, "TIFF stack with TOMCAT settings");
  EXPECT_EQ(all_of(*reader, FrameKind::dark), frames(0, 2));
  EXPECT_EQ(all_of(*reader, FrameKind::flat), flats);
  EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(5, 4));
  expect_degrees(reader->info(), {0, 60, 120, 180});
  EXPECT_DOUBLE_EQ(reader->info().pixel_size_mm.value(), 0.000325);
  EXPECT_EQ(reader->info().times.flats, (std::vector<double>{3, 4, 5, 10, 11, 12}));
  EXPECT_TRUE(
      says(scan.notes(), {"JC.log: of the images, 2 are darks, 6 flats and 4 views, by their order"}));
  scan.add("JC_0013.tif", 12);
  EXPECT_TRUE(says(scan.notes(), {"1 images behind them are left out: JC_0013.tif"}));
  const auto given = scan.open("", {.flats = {scan / "JC_0003.tif"}});
  EXPECT_EQ(all_of(*given, FrameKind::flat), frames(2, 1));
  EXPECT_EQ(all_of(*given, FrameKind::projection).size(), 60u);
}

TEST(Tomcat, ThatCannotBeToldIsRefused) {
  const Scanned few("JC_", 1, 5);
  few.text("JC.log", tomcat);
  EXPECT_TRUE(says(few.refused(), {"JC.log: says 2 darks and 3 flats before the views"}));
  const Scanned late("JC_", 3, 12);
  late.text("JC.log", tomcat);
  EXPECT_TRUE(says(late.refused(), {"JC.log: ", "the first image must have the number 0 or 1"}));
  const Scanned among("JC_", 1, 12);
  among.text("JC.log", with(tomcat, "Number of inter", "Number of inter-flats : 3"));
  EXPECT_TRUE(says(among.refused(), {"JC.log: Number of inter-flats = 3: flats lie among the views"}));
}

TEST(Esrf, FolderOfEdfNeedsNoNumbers) {
  const Scanned scan("bone_", 0, 7, 1, ".edf");  // 4 views, and 3 on the way back
  scan.add("refHST0000.edf", 20);
  scan.add("ref0000_0000.edf", 21);
  scan.add("darkend0000.edf", 10);
  scan.text("bone_.info", esrf);
  const auto reader = scan.open();
  const io::ScanInfo& info = reader->info();
  EXPECT_EQ(info.format, "EDF stack with ESRF settings");
  EXPECT_EQ(kind_of(info.scan), ParallelBeam::kind);
  expect_degrees(info, {0, 45, 90, 135});
  EXPECT_DOUBLE_EQ(info.pixel_size_mm.value(), 0.0075);
  EXPECT_DOUBLE_EQ(info.energy_kev.value(), 19.5);
  EXPECT_DOUBLE_EQ(info.propagation_mm.value(), 50);
  EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, 4));
  EXPECT_EQ(all_of(*reader, FrameKind::flat), frames(20, 1));
  std::vector<double> dark = frames(10, 1);
  for (double& value : dark) value = static_cast<float>(value / 10);
  EXPECT_EQ(all_of(*reader, FrameKind::dark), dark);
  EXPECT_TRUE(says(scan.notes(), {"1 image left out, of which refHST0000.edf are the means",
                                  "3 images behind the 4 views of bone_.info are left out: bone_0004.edf",
                                  "sum of 10 darks"}));
  scan.add("dark.edf", 11);  // a mean: taken as it is
  EXPECT_EQ(all_of(*scan.open(), FrameKind::dark), frames(11, 1));
}

TEST(Esrf, XmlSaysTheSame) {
  const Scanned scan("bone_", 0, 4, 1, ".edf");
  scan.text(
      "bone_.xml",
      {"<?xml version=\"1.0\"?>", "<tomodb2><acquisition>", "<tomo_N>4</tomo_N><scanRange>-180</scanRange>",
       "<energy unit=\"keV\">30.25</energy>", "<pixelSize> 0.65 </pixelSize><distance>12</distance>",
       "<projectionSize><DIM_1>5</DIM_1><DIM_2>3</DIM_2></projectionSize>", "</acquisition></tomodb2>"});
  const auto reader = scan.open();
  expect_degrees(reader->info(), {0, -45, -90, -135});
  EXPECT_DOUBLE_EQ(reader->info().energy_kev.value(), 30.25);
  EXPECT_DOUBLE_EQ(reader->info().pixel_size_mm.value(), 0.00065);
  scan.text("bone_.info", esrf);  // comes first
  EXPECT_DOUBLE_EQ(scan.open()->info().energy_kev.value(), 19.5);
}

/// Comments say what was before, and are no values; units beside numbers are theirs.
TEST(Esrf, XmlIsReadAsXml) {
  const Scanned scan("bone_", 0, 4, 1, ".edf");
  scan.text("bone_.xml", {"<!DOCTYPE tomodb2>", "<tomodb2><!-- <pixelSize>7.5</pixelSize> --><acquisition>",
                          "<tomo_N>4</tomo_N><scanRange>18<!-- 36 -->0</scanRange>",
                          "<pixelSize unit=\"mm\">0.00065</pixelSize><distance unit=\"m\">0.012</distance>",
                          "<energy><![CDATA[30.25]]></energy>", "</acquisition></tomodb2>"});
  const auto reader = scan.open();
  expect_degrees(reader->info(), {0, 45, 90, 135});
  EXPECT_DOUBLE_EQ(reader->info().pixel_size_mm.value(), 0.00065);
  EXPECT_DOUBLE_EQ(reader->info().propagation_mm.value(), 12);
  EXPECT_DOUBLE_EQ(reader->info().energy_kev.value(), 30.25);
}

TEST(BadSettings, OfXmlSayInOneLineWhatIsWrong) {
  const Scanned scan("bone_", 0, 4, 1, ".edf");
  const auto of = [&](const std::vector<std::string>& lines) {
    scan.text("bone_.xml", lines);
    return scan.refused();
  };
  EXPECT_TRUE(says(of({"<a>", "<tomo_N>4</tomo_N>"}), {"bone_.xml: is no XML: line "}));
  EXPECT_TRUE(says(of({"<a>", "<tomo_N>4</tomo_N>", "</b>"}), {"bone_.xml: is no XML: line 3: "}));
  EXPECT_TRUE(says(of({"<!DOCTYPE a [<!ENTITY n \"4\">]>", "<a><tomo_N>&n;</tomo_N></a>"}),
                   {"bone_.xml: TOMO_N = \"&n;\"; a finite number is needed"}));
  EXPECT_TRUE(says(of({"<a><tomo_N>4\xff</tomo_N></a>"}), {"bone_.xml: TOMO_N = "}));
  EXPECT_TRUE(says(of({"<a><tomo_N>4</tomo_N><pixelSize unit=\"inch\">1</pixelSize></a>"}),
                   {"bone_.xml: PixelSize: unit = \"inch\" is no length"}));
  EXPECT_TRUE(says(of({"<a><tomo_N>4</tomo_N><energy unit=\"eV\">30</energy></a>"}),
                   {"bone_.xml: Energy: unit = \"eV\"; keV is needed"}));
  std::string deep = "<tomo_N>";
  for (int k = 0; k < 400'000; ++k) deep += "<a>";
  EXPECT_TRUE(says(of({deep}), {"bone_.xml: is no XML"}));
}

TEST(Settings, AnglesGoWithTheNumbersThatAreThere) {
  const Scanned scan("bone_", 0, 4, 1, ".edf");
  scan.text("bone_.info", with(esrf, "TOMO_N", "TOMO_N= 6"));
  fs::remove(scan / "bone_0001.edf");
  expect_degrees(scan.open()->info(), {0, 60, 90});
  EXPECT_TRUE(says(scan.notes(), {"3 of the 6 views of bone_.info are here", "the number 1 is missing",
                                  "each image has the angle of its number"}));
}

TEST(Settings, NamesThatDoNotCountMustBeAllViews) {
  const Scanned scan("a_", 3, 1);
  for (const char* name : {"b.tif", "c.tif", "d.tif"}) scan.add(name, 1);
  scan.text("s.info", esrf);
  expect_degrees(scan.open()->info(), {0, 45, 90, 135});
  fs::remove(scan / "d.tif");
  EXPECT_TRUE(says(scan.refused(), {"s.info: says 4 views; there are 3 images, whose names do not count"}));
  EXPECT_EQ(angles_of(scan.open("", {.arc_deg = 180})->info().scan).size(), 3u);
}

TEST(Settings, OfTwoScansInOneFolderAreNamed) {
  const Scanned scan("cup_", 1);
  for (int k = 1; k < 5; ++k) scan.add("pot_" + std::to_string(k) + ".tif", static_cast<std::size_t>(k + 3));
  scan.text("cup.xtekct", nikon);
  scan.text("pot.xtekct", with(with(nikon, "Name", "Name=pot"), "Initial", "InitialAngle=0"));
  EXPECT_TRUE(
      says(scan.refused(), {"holds the settings of several scans, cup.xtekct, pot.xtekct; give the name"}));
  EXPECT_EQ(all_of(*scan.open("pot.xtekct"), FrameKind::projection), frames(4, 4));
  expect_degrees(scan.open("pot.xtekct")->info(), {0, -90, -180, -270});
  EXPECT_EQ(all_of(*scan.open("cup.xtekct"), FrameKind::projection), frames(0, 4));
}

TEST(BadSettings, SayInOneLineWhatIsWrong) {
  const Scanned scan("cup_", 1);
  const auto of = [&](const std::string& start, const std::string& line) {
    scan.text("cup.xtekct", with(nikon, start, line));
    return scan.refused();
  };
  EXPECT_TRUE(says(of("SrcToObject", "SrcToObject=-5"), {"cup.xtekct: SrcToObject = -5; a number above 0"}));
  EXPECT_TRUE(
      says(of("SrcToObject", "SrcToObject=inf"), {"cup.xtekct: SrcToObject = \"inf\"; a finite number"}));
  EXPECT_TRUE(says(of("SrcToObject", "Src=5"), {"cup.xtekct: has no SrcToObject"}));
  EXPECT_TRUE(says(of("SrcToObject", "SrcToObject=700"),
                   {"cup.xtekct: from source to detector 600 mm, to the axis 700"}));
  EXPECT_TRUE(says(of("SrcToObject", "SrcToObject=1e-308"), {"cup.xtekct"}));
  EXPECT_TRUE(says(of("SrcToDet", "SrcToDetector=1e300"), {"cup.xtekct: "}));
  EXPECT_TRUE(
      says(of("Projections", "Projections=0"), {"cup.xtekct: Projections = 0; a whole number from 1"}));
  EXPECT_TRUE(says(of("Projections", "Projections=-4"), {"cup.xtekct: Projections = -4"}));
  EXPECT_TRUE(says(of("Projections", "Projections=1e30"), {"cup.xtekct: Projections = 1e+30"}));
  EXPECT_TRUE(says(of("Projections", "Projections=2.5"), {"cup.xtekct: Projections = 2.5"}));
  EXPECT_TRUE(says(of("AngularStep", "AngularStep=x"), {"cup.xtekct: AngularStep = \"x\""}));
  EXPECT_TRUE(says(of("AngularStep", "AngularStep=1e9"), {"cup.xtekct: a step, in degrees, of -1e+09"}));
  EXPECT_TRUE(
      says(of("DetectorPixelsX", "DetectorPixelsX=7"), {"cup.xtekct: says images of 3 rows and 7 bins"}));
  EXPECT_TRUE(
      says(of("Name", "Name=" + std::string(5 << 20, 'x')), {"cup.xtekct: has 5", "bytes; a text file"}));
}

/// Lines of ASTRA's cone_vec for a circle with upright detectors of this step, axis and midplane; `sense` of
/// the columns and rows.
std::vector<std::string> vectors(const std::vector<double>& degrees, double column, double row,
                                 double tilt = 0) {
  std::vector<std::string> lines;
  for (const double angle : degrees) {
    const double s = std::sin(angle * degree), c = std::cos(angle * degree), up = 0.7;
    const double middle = -0.25 * column;  // middle of the detector: the axis is 0.25 columns behind it
    char line[400];
    std::snprintf(line, sizeof line,
                  "%.15g %.15g %.15g  %.15g %.15g %.15g  %.15g %.15g %.15g  %.15g %.15g %.15g", 66 * s,
                  -66 * c, up, -133 * s + middle * c, 133 * c + middle * s, up + 0.5 * row, column * c,
                  column * s, tilt, 0.0, 0.0, row);
    lines.emplace_back(line);
  }
  return lines;
}

TEST(AstraVectors, OfACircleAreItsGeometry) {
  const Scanned scan;
  for (const double column : {0.15, -0.15})
    for (const double row : {0.2, -0.2}) {
      scan.text("scan.geom", vectors({0, 80, 170, 300}, column, row));
      EXPECT_TRUE(says(scan.refused(), {"angles: missing"}));  // it must be named
      const auto reader = scan.open("scan.geom");
      const ConeBeam& cone = point_source_of(reader->info().scan);
      EXPECT_NEAR(cone.sod, 66, 1e-9);
      EXPECT_NEAR(cone.sdd, 199, 1e-9);
      EXPECT_NEAR(cone.detector.bin_pitch, 0.15, 1e-12);
      EXPECT_NEAR(cone.detector.row_pitch, 0.2, 1e-12);
      EXPECT_NEAR(cone.detector.axis_bin, 2 + 0.25, 1e-9);
      EXPECT_NEAR(cone.midplane_row, 1 - 0.5, 1e-9);
      const double sense = column < 0 ? -1 : 1;
      expect_degrees(reader->info(), {0, sense * 80, sense * 170, sense * -60});
    }
}

TEST(AstraVectors, OffACircleAreTakenAsTheyAre) {
  const Scanned scan;
  auto lines = vectors({0, 80, 170, 300}, 0.15, 0.15);
  lines[2] = vectors({170}, 0.15, 0.15, 0.15)[0];
  scan.text("scan.geom", lines);
  const auto reader = scan.open("scan.geom");
  EXPECT_EQ(kind_of(reader->info().scan), FlexibleBeam::kind);
  EXPECT_TRUE(says(scan.notes("scan.geom"), {"scan.geom: view 2 is ", "pixels off a circle"}));
}

TEST(AstraVectors, SayInOneLineWhatIsWrong) {
  const Scanned scan;
  scan.text("scan.geom", {"1 2 3 4 5 6 7 8 9 10 11"});
  EXPECT_TRUE(says(scan.refused("scan.geom"), {"scan.geom: line 1: number 12 of 12 is missing"}));
  scan.text("scan.geom", {"1 2 3 4 5 6 7 8 9 10 11 nan"});
  EXPECT_TRUE(
      says(scan.refused("scan.geom"), {"scan.geom: line 1: number 12 of 12 is missing or not finite"}));
  scan.text("scan.geom", {"0 0 0 0 0 0 0 0 0 0 0 0"});
  EXPECT_TRUE(says(scan.refused("scan.geom"), {"scan.geom: 1 views for 4 images"}));
  scan.text("scan.geom", std::vector<std::string>(4, "0 0 0 0 0 0 0 0 0 0 0 0"));
  EXPECT_TRUE(says(scan.refused<GeometryError>("scan.geom"),
                   {"scan.geom", "view 0: bin_step or row_step has no length"}));
  scan.text("scan.geom", vectors({0, 80, 170}, 0.15, 0.15));
  EXPECT_TRUE(says(scan.refused("scan.geom"), {"scan.geom", "3 angles for 4 views"}));
}

}  // namespace tandem::test
