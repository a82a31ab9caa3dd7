#include <tiffio.h>

#include <chrono>
#include <fstream>
#include <numbers>

#include "../../../core/units.hpp"
#include "../data_sets.hpp"

namespace tandem::test {

using io::FrameKind;
using io::PixelType;

namespace {

const io::OpenOptions half_turn{.arc_deg = 180};

void write_stack(const fs::path& folder) {
  fs::create_directories(folder);
  for (std::size_t v = 0; v < views; ++v)
    write_tiff_pages(folder / ("view_" + std::to_string(v) + ".tif"), {frames(v, 1)});
}

}  // namespace

class TiffKinds : public ::testing::TestWithParam<TiffOptions> {};

TEST_P(TiffKinds, AreReadWholeAndInPart) {
  const TemporaryFolder folder;
  write_tiff_pages(folder / "stack.tif", {frames(0, 1), frames(1, 1), frames(2, 1), frames(3, 1)},
                   GetParam());
  const auto reader = io::open_scan(folder / "stack.tif", half_turn);
  EXPECT_EQ(reader->info().format, "TIFF stack");
  EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, views));
  const std::vector<double> part{pixel(2, 1, 1), pixel(2, 1, 2), pixel(2, 2, 1), pixel(2, 2, 2)};
  EXPECT_EQ(values(reader->read(FrameKind::projection, {2, 3}, {1, 3}, {1, 3})), part);
  EXPECT_EQ(
      values(reader->read(FrameKind::projection, {2, 3}, {2, 3}, {0, 5})),
      (std::vector<double>{pixel(2, 2, 0), pixel(2, 2, 1), pixel(2, 2, 2), pixel(2, 2, 3), pixel(2, 2, 4)}));
}

INSTANTIATE_TEST_SUITE_P(
    All, TiffKinds,
    ::testing::Values(TiffOptions{.mode = "wb", .bits = 16}, TiffOptions{.mode = "wl", .bits = 16},
                      TiffOptions{.mode = "w8", .bits = 16}, TiffOptions{.bits = 8},
                      TiffOptions{.mode = "wb", .bits = 32}, TiffOptions{.bits = 32, .format = 3},
                      TiffOptions{.mode = "wb", .bits = 32, .format = 3},
                      TiffOptions{.mode = "wb", .bits = 64, .format = 3}, TiffOptions{.bits = 8, .format = 2},
                      TiffOptions{.bits = 16, .format = 2}, TiffOptions{.bits = 32, .format = 2},
                      TiffOptions{.mode = "wb", .bits = 16, .compression = 5},
                      TiffOptions{.bits = 32, .format = 3, .compression = 8, .rows_per_strip = 9},
                      TiffOptions{.bits = 16, .tile = 16},
                      TiffOptions{.mode = "wb", .bits = 16, .compression = 5, .tile = 16}));

TEST(Tiff, KeepsItsOwnNumberType) {
  const TemporaryFolder folder;
  const auto type_of = [&](const TiffOptions& options) {
    write_tiff_pages(folder / "image.tif", {frames(0, 1)}, options);
    return io::open_scan(folder / "image.tif", half_turn)->info().type;
  };
  EXPECT_EQ(type_of({.bits = 8}), PixelType::uint8);
  EXPECT_EQ(type_of({.bits = 16}), PixelType::uint16);
  EXPECT_EQ(type_of({.bits = 32}), PixelType::uint32);
  EXPECT_EQ(type_of({.bits = 32, .format = 3}), PixelType::float32);
  EXPECT_EQ(type_of({.bits = 16, .format = 2}), PixelType::float32);
}

TEST(Tiff, RefusesImagesThatAreNotPlainGrey) {
  const TemporaryFolder folder;
  const auto refused = [&](const TiffOptions& options) {
    write_tiff_pages(folder / "image.tif", {std::vector<double>(45)}, options);
    return refusal_of(folder / "image.tif", half_turn);
  };
  EXPECT_TRUE(says(refused({.bits = 8, .samples = 3, .photometric = 2}), {"image.tif", "3 samples", "grey"}));
  EXPECT_TRUE(says(refused({.bits = 16, .photometric = 0}), {"image.tif", "photometric interpretation 0"}));
  EXPECT_TRUE(says(refused({.bits = 64, .format = 1}), {"image.tif", "64-bit", "8, 16 or 32"}));
}

TEST(TiffStack, FollowsTheOrderOfNames) {
  const TemporaryFolder folder;
  write_stack(folder / "stack");
  write_lines(folder / "stack/notes.txt", {"no image"});
  const auto reader = io::open_scan(folder / "stack", half_turn);
  EXPECT_EQ(reader->info().format, "TIFF stack");
  EXPECT_EQ(detector_of(reader->info().scan).rows, 3);
  EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, views));
}

