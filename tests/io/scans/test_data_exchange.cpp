#include <cmath>
#include <numbers>

#include "../io_checks.hpp"

namespace tandem::test {

using io::FrameKind;
using io::PixelType;

class DataExchangeTypes : public ::testing::TestWithParam<std::pair<const char*, PixelType>> {};

TEST_P(DataExchangeTypes, AreKeptWhereTheyAreCountsAndElseReadAsFloat) {
  const TemporaryFolder folder;
  for (const bool chunked : {false, true}) {
    write_data_exchange(folder / "scan.h5", GetParam().first, chunked);
    const auto reader = io::open_scan(folder / "scan.h5");
    EXPECT_EQ(reader->info().format, "DXchange");
    EXPECT_EQ(reader->info().type, GetParam().second);
    EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, views));
    EXPECT_EQ(all_of(*reader, FrameKind::flat), frames(0, 2));
    EXPECT_EQ(all_of(*reader, FrameKind::dark), frames(1, 1));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, DataExchangeTypes,
    ::testing::Values(std::pair{"u8", PixelType::uint8}, std::pair{"u16", PixelType::uint16},
                      std::pair{">u16", PixelType::uint16}, std::pair{"u32", PixelType::uint32},
                      std::pair{"f32", PixelType::float32}, std::pair{"i16", PixelType::float32},
                      std::pair{"f64", PixelType::float32}));

TEST(DataExchange, TellsGeometryBeforeAnyPixel) {
  const TemporaryFolder folder;
  write_data_exchange(folder / "scan.h5");
  const io::ScanInfo info = io::open_scan(folder / "scan.h5")->info();
  EXPECT_EQ(detector_of(info.scan).rows, 3);
  EXPECT_EQ(detector_of(info.scan).bins, 5);
  EXPECT_EQ(detector_of(info.scan).axis_bin, 2);
  EXPECT_EQ(detector_of(info.scan).bin_pitch, 1);
  EXPECT_FALSE(info.axis_bin);
  EXPECT_FALSE(info.pixel_size_mm);
  EXPECT_EQ(info.flats, 2);
  EXPECT_EQ(info.darks, 1);
  EXPECT_EQ(angles_of(info.scan).size(), 4u);
  EXPECT_DOUBLE_EQ(angles_of(info.scan)[3], 0.75 * std::numbers::pi);
}

TEST(DataExchange, ReadsAnyPart) {
  const TemporaryFolder folder;
  write_data_exchange(folder / "scan.h5");
  const auto reader = io::open_scan(folder / "scan.h5");
  const io::Frames part = reader->read(FrameKind::projection, {1, 3}, {1, 3}, {2, 4});
  EXPECT_EQ(part.shape, (Shape{2, 2, 2}));
  const std::vector<double> expected{pixel(1, 1, 2), pixel(1, 1, 3), pixel(1, 2, 2), pixel(1, 2, 3),
                                     pixel(2, 1, 2), pixel(2, 1, 3), pixel(2, 2, 2), pixel(2, 2, 3)};
  EXPECT_EQ(values(part), expected);
  EXPECT_TRUE(reader->read(FrameKind::flat, {1, 1}, {0, 3}, {0, 5}).bytes.empty());
}

TEST(DataExchange, ReadsRowsFirst) {
  const TemporaryFolder folder;
  std::vector<double> turned;
  for (std::size_t y = 0; y < rows; ++y)
    for (std::size_t v = 0; v < views; ++v)
      for (std::size_t x = 0; x < bins; ++x) turned.push_back(pixel(v, y, x));
  Hdf5Maker(folder / "scan.h5")
      .numbers("/exchange/data", "u16", {rows, views, bins}, turned)
      .attribute("/exchange/data", "axes", "y:theta:x")
      .numbers("/exchange/theta", "f32", {views}, {0, 1, 2, 3});
  const auto reader = io::open_scan(folder / "scan.h5");
  EXPECT_EQ(angles_of(reader->info().scan).size(), 4u);
  EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, views));
}

