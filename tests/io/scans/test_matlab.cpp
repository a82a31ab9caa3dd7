// Sinograms in MATLAB files: level 5, and v7.3, which is HDF5.

#include <cmath>
#include <fstream>
#include <numbers>

#include "../io_checks.hpp"

namespace tandem::test {

using io::FrameKind;

namespace {

void expect_degrees(const io::ScanInfo& info, const std::vector<double>& expected) {
  const std::vector<double>& angles = angles_of(info.scan);
  ASSERT_EQ(angles.size(), expected.size());
  for (std::size_t k = 0; k < angles.size(); ++k)
    EXPECT_NEAR(angles[k] * 180 / std::numbers::pi, expected[k], 1e-5) << k;
}

}  // namespace

TEST(Matlab, V73HasItsAxesTheOtherWayRound) {
  const TemporaryFolder folder;
  std::vector<double> columns;  // 3 views of 5 bins, views first in memory
  for (std::size_t b = 0; b < bins; ++b)
    for (std::size_t v = 0; v < 3; ++v) columns.push_back(pixel(0, v, b));
  const std::string data = "/CtDataFull/", with = data + "parameters/";
  Hdf5Maker(folder / "a.mat")
      .numbers(data + "sinogram", "f64", {bins, 3}, columns)
      .numbers(with + "angles", "f64", {3, 1}, {0, 0.5, 1})
      .numbers(with + "distanceSourceOrigin", "f64", {1, 1}, {410.66})
      .numbers(with + "distanceSourceDetector", "f64", {1, 1}, {553.74})
      .numbers(with + "pixelSizePost", "f64", {1, 1}, {0.2});
  const auto reader = io::open_scan(folder / "a.mat");
  EXPECT_EQ(reader->info().format, "MATLAB sinogram");
  EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, 1));
  EXPECT_EQ(values(reader->read(FrameKind::projection, {1, 3}, {0, 1}, {2, 4})),
            (std::vector<double>{pixel(0, 1, 2), pixel(0, 1, 3), pixel(0, 2, 2), pixel(0, 2, 3)}));
  EXPECT_DOUBLE_EQ(point_source_of(reader->info().scan).sod, 410.66);
  EXPECT_DOUBLE_EQ(point_source_of(reader->info().scan).sdd, 553.74);
  EXPECT_DOUBLE_EQ(detector_of(reader->info().scan).bin_pitch, 0.2);
  expect_degrees(reader->info(), {0, 0.5, 1});
}

namespace {

/// The pieces of a MATLAB file of level 5, in this machine's byte order.
std::string bytes_of_number(double value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }
std::string word(std::uint32_t value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }
std::string element(std::uint32_t type, std::string data) {
  const std::string head = word(type) + word(static_cast<std::uint32_t>(data.size()));
  data.resize((data.size() + 7) / 8 * 8, '\0');
  return head + data;
}
std::string array_head(std::uint32_t kind, std::uint32_t first, std::uint32_t second,
                       const std::string& name) {
  return element(6, word(kind) + word(0)) + element(5, word(first) + word(second)) + element(1, name);
}
std::string numbers_element(const std::string& name, std::uint32_t first, std::uint32_t second,
                            const std::vector<double>& values) {
  std::string data;
  for (const double value : values) data += bytes_of_number(value);
  return element(14, array_head(6, first, second, name) + element(9, data));
}
std::string header() {
  std::string text = "MATLAB 5.0 MAT-file, Platform: test";
  text.resize(124, ' ');
  return text + std::string("\0\1IM", 4);
}
std::string structure_element(const std::string& name,
                              const std::vector<std::pair<std::string, std::string>>& fields) {
  std::string names, values;
  for (const auto& [field, value] : fields) {
    std::string padded = field;
    padded.resize(32, '\0');
    names += padded, values += value;
  }
  const std::string length = word(5 | 4u << 16) + word(32);  // a small element
  return element(14, array_head(2, 1, 1, name) + length + element(1, names) + values);
}
void save(const fs::path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

std::string sinogram_file() {
  std::vector<double> columns;
  for (std::size_t b = 0; b < bins; ++b)
    for (std::size_t v = 0; v < 3; ++v) columns.push_back(pixel(0, v, b));
  return header() + structure_element(
                        "Ct", {{"sinogram", numbers_element("", 3, 5, columns)},
                               {"parameters",
                                structure_element("", {{"angles", numbers_element("", 1, 3, {0, 0.5, 1})},
                                                       {"pixelSize", numbers_element("", 1, 1, {0.2})}})}});
}

}  // namespace

TEST(Matlab, Level5HasStructures) {
  const TemporaryFolder folder;
  save(folder / "a.mat", sinogram_file());
  const auto reader = io::open_scan(folder / "a.mat");
  EXPECT_EQ(reader->info().format, "MATLAB sinogram");
  EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, 1));
  expect_degrees(reader->info(), {0, 0.5, 1});
  EXPECT_DOUBLE_EQ(reader->info().pixel_size_mm.value(), 0.2);
}