TEST(TiffStack, IsReadInAnyPartByAnyThread) {
  const TemporaryFolder folder;
  write_stack(folder / "stack");
  std::vector<std::vector<double>> pages;
  for (std::size_t view = 0; view < views; ++view) pages.push_back(frames(view, 1));
  write_tiff_pages(folder / "packed.tif", pages, {.bits = 32, .format = 3, .compression = 8});
  write_tiff_pages(folder / "strips.tif", pages, {.mode = "wb", .rows_per_strip = 1});
  for (const char* name : {"stack", "packed.tif", "strips.tif"}) {
    const auto reader = io::open_scan(folder / name, half_turn);
    for (Index y = 0; y < 3; ++y)
      for (Index x = 0; x < 5; ++x)
        EXPECT_EQ(values(reader->read(FrameKind::projection, {1, 4}, {y, y + 1}, {x, 5})),
                  part_of(frames(0, views), {views, rows, bins}, {{1, 4}, {y, y + 1}, {x, 5}}))
            << name;
  }
}

TEST(TiffStack, WhoseStripsLieInAnyOrderIsReadInTheirOrder) {
  const TemporaryFolder folder;
  const fs::path path = folder / "s.tif";
  TIFF* tiff = TIFFOpen(path.c_str(), "w");
  for (const auto& [tag, value] : std::vector<std::pair<std::uint32_t, std::uint32_t>>{
           {TIFFTAG_IMAGEWIDTH, 3}, {TIFFTAG_IMAGELENGTH, 7}, {TIFFTAG_ROWSPERSTRIP, 2}})
    TIFFSetField(tiff, tag, value);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  for (const std::uint32_t strip : {2u, 3u, 0u, 1u}) {  // 2 and 3 are side by side, and so are 0 and 1
    std::vector<std::uint8_t> lines(strip == 3 ? 3 : 6);
    for (std::size_t i = 0; i < lines.size(); ++i) lines[i] = static_cast<std::uint8_t>(6 * strip + i);
    TIFFWriteEncodedStrip(tiff, strip, lines.data(), static_cast<tmsize_t>(lines.size()));
  }
  TIFFClose(tiff);
  std::vector<double> all;
  for (int i = 0; i < 21; ++i) all.push_back(i);
  const auto reader = io::open_scan(path, half_turn);  // a sinogram
  EXPECT_EQ(all_of(*reader, FrameKind::projection), all);
  EXPECT_EQ(values(reader->read(FrameKind::projection, {1, 6}, {0, 1}, {1, 3})),
            part_of(all, {7, 3}, {{1, 6}, {1, 3}}));
}

TEST(TiffStack, ThatHasChangedSinceItWasOpenedIsRefused) {
  const TemporaryFolder folder;
  write_stack(folder / "stack");
  const auto reader = io::open_scan(folder / "stack", half_turn);
  const fs::path path = *fs::directory_iterator(folder / "stack");
  fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
  EXPECT_TRUE(says(refusal([&] { all_of(*reader, FrameKind::projection); }),
                   {path.filename().string(), "was written to since it was opened"}));
  fs::resize_file(path, fs::file_size(path) - 1);
  EXPECT_TRUE(says(refusal([&] { all_of(*reader, FrameKind::projection); }),
                   {path.filename().string(), "bytes when it was opened"}));
}

TEST(TiffStack, TakesFlatsAndDarksFromFilesAndFolders) {
  const TemporaryFolder folder;
  write_stack(folder / "stack");
  write_stack(folder / "flats");
  write_tiff_pages(folder / "dark.tif", {frames(5, 1)}, {.bits = 32, .format = 3});
  write_tiff_pages(folder / "flat.tif", {frames(6, 1)}, {.bits = 32, .format = 3});
  io::OpenOptions options = half_turn;
  options.flats = {folder / "flats"};
  options.darks = {folder / "dark.tif"};
  const auto reader = io::open_scan(folder / "stack", options);
  EXPECT_EQ(reader->info().flats, 4);
  EXPECT_EQ(reader->read(FrameKind::flat, {0, 1}, {0, 1}, {0, 1}).type, PixelType::uint16);
  EXPECT_EQ(reader->read(FrameKind::dark, {0, 1}, {0, 1}, {0, 1}).type, PixelType::float32);
  EXPECT_EQ(all_of(*reader, FrameKind::flat), frames(0, views));
  EXPECT_EQ(all_of(*reader, FrameKind::dark), frames(5, 1));

  options.flats.push_back(folder / "flat.tif");  // a flat of another type: all become float32
  std::vector<double> all = frames(0, views), last = frames(6, 1);
  all.insert(all.end(), last.begin(), last.end());
  EXPECT_EQ(all_of(*io::open_scan(folder / "stack", options), FrameKind::flat), all);
}