TEST(DataExchange, KnowsTheAxesOfFlatsByTheirOwnNames) {
  const TemporaryFolder folder;
  Hdf5Maker(folder / "scan.h5")
      .numbers("/exchange/data", "u16", {1, rows, bins}, frames(0, 1))
      .numbers("/exchange/theta", "f64", {1}, {0})
      .numbers("/exchange/data_white", "u16", {2, rows, bins}, frames(2, 2))
      .attribute("/exchange/data_white", "axes", "theta_white:y:x");
  EXPECT_EQ(all_of(*io::open_scan(folder / "scan.h5"), FrameKind::flat), frames(2, 2));
  for (const char* axes : {"x:y:theta", "theta", "y:theta", "", ":", "y:theta:y:x"}) {
    Hdf5Maker(folder / "bad.h5")
        .numbers("/exchange/data", "u16", {1, rows, bins}, frames(0, 1))
        .attribute("/exchange/data", "axes", axes);
    EXPECT_TRUE(says(refusal_of(folder / "bad.h5"), {"/exchange/data: axes", "theta:y:x"}));
  }
}

TEST(DataExchange, TakesAnglesInDegreesUnlessUnitsSayRadians) {
  const TemporaryFolder folder;
  const auto angle_with = [&](const char* units) {
    Hdf5Maker file(folder / "scan.h5");
    file.numbers("/exchange/data", "u16", {1, rows, bins}, frames(0, 1))
        .numbers("/exchange/theta", "f64", {1}, {2});
    if (units) file.attribute("/exchange/theta", "units", units);
    return [&folder] { return angles_of(io::open_scan(folder / "scan.h5")->info().scan)[0]; };
  };
  const double degrees = 2 * std::numbers::pi / 180;
  for (const char* units : {static_cast<const char*>(nullptr), "deg", "degree", "Degrees", ""})
    EXPECT_DOUBLE_EQ(angle_with(units)(), degrees);
  for (const char* units : {"rad", "radians"}) EXPECT_DOUBLE_EQ(angle_with(units)(), 2);
  EXPECT_TRUE(
      says(refusal([&] { angle_with("turns")(); }), {"/exchange/theta", "turns", "\"deg\" or \"rad\""}));
}

TEST(DataExchange, UnderstandsUnitsOfThePixelSize) {
  const TemporaryFolder folder;
  const auto size_with = [&](double value, const char* units) {
    write_data_exchange(folder / "scan.h5");
    Hdf5Maker file(folder / "scan.h5");
    file.numbers("/exchange/data", "u16", {1, rows, bins}, frames(0, 1))
        .numbers("/exchange/theta", "f64", {1}, {0});
    const std::string path = "/measurement/instrument/detector/pixel_size_x";
    file.numbers(path, "f64", {1}, {value});
    if (units) file.attribute(path, "units", units);
    return [&folder] { return io::open_scan(folder / "scan.h5")->info(); };
  };
  for (const auto& [value, units] : {std::pair{0.002, "mm"},
                                     {0.002, "millimeter"},
                                     {0.002, "Millimetre"},
                                     {2e-6, "m"},
                                     {2e-6, "meter"},
                                     {2e-6, "metre"},
                                     {2e-6, "meters"},
                                     {2e-4, "cm"},
                                     {2000.0, "nm"},
                                     {2.0, "um"},
                                     {2.0, "\u00b5m"},
                                     {2.0, "\u03bcm"},
                                     {2.0, "micron"},
                                     {2.0, "microns"},
                                     {2.0, "micrometer"},
                                     {2.0, "micrometre"},
                                     {2.0, "micrometers"}}) {
    const io::ScanInfo info = size_with(value, units)();
    ASSERT_TRUE(info.pixel_size_mm) << units;
    EXPECT_DOUBLE_EQ(*info.pixel_size_mm, 0.002);
    EXPECT_DOUBLE_EQ(detector_of(info.scan).bin_pitch, 0.002);
    EXPECT_DOUBLE_EQ(detector_of(info.scan).row_pitch, 0.002);
  }
  for (const auto& [value, units] :
       {std::pair{0.002, static_cast<const char*>(nullptr)}, {2.0, "px"}, {0.0, "mm"}}) {
    const io::ScanInfo info = size_with(value, units)();
    EXPECT_FALSE(info.pixel_size_mm);
    ASSERT_EQ(info.notes.size(), 1u);
    EXPECT_TRUE(says(info.notes[0], {"pixel_size_x", "left out"}));
  }
}