TEST(Matlab, VariableNamesTheSinogram) {
  const TemporaryFolder folder;
  std::vector<double> columns, others(6, 7.0);
  for (std::size_t b = 0; b < bins; ++b)
    for (std::size_t v = 0; v < 3; ++v) columns.push_back(pixel(0, v, b));
  save(folder / "old.mat", header() + numbers_element("P", 3, 5, columns) +
                               numbers_element("Q", 2, 3, others) +
                               numbers_element("angles", 1, 3, {0, 0.5, 1}) +
                               structure_element("s", {{"R", numbers_element("", 3, 5, columns)}}));
  Hdf5Maker(folder / "new.mat")
      .numbers("/P", "f64", {bins, 3}, columns)
      .numbers("/Q", "f64", {3, 2}, others)
      .numbers("/angles", "f64", {3, 1}, {0, 0.5, 1})
      .numbers("/s/R", "f64", {bins, 3}, columns)
      .attribute("/P", "MATLAB_class", "double")
      .attribute("/s/R", "MATLAB_class", "double");
  for (const char* name : {"old.mat", "new.mat"}) {
    const auto reader = io::open_scan(folder / name, {.variable = "P"});
    EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, 1)) << name;
    expect_degrees(reader->info(), {0, 0.5, 1});
    const auto inner = io::open_scan(folder / (std::string(name) + ":/s/R"), {.arc_deg = 180});
    EXPECT_EQ(all_of(*inner, FrameKind::projection), frames(0, 1)) << name;
    EXPECT_TRUE(says(refusal_of(folder / (std::string(name) + ":/S")),
                     {name == std::string("old.mat")
                          ? "has no variable S of numbers; those of two axes are: P (3 x 5), Q (2 x 3)"
                          : "has no data set /S; it has /P (5 x 3, float64"}));
    EXPECT_FALSE(refusal_of(folder / name).empty());
  }
  EXPECT_TRUE(says(refusal_of(folder / "old.mat"), {"has no variable sinogram", "FILE:/NAME", "P (3 x 5)"}));
  write_tiff_pages(folder / "s.tif", {frames(0, 1)});
  for (const fs::path& other : {folder / "s.tif", folder.path()})
    EXPECT_TRUE(
        says(refusal_of(other, {.arc_deg = 180, .variable = "P"}), {"has no data sets; leave out :/P"}));
}

TEST(Matlab, VariablesMayBeListsOfNumbers) {
  const TemporaryFolder folder;
  const std::string old = (folder / "old.mat").string();
  save(old, header() + numbers_element("P", 2, 2, {1, 2, 3, 4}) +
                numbers_element("angles", 3, 1, {0, 0.5, 1}) +
                structure_element("s", {{"t", numbers_element("", 1, 3, {3, 2, 1})}}));
  const auto numbers = [&](const char* name) { return io::read_numbers(old + name, "shift", "in bins"); };
  EXPECT_EQ(numbers(":/angles"), (std::vector<double>{0, 0.5, 1}));
  EXPECT_EQ(numbers(":/s/t"), (std::vector<double>{3, 2, 1}));
  const auto refused = [&](const char* name, const char* why) {
    try {
      numbers(name);
      ADD_FAILURE() << name;
    } catch (const FileError& fault) {
      EXPECT_TRUE(says(fault.what(), {why})) << name;
    }
  };
  refused(":/none", "has no variable none of numbers");
  refused(":/P", "P: has 2 axes and 4 numbers");
  refused("", "has several lists; give");
}