TEST(TiffStack, LeavesOutFilesThatAreNamedAsFlatsOrDarks) {
  const TemporaryFolder folder;
  write_stack(folder / "stack");
  write_tiff_pages(folder / "stack/io.tif", {frames(6, 1)});
  io::OpenOptions options = half_turn;
  options.flats = {folder / "stack/io.tif"};
  const auto reader = io::open_scan(folder / "stack", options);
  EXPECT_EQ(angles_of(reader->info().scan).size(), 4u);
  EXPECT_EQ(all_of(*reader, FrameKind::flat), frames(6, 1));
  EXPECT_TRUE(says(reader->info().notes.at(0), {"1 image left out of the stack, given as flats or darks"}));
}

TEST(TiffStack, BecomesAConeBeamByTheUsersLengths) {
  const TemporaryFolder folder;
  write_stack(folder / "stack");
  io::OpenOptions options = half_turn;
  options.pixel_size_mm = 0.2, options.sod_mm = 40, options.sdd_mm = 70;
  const io::ScanInfo info = io::open_scan(folder / "stack", options)->info();
  const auto& scan = std::get<ConeBeam>(info.scan);
  EXPECT_EQ(scan.sod, 40);
  EXPECT_EQ(scan.sdd, 70);
  EXPECT_EQ(scan.midplane_row, 1);
  EXPECT_EQ(scan.detector.axis_bin, 2);
  EXPECT_EQ(scan.detector.bin_pitch, 0.2);
  EXPECT_EQ(info.pixel_size_mm, 0.2);
  options.sdd_mm.reset();
  EXPECT_THROW(io::open_scan(folder / "stack", options), GeometryError);
  options.sod_mm.reset(), options.midplane_row = 1;
  EXPECT_THROW(io::open_scan(folder / "stack", options), GeometryError);
}

TEST(TiffStack, RefusesAFolderWithoutImages) {
  const TemporaryFolder folder;
  EXPECT_TRUE(says(refusal_of(folder.path(), half_turn), {"holds no TIFF, EDF or DICOM-CT-PD images"}));
}

TEST(TiffSinogram, HasALineAView) {
  const TemporaryFolder folder;
  write_tiff_pages(folder / "sinogram.tif", {frames(1, 1)});
  write_tiff_pages(folder / "flats.tif", {frames(2, 1)});
  io::OpenOptions options = half_turn;
  options.flats = {folder / "flats.tif"};
  const auto reader = io::open_scan(folder / "sinogram.tif", options);
  EXPECT_EQ(reader->info().format, "TIFF sinogram");
  EXPECT_EQ(detector_of(reader->info().scan).rows, 1);
  EXPECT_EQ(angles_of(reader->info().scan).size(), 3u);
  EXPECT_EQ(reader->info().flats, 3);
  EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(1, 1));
  EXPECT_EQ(all_of(*reader, FrameKind::flat), frames(2, 1));
  EXPECT_EQ(values(reader->read(FrameKind::projection, {1, 2}, {0, 1}, {2, 3})),
            std::vector<double>{pixel(1, 1, 2)});
}

TEST(TiffSinogram, IsTurnedAsOneImage) {
  const TemporaryFolder folder;
  write_tiff_pages(folder / "sinogram.tif", {frames(1, 1)});
  write_tiff_pages(folder / "flats.tif", {frames(2, 1)});
  const auto lines = [](std::size_t frame, bool transposed, bool flipped) {
    std::vector<double> all;
    for (std::size_t i = 0; i < (transposed ? bins : rows); ++i)
      for (std::size_t k = 0; k < (transposed ? rows : bins); ++k) {
        const std::size_t line = flipped ? (transposed ? bins : rows) - 1 - i : i;
        all.push_back(transposed ? pixel(frame, k, line) : pixel(frame, line, k));
      }
    return all;
  };
  for (const bool transposed : {false, true})
    for (const bool flipped : {false, true}) {
      io::OpenOptions options = half_turn;
      options.flats = {folder / "flats.tif"};
      options.orientation = {.transpose = transposed, .flip_rows = flipped};
      const auto reader = io::open_scan(folder / "sinogram.tif", options);
      EXPECT_EQ(angles_of(reader->info().scan).size(), transposed ? bins : rows);
      EXPECT_EQ(detector_of(reader->info().scan).rows, 1);
      EXPECT_EQ(all_of(*reader, FrameKind::projection), lines(1, transposed, flipped));
      EXPECT_EQ(all_of(*reader, FrameKind::flat), lines(2, transposed, flipped));
      EXPECT_TRUE(
          says(reader->info().notes.at(0), {transposed ? "a sinogram of 5 views" : "a sinogram of 3 views"}));
    }
}