TEST(DataExchange, KnowsTheDistanceFromSampleToDetector) {
  for (const char* key : {"detector_motor_stack/setup/z", "detector_motor_stack/detector_z"}) {
    const TemporaryFolder folder;
    Hdf5Maker(folder / "scan.h5")
        .numbers("/exchange/data", "u16", {1, rows, bins}, frames(0, 1))
        .numbers("/exchange/theta", "f64", {1}, {0})
        .numbers("/measurement/instrument/" + std::string(key), "f64", {1}, {150});
    EXPECT_EQ(io::open_scan(folder / "scan.h5")->info().propagation_mm, 150) << key;
  }
}

TEST(DataExchange, TakesAnAxisUpToADetectorsWidthOutsideIt) {
  const TemporaryFolder folder;
  const double width = bins;
  for (const auto& [axis, taken] :
       {std::pair{-width, true}, {-width - 0.5, false}, {2 * width - 1, true}, {2 * width - 0.5, false}}) {
    Hdf5Maker(folder / "scan.h5")
        .numbers("/exchange/data", "u16", {1, rows, bins}, frames(0, 1))
        .numbers("/exchange/theta", "f64", {1}, {0})
        .numbers("/measurement/instrument/tandem/axis_bin", "f64", {}, {axis});
    EXPECT_EQ(io::open_scan(folder / "scan.h5")->info().axis_bin.has_value(), taken) << axis;
  }
}

TEST(DataExchange, LeavesOutAnAxisFarOutsideTheDetector) {
  const TemporaryFolder folder;
  Hdf5Maker(folder / "scan.h5")
      .numbers("/exchange/data", "u16", {1, rows, bins}, frames(0, 1))
      .numbers("/exchange/theta", "f64", {1}, {0})
      .numbers("/measurement/instrument/tandem/axis_bin", "f64", {}, {1e9})
      .numbers("/measurement/instrument/tandem/row_axis_bins", "f64", {2}, {1, 2});
  const io::ScanInfo info = io::open_scan(folder / "scan.h5")->info();
  EXPECT_FALSE(info.axis_bin);
  EXPECT_EQ(detector_of(info.scan).axis_bin, 2);
  EXPECT_TRUE(std::get<ParallelBeam>(info.scan).row_axis_bins.empty());
  EXPECT_EQ(info.notes.size(), 2u);
}

TEST(DataExchange, TakesFlatsOfAnotherType) {
  const TemporaryFolder folder;
  Hdf5Maker(folder / "scan.h5")
      .numbers("/exchange/data", "u16", {1, rows, bins}, frames(0, 1))
      .numbers("/exchange/theta", "f64", {1}, {0})
      .numbers("/exchange/data_white", "f32", {rows, bins}, frames(2, 1));
  const auto reader = io::open_scan(folder / "scan.h5");
  EXPECT_EQ(reader->info().flats, 1);
  EXPECT_EQ(reader->read(FrameKind::flat, {0, 1}, {0, 3}, {0, 5}).type, PixelType::float32);
  EXPECT_EQ(all_of(*reader, FrameKind::flat), frames(2, 1));
}

TEST(DataExchange, RefusesAVolumeAndKindsItDoesNotKnow) {
  const TemporaryFolder folder;
  Hdf5Maker(folder / "volume.h5")
      .numbers("/exchange/data", "f32", {views, rows, bins}, frames(0, views))
      .attribute("/exchange/data", "axes", "z:y:x");
  EXPECT_TRUE(says(refusal_of(folder / "volume.h5"),
                   {"volume.h5: /exchange/data", "is a volume", "z:y:x", "not a scan"}));
  Hdf5Maker(folder / "helix.h5")
      .numbers("/exchange/data", "u16", {1, rows, bins}, frames(0, 1))
      .text("/measurement/instrument/tandem/kind", "helix");
  EXPECT_TRUE(says(refusal_of(folder / "helix.h5"), {"tandem/kind", "helix", "parallel", "cone"}));
}

// ---- Cone beams

const std::string instrument = "/measurement/instrument/";

