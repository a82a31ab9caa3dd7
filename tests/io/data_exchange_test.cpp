#include <numbers>

#include "io_checks.hpp"

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
  EXPECT_EQ(info.scan.detector.rows, 3);
  EXPECT_EQ(info.scan.detector.bins, 5);
  EXPECT_EQ(info.scan.detector.axis_bin, 2);
  EXPECT_EQ(info.scan.detector.bin_pitch, 1);
  EXPECT_FALSE(info.axis_bin);
  EXPECT_FALSE(info.pixel_size_mm);
  EXPECT_EQ(info.flats, 2);
  EXPECT_EQ(info.darks, 1);
  EXPECT_EQ(info.scan.angles.size(), 4u);
  EXPECT_DOUBLE_EQ(info.scan.angles[3], 0.75 * std::numbers::pi);
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
  EXPECT_EQ(reader->info().scan.angles.size(), 4u);
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
  for (const char* axes : {"x:y:theta", "theta", "y:theta", "theta:x:y", "", ":", "y:theta:y:x"}) {
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
    return [&folder] { return io::open_scan(folder / "scan.h5")->info().scan.angles[0]; };
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
  for (const auto& [value, units] :
       {std::pair{0.002, "mm"}, {2e-6, "m"}, {2.0, "um"}, {2.0, "micron"}, {2.0, "µm"}}) {
    const io::ScanInfo info = size_with(value, units)();
    ASSERT_TRUE(info.pixel_size_mm) << units;
    EXPECT_DOUBLE_EQ(*info.pixel_size_mm, 0.002);
    EXPECT_DOUBLE_EQ(info.scan.detector.bin_pitch, 0.002);
    EXPECT_DOUBLE_EQ(info.scan.detector.row_pitch, 0.002);
  }
  for (const auto& [value, units] :
       {std::pair{0.002, static_cast<const char*>(nullptr)}, {2.0, "px"}, {0.0, "mm"}}) {
    const io::ScanInfo info = size_with(value, units)();
    EXPECT_FALSE(info.pixel_size_mm);
    ASSERT_EQ(info.notes.size(), 1u);
    EXPECT_TRUE(says(info.notes[0], {"pixel_size_x", "left out"}));
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
  EXPECT_EQ(info.scan.detector.axis_bin, 2);
  EXPECT_TRUE(info.scan.row_axis_bins.empty());
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

TEST(DataExchange, RefusesAVolumeAndAConeBeam) {
  const TemporaryFolder folder;
  Hdf5Maker(folder / "volume.h5")
      .numbers("/exchange/data", "f32", {views, rows, bins}, frames(0, views))
      .attribute("/exchange/data", "axes", "z:y:x");
  EXPECT_TRUE(says(refusal_of(folder / "volume.h5"), {"volume.h5: /exchange/data", "z:y:x", "theta:y:x"}));
  Hdf5Maker(folder / "cone.h5")
      .numbers("/exchange/data", "u16", {1, rows, bins}, frames(0, 1))
      .text("/measurement/instrument/tandem/kind", "cone");
  EXPECT_TRUE(says(refusal_of(folder / "cone.h5"), {"tandem/kind", "cone", "parallel"}));
}

}  // namespace tandem::test