TEST(Angles, ThatLookLikeRadiansAreNamed) {
  const TemporaryFolder folder;
  write_stack(folder / "stack");
  const auto notes = [&](const io::OpenOptions& options) {
    std::string all;
    const auto reader = io::open_scan(folder / "stack", options);
    for (const std::string& note : reader->info().notes) all += note;
    return all;
  };
  EXPECT_TRUE(says(notes({.arc_deg = 3.14159}), {"--arc: the angles look like radians"}));
  EXPECT_EQ(notes({.arc_deg = 3}), "");
  write_lines(folder / "angles.txt", {"0", "0.785", "1.571", "2.356"});
  EXPECT_TRUE(says(notes({.angles = folder / "angles.txt"}), {"angles.txt: the angles look like radians"}));
  EXPECT_TRUE(
      says(notes({.angles = folder / "angles.txt", .view_step = 2}), {"angles.txt: the angles look like"}));
  EXPECT_EQ(notes({.angles = folder / "angles.txt", .angles_unit = "rad"}), "");
}

TEST(Angles, OfManyViewsThatCanOnlyBeRadiansAreRadians) {
  const TemporaryFolder folder;
  const auto list = [&](double arc, int count, int last) {
    std::ofstream file(folder / "a.txt");
    for (int k = 0; k < count; ++k) file << arc * k / (count - last) << '\n';
  };
  for (const double arc : {3.14159, -3.14159, 6.2832})
    for (const int last : {0, 1}) {
      list(arc, 40, last);
      const io::GivenAngles given = io::read_angles({.angles = folder / "a.txt"});
      EXPECT_NEAR(given.radians[20], arc * 20 / (40 - last), 1e-4);
      EXPECT_TRUE(says(given.note, {"a.txt: the angles are taken for radians", "--angles-unit deg"}));
      const io::GivenAngles degrees = io::read_angles({.angles = folder / "a.txt", .angles_unit = "deg"});
      EXPECT_NEAR(degrees.radians[20], in_radians(arc * 20 / (40 - last)), 1e-6);
      EXPECT_EQ(degrees.note, "");
    }
  for (const double arc : {3.0, 3.4, 9.42, 180.0, 360.0, 540.0}) {
    list(arc, 40, 1);
    EXPECT_EQ(io::read_angles({.angles = folder / "a.txt"}).note, "") << arc;
  }
  list(3.14159, 15, 1);
  EXPECT_EQ(io::read_angles({.angles = folder / "a.txt"}).note, "") << "a few may lie so by chance";
}

TEST(Angles, AreAColumnThatAHeaderNames) {
  const TemporaryFolder folder;
  const auto second = [&](const std::string& text) {
    std::ofstream(folder / "a.csv") << text;
    return in_degrees(io::read_angles({.angles = folder / "a.csv"}).radians.at(1));
  };
  EXPECT_NEAR(second("angle\n0\n45\n"), 45, 1e-9);
  EXPECT_NEAR(second("\xef\xbb\xbfview;theta\n0;0\n1;45\n"), 45, 1e-9);
  EXPECT_NEAR(second("file,angle_rad,current\na.tif,0,9\nb.tif,0.5,9\n"), in_degrees(0.5), 1e-9);
  EXPECT_NEAR(second("# index angle_deg\n0 0\n1   45 \n"), 45, 1e-9);
  EXPECT_NEAR(second("\"Rotation angle [rad]\"\n0\n0.5\n"), in_degrees(0.5), 1e-9);
  EXPECT_NEAR(second("n\tAngle (\u00b0)\n0\t0\n1\t45\n"), 45, 1e-9);
  EXPECT_NEAR(second("# of the third scan\n0\n45\n"), 45, 1e-9);
  EXPECT_NEAR(second("# scan 5, angle 30, dose, theta\n0\n45\n"), 45, 1e-9);
  EXPECT_NEAR(in_degrees(io::read_angles({.angles = folder / "a.csv", .angles_unit = "rad"}).radians.at(1)),
              in_degrees(45), 1e-9);
  const auto refused = [&](const std::string& text) { return refusal([&] { second(text); }); };
  EXPECT_TRUE(says(refused("0,0\n1,45\n"), {"line 1 is no number", "a header that names a column angle"}));
  EXPECT_TRUE(says(refused("theta,phi\n0,0\n1,45\n"), {"line 1 is no number"}));
  EXPECT_TRUE(says(refused("view,angle\n0,0\n1\n"), {"line 3 is no number"}));
  EXPECT_TRUE(says(refused("view,angle\n"), {"holds no angles"}));
}