/// A cone beam with its lengths in several units; `leave_out` names a data set that it lacks.
fs::path cone_file(const TemporaryFolder& folder, const std::string& leave_out = "") {
  const fs::path path = folder / "cone.h5";
  Hdf5Maker maker(path);
  maker.numbers("/exchange/data", "u16", {views, rows, bins}, frames(0, views))
      .numbers("/exchange/theta", "f64", {views}, {0, 90, 180, 270})
      .text(instrument + "tandem/kind", "cone");
  const auto add = [&](const std::string& name, double value, const std::string& unit) {
    if (name == leave_out) return;
    maker.numbers(instrument + name, "f64", {}, {value});
    if (!unit.empty()) maker.attribute(instrument + name, "units", unit);
  };
  add("tandem/sod", 40, "cm");
  add("tandem/sdd", 500, "");
  add("tandem/axis_bin", 1.75, "");
  add("tandem/midplane_row", 0.25, "");
  add("detector/pixel_size_x", 100, "um");
  add("detector/pixel_size_y", 0.2, "mm");
  return path;
}

TEST(DataExchange, ReadsAConeBeamInMillimetres) {
  const TemporaryFolder folder;
  const io::ScanInfo info = io::open_scan(cone_file(folder))->info();
  const auto& scan = std::get<ConeBeam>(info.scan);
  EXPECT_DOUBLE_EQ(scan.sod, 400);
  EXPECT_DOUBLE_EQ(scan.sdd, 500);
  EXPECT_DOUBLE_EQ(scan.midplane_row, 0.25);
  EXPECT_DOUBLE_EQ(scan.detector.axis_bin, 1.75);
  EXPECT_DOUBLE_EQ(scan.detector.bin_pitch, 0.1);
  EXPECT_DOUBLE_EQ(scan.detector.row_pitch, 0.2);
  EXPECT_TRUE(info.notes.empty());
}

TEST(DataExchange, TakesTheUsersLengthsBeforeItsOwn) {
  const TemporaryFolder folder;
  const io::OpenOptions options{.pixel_size_mm = 0.3, .sod_mm = 41, .sdd_mm = 82, .midplane_row = 2};
  const io::ScanInfo info = io::open_scan(cone_file(folder), options)->info();
  const auto& scan = std::get<ConeBeam>(info.scan);
  EXPECT_EQ(scan.sod, 41);
  EXPECT_EQ(scan.sdd, 82);
  EXPECT_EQ(scan.midplane_row, 2);
  EXPECT_EQ(scan.detector.bin_pitch, 0.3);
  EXPECT_EQ(scan.detector.row_pitch, 0.3);
  EXPECT_TRUE(says(notes_of(info), {"--pixel-size 0.3 mm is taken, and the scan records 0.1 mm\n",
                                    "--sod 41 mm is taken, and the scan records 400 mm\n",
                                    "--sdd 82 mm is taken, and the scan records 500 mm\n"}));
  EXPECT_TRUE(
      says(notes_of(io::open_scan(cone_file(folder), {.pixel_size_mm = 100})->info()),
           {"--pixel-size 100 mm is taken, and the scan records 0.1 mm, which is 1000 times less; check "
            "the unit, which is mm"}));
  EXPECT_TRUE(says(notes_of(io::open_scan(cone_file(folder), {.pixel_size_mm = 0.1})->info()),
                   {"--pixel-size 0.1 mm is taken, and the scan records 0.2 mm"}));  // the pitch of rows
  EXPECT_EQ(notes_of(io::open_scan(cone_file(folder), {.sod_mm = 400, .sdd_mm = 500})->info()), "");
}