TEST(Matlab, FlatsOfANewFileAreTurnedAsThoseOfAnOldOne) {
  const TemporaryFolder folder;
  std::vector<double> columns;  // an image of rows x bins
  for (std::size_t b = 0; b < bins; ++b)
    for (std::size_t r = 0; r < rows; ++r) columns.push_back(pixel(4, r, b));
  save(folder / "old.mat", header() + numbers_element("flat", rows, bins, columns));
  Hdf5Maker(folder / "new.mat")
      .numbers("/flat", "f64", {bins, rows}, columns)
      .attribute("/flat", "MATLAB_class", "double")
      .numbers("/many", "f64", {2, bins, rows}, std::vector<double>(2 * bins * rows))
      .attribute("/many", "MATLAB_class", "double");
  write_data_exchange(folder / "scan.h5");
  for (const char* name : {"old.mat:/flat", "new.mat:/flat"}) {
    io::OpenOptions options;
    options.flats = {folder / name};
    const auto reader = io::open_scan(folder / "scan.h5", options);
    const Index last = reader->info().flats;
    EXPECT_EQ(values(reader->read(FrameKind::flat, {last - 1, last}, {0, 3}, {0, 5})), frames(4, 1)) << name;
  }
  io::OpenOptions options;
  options.flats = {folder / "new.mat:/many"};
  EXPECT_TRUE(
      says(refusal_of(folder / "scan.h5", options), {"/many is a variable of MATLAB without frames"}));
}

TEST(Matlab, OfBinsAndViewsIsTurnedBeforeItsAnglesAreCounted) {
  const TemporaryFolder folder;
  std::vector<double> columns;  // bins x views: all bins of a view follow one another
  for (std::size_t v = 0; v < 3; ++v)
    for (std::size_t b = 0; b < bins; ++b) columns.push_back(pixel(0, v, b));
  save(folder / "a.mat",
       header() + numbers_element("sinogram", 5, 3, columns) + numbers_element("angles", 1, 3, {0, 0.5, 1}));
  EXPECT_TRUE(says(refusal_of(folder / "a.mat"), {"3 angles for 5 views", "--orient transpose makes views"}));
  const auto reader = io::open_scan(folder / "a.mat", {.orientation = {.transpose = true}});
  EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, 1));
  expect_degrees(reader->info(), {0, 0.5, 1});
  save(folder / "a.mat", header() + numbers_element("sinogram", 3, 5, std::vector<double>(15)) +
                             numbers_element("angles", 1, 3, {0, 1.0472, 2.0944}));
  EXPECT_TRUE(
      says(io::open_scan(folder / "a.mat")->info().notes.at(0), {"angles: the angles look like radians"}));
}

TEST(BadMatlab, CutAnywhereIsRefused) {
  const TemporaryFolder folder;
  const std::string whole = sinogram_file();
  for (std::size_t length = 129; length < whole.size(); length += 7) {
    save(folder / "a.mat", whole.substr(0, length));
    EXPECT_TRUE(says(refusal_of(folder / "a.mat"), {"a.mat: "})) << length;
  }
  save(folder / "a.mat", header());
  EXPECT_TRUE(says(refusal_of(folder / "a.mat"), {"a.mat: has no variable sinogram"}));
  save(folder / "a.mat", header() + element(15, "no zlib at all"));
  EXPECT_TRUE(says(refusal_of(folder / "a.mat"), {"a.mat: a packed element cannot be unpacked"}));
  save(folder / "a.mat", header() + numbers_element("sinogram", 3, 6, std::vector<double>(15)));
  EXPECT_TRUE(says(refusal_of(folder / "a.mat"), {"sinogram has 15 numbers where its axes have 18"}));
  save(folder / "a.mat", header() + numbers_element("sinogram", 0xffffffff, 0xffffffff, {1}));
  EXPECT_TRUE(says(refusal_of(folder / "a.mat"), {"a.mat: an axis of"}));
}

}  // namespace tandem::test
