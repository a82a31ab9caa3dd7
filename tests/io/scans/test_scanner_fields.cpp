// Fields that scanners write beside their images, and that are not obeyed, or not as they stand there: stale
// plans, cut images, detectors that are rolled.

#include "../../../io/scans/fields.hpp"
#include "scanned_folder.hpp"

namespace tandem::test {

using io::FrameKind;

TEST(FlexRay, ImagesCountWhereThePlanIsStale) {
  const Scanned scan("scan_", 0, 13);
  scan.text("scan settings.txt", flexray);
  scan.text("data settings XRE.txt", xre);  // 9 views from 10 to 370 degrees
  const auto reader = scan.open();
  EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, 13));
  EXPECT_NEAR(angles_of(reader->info().scan)[1] / degree, 40, 1e-9);
  EXPECT_NEAR(angles_of(reader->info().scan)[12] / degree, 370, 1e-9);
  EXPECT_TRUE(
      says(scan.notes(), {"data settings XRE.txt plans 9 views, and there are 13: the images count"}));
}

TEST(FlexRay, ImagesCountWhereNothingWasPlanned) {
  const Scanned scan("scan_", 1, 4);
  scan.text("scan settings.txt", flexray);
  scan.text("data settings XRE.txt", with(xre, "number proj", "number projections = \"0\""));
  expect_degrees(scan.open()->info(), {10, 130, 250, 370});
}

TEST(FlexRay, AnglesOfTheUserComeBeforeThePlan) {
  const Scanned scan("scan_", 0, 13);
  scan.text("scan settings.txt", flexray);
  scan.text("data settings XRE.txt", xre);
  EXPECT_EQ(all_of(*scan.open("", {.arc_deg = 260}), FrameKind::projection), frames(0, 13));
  EXPECT_NEAR(angles_of(scan.open("", {.arc_deg = 260})->info().scan)[12] / degree, 240, 1e-9);
  std::vector<std::string> list(13, "7");
  list.back() = "5";
  scan.text("angles.list", list);
  EXPECT_NEAR(angles_of(scan.open("", {.angles = scan / "angles.list"})->info().scan)[12] / degree, 5, 1e-9);
}

TEST(FlexRay, SaysOfThePlannedAxisToWhoTakesIt) {
  const Scanned scan;
  scan.text("scan settings.txt", flexray);
  scan.text("data settings XRE.txt", xre);
  EXPECT_EQ(scan.notes().find("planned (COR)"), std::string::npos);
  EXPECT_TRUE(says(scan.open()->info().axis_note, {"the axis is the one that the scanner planned (COR)"}));
}

TEST(FlexRay, SaysWhatItDoesNotObey) {
  const Scanned scan;
  scan.text("scan settings.txt", flexray);
  for (const char* line :
       {"Tilt = \"0.5\"", "import binning = \"2\"", "Original number of columns = \"900\""}) {
    scan.text("data settings XRE.txt", and_line(xre, line));
    const std::string key = std::string(line).substr(0, std::string(line).find(" ="));
    EXPECT_TRUE(says(scan.notes(), {"XRE.txt: " + key + " = ", " is left out: "}));
  }
  scan.text("data settings XRE.txt", and_line(xre, "import binning = \"1.000000\""));
  EXPECT_EQ(scan.notes().find("left out"), std::string::npos);
}

TEST(Settings, AnglesOfTheUserAreThoseOfAllImages) {
  const Scanned scan("cup_", 1, 6);
  scan.text("cup.xtekct", nikon);  // 4 views
  EXPECT_TRUE(says(scan.notes(), {"2 images behind the 4 views of cup.xtekct are left out: cup_0005.tif"}));
  EXPECT_EQ(all_of(*scan.open("", {.arc_deg = 360}), FrameKind::projection), frames(0, 6));
}

TEST(SkyScan, SaysWhatItDoesNotObey) {
  const Scanned scan("bone_", 0);
  for (const std::string line :
       {"Image Rotation=-0.35", "Image crop origin X=12", "Image crop origin Y=7", "Partial Width=ON",
        "Postalignment=-1.00", "Number of connected scans=2", "Number Of Horizontal Offset Positions=2",
        "Random Movement=ON (30)", "Camera X/Y Ratio=1.02", "CameraXYRatio=1.02"}) {
    scan.text("bone_.log", and_line(skyscan, line));
    const std::string key = line.substr(0, line.find('='));
    EXPECT_TRUE(says(scan.notes(), {"bone_.log: " + key + " = ", " is left out: "}));
  }
  scan.text("bone_.log", and_line(skyscan, "Scanning Trajectory=SPIRAL"));
  EXPECT_TRUE(says(scan.refused(), {"bone_.log: Scanning Trajectory = SPIRAL: only circles"}));
  auto harmless = skyscan;
  for (const char* line : {"Image Rotation=0.00000", "Image crop origin X=0", "Partial Width=OFF",
                           "Postalignment=0.00", "Number of connected scans=1", "Random Movement=OFF (30)",
                           "Camera X/Y Ratio=1.0000", "Scanning Trajectory=ROUND"})
    harmless.emplace_back(line);
  scan.text("bone_.log", harmless);
  EXPECT_EQ(scan.notes().find("left out"), std::string::npos);
}