/// A file of TomoScan without some of its frames, and what it records in their place.
TEST(DataExchange, TakesNumbersInThePlaceOfFramesAndAngles) {
  const TemporaryFolder folder;
  const std::string taken = "/process/acquisition/";
  int files = 0;
  const auto with = [&](const std::function<void(Hdf5Maker&)>& change, const io::OpenOptions& how = {}) {
    const fs::path path = folder / (std::to_string(++files) + ".h5");
    write_data_exchange(path);
    {
      Hdf5Maker file(path, true);
      change(file);
    }
    return io::open_scan(path, how);
  };
  const auto dark = [&](Hdf5Maker& f) {
    f.remove("/exchange/data_dark").numbers(taken + "dark_fields/dark_field_value", "f64", {1}, {7});
  };
  const auto reader = with(dark);
  EXPECT_EQ(all_of(*reader, FrameKind::dark), std::vector<double>(15, 7));
  EXPECT_TRUE(says(notes_of(reader->info()), {"dark_field_value = 7 is taken for such a frame"}));
  write_data_exchange(folder / "other.h5");
  EXPECT_EQ(all_of(*with(dark, {.darks = {folder / "other.h5"}}), FrameKind::dark), frames(1, 1));
  const auto flat = with([&](Hdf5Maker& f) {
    f.remove("/exchange/data_white").numbers(taken + "flat_fields/flat_field_value", "f64", {1}, {9});
  });
  EXPECT_EQ(all_of(*flat, FrameKind::flat), std::vector<double>(15, 9));
  EXPECT_EQ(
      all_of(*with([&](Hdf5Maker& f) { f.numbers(taken + "dark_fields/dark_field_value", "f64", {1}, {7}); }),
             FrameKind::dark),
      frames(1, 1));
  const auto steps = [&](Hdf5Maker& f, double step) {
    f.numbers(taken + "rotation/rotation_start", "f64", {1}, {10})
        .numbers(taken + "rotation/rotation_step", "f64", {1}, {step});
  };
  const auto planned = with([&](Hdf5Maker& f) { f.remove("/exchange/theta"), steps(f, 30); });
  for (std::size_t k = 0; k < 4; ++k)
    EXPECT_NEAR(angles_of(planned->info().scan)[k],
                (10 + 30.0 * static_cast<double>(k)) * std::numbers::pi / 180, 1e-12);
  EXPECT_TRUE(says(notes_of(planned->info()), {"/exchange/theta: missing", "rotation_step, 30 degrees"}));
  EXPECT_TRUE(says(notes_of(with([&](Hdf5Maker& f) { steps(f, 0.5); })->info()),
                   {"rotation_step = 0.5 is left out: it would be an arc of 1.5 degrees", "has 135"}));
  EXPECT_EQ(notes_of(with([&](Hdf5Maker& f) { steps(f, 45); })->info()), "");
}

TEST(OpenScan, SaysThatThereAreNoDarks) {
  const TemporaryFolder folder;
  write_data_exchange(folder / "scan.h5");
  EXPECT_EQ(notes_of(io::open_scan(folder / "scan.h5")->info()), "");
  Hdf5Maker(folder / "scan.h5", true).remove("/exchange/data_dark");
  EXPECT_TRUE(says(notes_of(io::open_scan(folder / "scan.h5")->info()), {"no darks: ", "--darks"}));
  Hdf5Maker(folder / "scan.h5", true).remove("/exchange/data_white");  // then no counts are divided
  EXPECT_EQ(notes_of(io::open_scan(folder / "scan.h5")->info()), "");
}

TEST(OpenScan, SaysThatAnglesComeAgain) {
  const TemporaryFolder folder;
  const auto notes = [&](const std::vector<double>& degrees) {
    Hdf5Maker(folder / "scan.h5")
        .numbers("/exchange/data", "u16", {degrees.size(), 1, 1}, std::vector<double>(degrees.size(), 1))
        .numbers("/exchange/theta", "f64", {degrees.size()}, degrees);
    return notes_of(io::open_scan(folder / "scan.h5")->info());
  };
  EXPECT_TRUE(says(notes({0, 20, 40, 60, 0, 20, 40, 60, 80, 100}),
                   {"/exchange/theta: views 4:10 have angles of views before them again"}));
  EXPECT_EQ(notes({0, 20, 40, 60, 10, 30, 50, 70, 90, 110}), "");  // interleaved
  EXPECT_EQ(notes({0, 20, 40, 60, 80, 100, 120, 140, 160, 180}), "");
  EXPECT_EQ(notes({0, 111, 42, 153, 84, 15, 126, 57, 168, 99}), "");  // by the golden ratio
}