TEST(Angles, FillAnArcWithOrWithoutItsEnd) {
  const TemporaryFolder folder;
  write_stack(folder / "stack");
  io::OpenOptions options = half_turn;
  EXPECT_DOUBLE_EQ(angles_of(io::open_scan(folder / "stack", options)->info().scan)[3],
                   0.75 * std::numbers::pi);
  options.arc_inclusive = true;
  EXPECT_DOUBLE_EQ(angles_of(io::open_scan(folder / "stack", options)->info().scan)[3], std::numbers::pi);
  options.arc_deg = 0;
  EXPECT_THROW(io::open_scan(folder / "stack", options), GeometryError);
}

TEST(Angles, ComeFromLinesOfAFile) {
  const TemporaryFolder folder;
  write_stack(folder / "stack");
  write_lines(folder / "angles.txt", {"# degrees", "-7", " 0 ", "+45\r", "\t9e1", "135", "-7"});
  io::OpenOptions options;
  options.angles = folder / "angles.txt";
  options.angle_lines = Range{2, 6};
  const std::vector<double> angles = angles_of(io::open_scan(folder / "stack", options)->info().scan);
  EXPECT_EQ(angles.size(), 4u);
  EXPECT_DOUBLE_EQ(angles[2], std::numbers::pi / 2);
}

TEST(Angles, ChangeTheirSignWithTheSenseOfRotation) {
  const TemporaryFolder folder;
  write_stack(folder / "stack");
  write_lines(folder / "angles.txt", {"0", "45", "90", "135"});
  io::OpenOptions options{.angles = folder / "angles.txt", .reverse_rotation = true};
  EXPECT_DOUBLE_EQ(angles_of(io::open_scan(folder / "stack", options)->info().scan)[2],
                   -std::numbers::pi / 2);
  EXPECT_DOUBLE_EQ(io::read_angles({.angles = folder / "angles.txt"}).radians[2], std::numbers::pi / 2);
  options = half_turn;
  options.reverse_rotation = true;
  EXPECT_DOUBLE_EQ(angles_of(io::open_scan(folder / "stack", options)->info().scan)[3],
                   -0.75 * std::numbers::pi);
}

TEST(Angles, ReplaceThoseOfTheScanAndSaySo) {
  const TemporaryFolder folder;
  write_data_exchange(folder / "scan.h5");
  const io::ScanInfo info = io::open_scan(folder / "scan.h5", half_turn)->info();
  EXPECT_DOUBLE_EQ(angles_of(info.scan)[1], std::numbers::pi / 4);
  EXPECT_TRUE(says(info.notes.at(0), {"own angles are not used"}));
}

TEST(Angles, AreRefusedWithAFileThatHoldsNone) {
  const TemporaryFolder folder;
  write_stack(folder / "stack");
  io::OpenOptions options;
  options.angles = folder / "angles.txt";
  const auto refused = [&] { return refusal_of(folder / "stack", options); };
  EXPECT_TRUE(says(refused(), {"angles.txt: cannot be read: No such file"}));
  write_lines(folder / "angles.txt", {"0", "45", "ninety", "135"});
  EXPECT_TRUE(says(refused(), {"angles.txt: line 3 is no number"}));
  write_lines(folder / "angles.txt", {"0", "45 90"});
  EXPECT_TRUE(says(refused(), {"angles.txt: line 2"}));
  for (const char* number : {"nan", "inf", "1e999"}) {
    write_lines(folder / "angles.txt", {"0", number});
    EXPECT_TRUE(says(refused(), {"angles.txt: line 2"})) << number;
  }
  write_lines(folder / "angles.txt", {"", "# none"});
  EXPECT_TRUE(says(refused(), {"angles.txt: holds no angles"}));
  write_lines(folder / "angles.txt", {"0", "1", "2"});
  EXPECT_TRUE(says(refused(), {"angles.txt: 3 angles for 4 views", "[A:B]"}));
  options.angle_lines = Range{0, 9};
  EXPECT_TRUE(says(refused(), {"angles.txt: lines 0:9 are wanted; it has 3"}));
  options.angle_lines = Range{2, 2};
  EXPECT_TRUE(says(refused(), {"angles.txt: lines 2:2"}));
}

}  // namespace tandem::test