TEST(SkyScan, ClaimsNoLineThatIsNotThere) {
  const Scanned scan("bone_", 0);
  auto lines = with(skyscan, "Rotation Dir", "");
  scan.text("bone_.log", lines);
  expect_degrees(scan.open()->info(), {0, -0.6, -1.2, -1.8});
  EXPECT_TRUE(says(scan.notes(), {"bone_.log has no Rotation Direction; CC is taken"}));
  EXPECT_EQ(scan.notes().find("taken from"), std::string::npos);
  lines.emplace_back("Gantry direction=CW");
  lines.emplace_back("Scanning Start Angle=90");
  scan.text("bone_.log", lines);
  expect_degrees(scan.open()->info(), {90, 90.6, 91.2, 91.8});
  EXPECT_TRUE(says(scan.notes(), {"taken from Gantry direction = CW"}));
}

namespace {

/// A line of ASTRA's cone_vec for a source at this angle. The detector is turned about the beam by `roll`,
/// and with its source about the columns by `tilt`, both in degrees, and may be mirrored.
std::string leaning_vector(double degrees, double roll_deg, double tilt_deg, double column, double row) {
  const double s = std::sin(degrees * degree), c = std::cos(degrees * degree), roll = roll_deg * degree,
               tilt = tilt_deg * degree, up = row < 0 ? -1 : 1;
  using Vector = std::array<double, 3>;
  const Vector along{c, s, 0}, level{-s, c, 0};
  Vector beam{}, rise{}, columns{}, rows{}, source{}, middle{};
  for (std::size_t k = 0; k < 3; ++k) {
    const double z = k == 2 ? up : 0;
    beam[k] = std::cos(tilt) * level[k] + std::sin(tilt) * z;
    rise[k] = std::cos(tilt) * z - std::sin(tilt) * level[k];
  }
  const double side = column < 0 ? -1 : 1;
  for (std::size_t k = 0; k < 3; ++k) {
    const double a = side * along[k];
    columns[k] = std::abs(column) * (std::cos(roll) * a + std::sin(roll) * rise[k]);
    rows[k] = std::abs(row) * (std::cos(roll) * rise[k] - std::sin(roll) * a);
    source[k] = -66 * beam[k];
    middle[k] = 133 * beam[k] - 1.25 * columns[k] + 0.5 * rows[k];
  }
  char line[500];
  std::snprintf(line, sizeof line,
                "%.15g %.15g %.15g  %.15g %.15g %.15g  %.15g %.15g %.15g  %.15g %.15g %.15g", source[0],
                source[1], source[2], middle[0], middle[1], middle[2], columns[0], columns[1], columns[2],
                rows[0], rows[1], rows[2]);
  return line;
}

}  // namespace

TEST(AstraVectors, OfARolledDetectorAreARoll) {
  const TemporaryFolder folder;
  constexpr unsigned height = 201, width = 241;
  for (int k = 0; k < 4; ++k)
    write_tiff_pages(folder / ("s_" + std::to_string(k) + ".tif"), {std::vector<double>(height * width, 9)},
                     {.rows_per_strip = height, .height = height, .width = width});
  for (const double column : {0.15, -0.15})
    for (const double row : {0.2, -0.2})
      for (const auto& [roll, tilt] : {std::pair{1.5, 0.0}, {0.0, -3.0}, {-2.0, 4.0}}) {
        std::vector<std::string> lines;
        for (const double angle : {0, 80, 170, 300})
          lines.push_back(leaning_vector(angle, roll, tilt, column, row));
        write_lines(folder / "scan.geom", lines);
        const auto reader = io::open_scan(folder / "scan.geom");
        const io::ScanInfo& info = reader->info();
        EXPECT_NEAR(info.roll_deg.value_or(0), roll, 1e-9);
        EXPECT_NEAR(info.tilt_deg.value_or(0), tilt, 1e-9);
        const ConeBeam& cone = point_source_of(info.scan);
        EXPECT_NEAR(cone.sod, 66, 1e-9);
        EXPECT_NEAR(cone.sdd, 199, 1e-9);
        EXPECT_NEAR(cone.detector.axis_bin, 120 + 1.25, 1e-9);
        EXPECT_NEAR(cone.midplane_row, 100 - 0.5, 1e-9);
        EXPECT_NEAR(cone.detector.bin_pitch, 0.15, 1e-12);
        EXPECT_NEAR(cone.detector.row_pitch, 0.2, 1e-12);
      }
}

TEST(FieldTables, HaveAKeyOnceAndAMeaning) {
  for (const io::FieldTable& table : io::field_tables())
    for (std::size_t k = 0; k < table.fields.size(); ++k) {
      EXPECT_FALSE(table.fields[k].meaning.empty()) << table.fields[k].key;
      for (std::size_t other = 0; other < k; ++other)
        EXPECT_NE(table.fields[k].key, table.fields[other].key) << table.format;
    }
}

}  // namespace tandem::test