TEST(DataExchange, SaysWhatAConeBeamLacks) {
  const TemporaryFolder folder;
  const auto lacks = [&](const char* name, const char* remedy) {
    const fs::path path = cone_file(folder, name);
    try {
      io::open_scan(path);
      FAIL() << "no " << name << " is needed";
    } catch (const GeometryError& error) {
      EXPECT_TRUE(says(error.what(), {"cone beam: no ", remedy}));
    }
  };
  lacks("tandem/sod", "--sod MM");
  lacks("tandem/sdd", "--sdd MM");
  lacks("detector/pixel_size_x", "--pixel-size MM");
  const io::ScanInfo info = io::open_scan(cone_file(folder, "tandem/midplane_row"))->info();
  EXPECT_EQ(std::get<ConeBeam>(info.scan).midplane_row, 1);
  ASSERT_EQ(info.notes.size(), 1u);
  EXPECT_TRUE(says(info.notes[0], {"midplane row", "row 1", "--midplane-row"}));
}

TEST(DataExchange, RefusesADetectorBeforeTheAxis) {
  const TemporaryFolder folder;
  EXPECT_THROW(io::open_scan(cone_file(folder), {.sdd_mm = 400}), GeometryError);
  EXPECT_THROW(io::open_scan(cone_file(folder), {.sod_mm = 600}), GeometryError);
}

/// Moves are in pixels, or in a unit of length if a pitch is known; the image of a view has moved towards
/// higher bins.
TEST(DataExchange, TellsHowFarItsViewsHaveMoved) {
  const TemporaryFolder folder;
  const auto shifts = [&](const std::string& unit, const std::vector<double>& numbers,
                          const io::OpenOptions& how = {}) {
    write_data_exchange(folder / "scan.h5");
    {
      Hdf5Maker file(folder / "scan.h5", true);
      for (const char* path : {"/exchange/data_shift_x", "/exchange/data_shift_y"}) {
        file.numbers(path, "f64", {numbers.size()}, numbers);
        if (!unit.empty()) file.attribute(path, "units", unit);
      }
      file.numbers("/measurement/instrument/detector/pixel_size_x", "f64", {}, {2})
          .attribute("/measurement/instrument/detector/pixel_size_x", "units", "um")
          .numbers("/measurement/instrument/detector/pixel_size_y", "f64", {}, {4})
          .attribute("/measurement/instrument/detector/pixel_size_y", "units", "um");
    }
    const io::ScanInfo info = io::open_scan(folder / "scan.h5", how)->info();
    return std::pair{std::get<ParallelBeam>(info.scan).view_shift_bins, info};
  };
  const std::vector<double> some{1, -2, 0, 1.5}, none;
  EXPECT_EQ(shifts("", some).first, some);
  EXPECT_EQ(shifts("pixels", some).second.row_shifts, some);
  EXPECT_EQ(shifts("um", some).first, (std::vector<double>{0.5, -1, 0, 0.75}));
  EXPECT_EQ(shifts("um", some).second.row_shifts, (std::vector<double>{0.25, -0.5, 0, 0.375}));
  EXPECT_EQ(shifts("", {0, 0, 0, 0}).first, none);
  EXPECT_TRUE(shifts("", {0, 0, 0, 0}).second.notes.empty());
  EXPECT_EQ(shifts("", some, {.first_view = 1, .view_step = 2}).first, (std::vector<double>{-2, 1.5}));
  EXPECT_EQ(shifts("", some, {.orientation = {.flip_columns = true}}).first,
            (std::vector<double>{-1, 2, 0, -1.5}));
  EXPECT_EQ(shifts("", some, {.orientation = {.flip_rows = true}}).second.row_shifts,
            (std::vector<double>{-1, 2, 0, -1.5}));
  for (const auto& [unit, numbers] : {std::pair<std::string, std::vector<double>>{"furlong", some},
                                      {"", {1, 2, 3}},
                                      {"", {1, NAN, 0, 0}}}) {
    const auto [bins_moved, info] = shifts(unit, numbers);
    EXPECT_EQ(bins_moved, none);
    EXPECT_TRUE(says(info.notes.at(0), {"data_shift_x is left out"}));
  }
  const auto [cone, info] =
      std::pair{0, io::open_scan(folder / "scan.h5", {.sod_mm = 10, .sdd_mm = 20})->info()};
  EXPECT_EQ(kind_of(info.scan), ConeBeam::kind);
  EXPECT_TRUE(info.row_shifts.empty());
}

}  // namespace tandem::test
