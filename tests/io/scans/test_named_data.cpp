// Data sets that the user names (FILE:/NAME), arrays of NumPy, and series of electron microscopes.

#include <cstring>
#include <fstream>
#include <numbers>

#include "../../../io/scans/inside_file.hpp"
#include "../../../io/sources.hpp"
#include "../io_checks.hpp"

namespace tandem::test {

using io::FrameKind;

namespace {

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

template <class T>
std::string bytes_of_numbers(const std::vector<double>& values, bool swapped = false) {
  std::string all;
  for (const double value : values) {
    const T number = static_cast<T>(value);
    char raw[sizeof(T)];
    std::memcpy(raw, &number, sizeof(T));
    if (swapped) std::reverse(raw, raw + sizeof(T));
    all.append(raw, sizeof(T));
  }
  return all;
}

std::string npy(const std::string& type, const std::string& shape, const std::string& numbers,
                const char* by_columns = "False") {
  std::string head =
      "{'descr': '" + type + "', 'fortran_order': " + by_columns + ", 'shape': (" + shape + "), }";
  head.append(118 - head.size() - 1, ' ');
  head += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + char(118) + '\0' + head + numbers;
}

std::vector<double> degrees_of(const io::ScanInfo& info) {
  std::vector<double> all = angles_of(info.scan);
  for (double& angle : all) angle *= 180 / std::numbers::pi;
  return all;
}

/// Frames, flats, darks and angles under names of their own.
fs::path own_file(const TemporaryFolder& folder) {
  const fs::path path = folder / "own.h5";
  const auto frame = [](std::size_t first, std::size_t count) { return frames(first, count); };
  Hdf5Maker(path)
      .group("/run")
      .numbers("/run/projections", "u16", {views, rows, bins}, frame(0, views))
      .numbers("/run/flat", "u16", {2, rows, bins}, frame(4, 2))
      .numbers("/run/dark", "u16", {rows, bins}, frame(6, 1))
      .numbers("/run/angles", "f64", {views}, {0, 45, 90, 135})
      .numbers("/run/radians", "f32", {views}, {0, 1, 2, 3})
      .attribute("/run/radians", "units", "rad");
  return path;
}

}  // namespace

TEST(NamedData, AnyDataSetsMakeAScan) {
  const TemporaryFolder folder;
  const std::string own = own_file(folder).string();
  io::OpenOptions options;
  options.flats = {own + ":/run/flat"};
  options.darks = {own + ":/run/dark"};
  options.angles = own + ":/run/angles";
  const auto reader = io::open_scan(own + ":/run/projections", options);
  EXPECT_EQ(reader->info().format, "HDF5 data set");
  EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, views));
  EXPECT_EQ(all_of(*reader, FrameKind::flat), frames(4, 2));
  EXPECT_EQ(all_of(*reader, FrameKind::dark), frames(6, 1));
  const std::vector<double> degrees = degrees_of(reader->info());
  for (std::size_t k = 0; k < views; ++k) EXPECT_NEAR(degrees[k], 45.0 * k, 1e-9);
  options.angles = own + ":/run/radians";
  EXPECT_NEAR(angles_of(io::open_scan(own + ":/run/projections", options)->info().scan)[3], 3, 1e-6);
  EXPECT_EQ(io::files_behind(own + ":/run/projections"), std::vector<fs::path>{own});
}

TEST(NamedData, ADataSetOfTwoAxesIsASinogram) {
  const TemporaryFolder folder;
  Hdf5Maker(folder / "s.h5").numbers("/s", "f32", {rows, bins}, frames(0, 1));
  const auto reader = io::open_scan(folder / "s.h5:/s", {.arc_deg = 180});
  EXPECT_EQ(reader->info().views_stored, static_cast<Index>(rows));
  EXPECT_EQ(detector_of(reader->info().scan).rows, 1);
}

TEST(NamedData, AnUnknownFileListsWhatItHolds) {
  const TemporaryFolder folder;
  const std::string own = own_file(folder).string();
  const std::string said = refusal_of(own, {.arc_deg = 180});
  EXPECT_TRUE(
      says(said, {"is no scan", "/run/projections (4 x 3 x 5, uint16, 1 kB)", "/run/dark (3 x 5, uint16",
                  "name one: " + own + ":/run/projections --angles " + own + ":/run/angles"}))
      << said;
  EXPECT_TRUE(says(refusal_of(own + ":/run/projection", {.arc_deg = 180}),
                   {"has no data set /run/projection; it has /run/projections"}));
  EXPECT_TRUE(says(refusal_of(own + ":/run/angles", {.arc_deg = 180}), {"has 1 axis", "2 (view, bin)"}));
  EXPECT_TRUE(says(refusal_of(own + ":/run", {.arc_deg = 180}), {"has no data set /run"}));
  io::OpenOptions options{.arc_deg = 180};
  options.flats = {own + ":/run/white"};
  EXPECT_TRUE(says(refusal_of(own + ":/run/projections", options), {"has no data set /run/white"}));
  options.flats = {};
  options.angles = own + ":/run/flat";
  EXPECT_TRUE(says(refusal_of(own + ":/run/projections", options), {"/run/flat", "one axis"}));
}

TEST(NamedData, OtherDataSetsOfTheFileDoNotMatter) {
  const TemporaryFolder folder;
  const std::string own = own_file(folder).string();
  Hdf5Maker(own, true).numbers("/odd", "u16", {1, 1, 1, 1, 2}, {1, 2});
  EXPECT_EQ(all_of(*io::open_scan(own + ":/run/projections", {.arc_deg = 180}), FrameKind::projection),
            frames(0, views));
  EXPECT_TRUE(says(refusal_of(own, {.arc_deg = 180}), {"it has /run/projections"}));
  Hdf5Maker(own, true)
      .numbers("/shifts", "f64", {views, 1}, {0, 1, 2, 3})
      .attribute("/shifts", "units", "mm");
  EXPECT_TRUE(says(refusal_of(own + ":/run/projections", {.arc_deg = 180, .view_shifts = own + ":/shifts"}),
                   {"units = \"mm\""}));
}

TEST(NamedData, AxesMayBeAListOfWords) {
  const TemporaryFolder folder;
  const fs::path path = folder / "s.h5";
  std::vector<double> by_rows;
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t view = 0; view < views; ++view)
      for (std::size_t bin = 0; bin < bins; ++bin) by_rows.push_back(pixel(view, row, bin));
  const auto data = std::string(path.string() + ":/e/d");
  const auto stack = [&] { return all_of(*io::open_scan(data, {.arc_deg = 180}), FrameKind::projection); };
  Hdf5Maker(path)
      .group("/e")
      .numbers("/e/d", "u16", {rows, views, bins}, by_rows)
      .texts_attribute("/e/d", "axes", {"y", "rotation_angle", "x"});
  EXPECT_EQ(stack(), frames(0, views));
  fs::remove(path);
  Hdf5Maker(path)  // NXdata: the group has them
      .group("/e")
      .numbers("/e/d", "u16", {rows, views, bins}, by_rows)
      .attribute("/e", "signal", "d")
      .texts_attribute("/e", "axes", {"detector_y", "rotation_angle", "detector_x"});
  EXPECT_EQ(stack(), frames(0, views));
  fs::remove(path);
  Hdf5Maker(path)
      .group("/e")
      .numbers("/e/d", "u16", {views, rows, bins}, frames(0, views))
      .attribute("/e/d", "axes", "[rotation_angle,y,x]");
  EXPECT_EQ(stack(), frames(0, views));
  fs::remove(path);
  Hdf5Maker(path)
      .group("/e")
      .numbers("/e/d", "u16", {views, rows, bins}, frames(0, views))
      .texts_attribute("/e/d", "axes", {"a", "b", "c"});
  EXPECT_EQ(stack(), frames(0, views));
  EXPECT_TRUE(says(notes_of(io::open_scan(data, {.arc_deg = 180})->info()),
                   {"axes \"a, b, c\" are not known; they are taken for theta:y:x"}));
}

TEST(NamedData, AxesMayHaveRowsLast) {
  const TemporaryFolder folder;
  const auto turned = [](std::size_t first, std::size_t count, bool bins_first) {  // theta:x:y or x:theta:y
    std::vector<double> all;
    for (std::size_t a = 0; a < (bins_first ? bins : count); ++a)
      for (std::size_t b = 0; b < (bins_first ? count : bins); ++b)
        for (std::size_t row = 0; row < rows; ++row)
          all.push_back(bins_first ? pixel(first + b, row, a) : pixel(first + a, row, b));
    return all;
  };
  const fs::path path = folder / "s.h5";
  Hdf5Maker(path)
      .numbers("/a", "u16", {views, bins, rows}, turned(0, views, false))
      .attribute("/a", "axes", "theta:x:y")
      .numbers("/b", "u16", {bins, views, rows}, turned(0, views, true))
      .texts_attribute("/b", "axes", {"x", "angle", "y"})
      .numbers("/flats", "u16", {2, bins, rows}, turned(4, 2, false))
      .texts_attribute("/flats", "axes", {"frame", "column", "row"})
      .numbers("/dark", "u16", {bins, rows}, turned(6, 1, false))
      .texts_attribute("/dark", "axes", {"x", "y"})
      .numbers("/c", "u16", {bins, rows, views}, frames(0, views))
      .attribute("/c", "axes", "x:y:theta");
  io::OpenOptions options{.arc_deg = 180};
  options.flats = {path.string() + ":/flats"}, options.darks = {path.string() + ":/dark"};
  for (const char* name : {":/a", ":/b"}) {
    const auto reader = io::open_scan(path.string() + name, options);
    EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, views)) << name;
    EXPECT_EQ(all_of(*reader, FrameKind::flat), frames(4, 2));
    EXPECT_EQ(all_of(*reader, FrameKind::dark), frames(6, 1));
  }
  EXPECT_TRUE(
      says(refusal_of(path.string() + ":/c", options), {"axes = \"x:y:theta\"", "\"x:theta:y\" is needed"}));
}

TEST(NamedData, SaysWhatIsWrongWithALinkOrAList) {
  const TemporaryFolder folder;
  const std::string own = own_file(folder).string();
  Hdf5Maker(own, true)
      .soft_link("/lost", "/raw/frames")
      .numbers("/none", "f64", {0}, {})
      .numbers("/long", "i32", {5, 2}, std::vector<double>(10));
  EXPECT_TRUE(says(refusal_of(own + ":/lost", {.arc_deg = 180}),
                   {"/lost links to /raw/frames, which is not there; it has", "/long (5 x 2, int32, 1 kB)"}));
  EXPECT_TRUE(says(refusal_of(own + ":/lost/deep", {.arc_deg = 180}),
                   {"/lost/deep lies behind /lost, a link to /raw/frames, which is not there"}));
  EXPECT_TRUE(says(refusal_of(own + ":/run/projections", {.angles = own + ":/none"}), {"/none: is empty"}));
  write_text(folder / "none.npy", npy("<f8", "0,", ""));
  EXPECT_TRUE(says(refusal_of(own + ":/run/projections", {.angles = folder / "none.npy"}), {"is empty"}));
}

TEST(NamedData, ListsInOtherFoldersMustBeAllowed) {
  const TemporaryFolder folder, elsewhere;
  const std::string own = own_file(folder).string();
  write_text(elsewhere / "a.raw", bytes_of_numbers<double>({0, 45, 90, 135}));
  Hdf5Maker(own, true).raw("/outside", "f64", {views}, elsewhere / "a.raw");
  io::OpenOptions options;
  options.angles = own + ":/outside";
  EXPECT_TRUE(says(refusal_of(own + ":/run/projections", options), {"outside", "--allow-external-files"}));
  options.view_shifts = own + ":/outside";
  options.allow_external_files = true;
  const auto reader = io::open_scan(own + ":/run/projections", options);
  EXPECT_NEAR(degrees_of(reader->info())[3], 135, 1e-9);
}

TEST(NamedData, AFileWithAColonInItsNameIsAFile) {
  const TemporaryFolder folder;
  write_text(folder / "a.h5", "x");
  EXPECT_EQ(io::inside_file(folder / "a.h5:/b").name, "b");
  EXPECT_EQ(io::inside_file(folder / "a.h5://b/c").name, "b/c");
  EXPECT_EQ(io::inside_file(folder / "b.h5:/b").name, "");
  fs::create_directory(folder / "a.h5:");
  write_text(folder / "a.h5:/b", "x");
  EXPECT_EQ(io::inside_file(folder / "a.h5:/b").name, "");
}

TEST(NumPy, IsAStackOrASinogram) {
  const TemporaryFolder folder;
  write_text(folder / "a.npy", npy("<u2", "4, 3, 5", bytes_of_numbers<std::uint16_t>(frames(0, 4))));
  write_text(folder / "b.npy", npy(">f4", "3, 5", bytes_of_numbers<float>(frames(0, 1), true)));
  write_text(folder / "angles.npy", npy("<f8", "4,", bytes_of_numbers<double>({0, 45, 90, 135})));
  io::OpenOptions options;
  options.angles = folder / "angles.npy";
  const auto reader = io::open_scan(folder / "a.npy", options);
  EXPECT_EQ(reader->info().format, "NumPy stack");
  EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, 4));
  EXPECT_NEAR(degrees_of(reader->info())[3], 135, 1e-9);
  const auto lines = io::open_scan(folder / "b.npy", {.arc_deg = 180});
  EXPECT_EQ(lines->info().format, "NumPy sinogram");
  EXPECT_EQ(all_of(*lines, FrameKind::projection), frames(0, 1));
  options.flats = {folder / "b.npy"};
  EXPECT_EQ(io::open_scan(folder / "a.npy", options)->info().flats, 1);
}

TEST(NumPy, RefusesWhatItCannotRead) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& bytes) {
    write_text(folder / "a.npy", bytes);
    return refusal_of(folder / "a.npy", {.arc_deg = 180});
  };
  const std::string pixels = bytes_of_numbers<float>(frames(0, 4));
  EXPECT_TRUE(says(refused(npy("<f4", "4, 3, 5", pixels, "True")), {"the order of Fortran"}));
  EXPECT_TRUE(says(refused(npy("<f4", "5, 3, 5", pixels)), {"claims 5 x 3 x 5 pixels", "cut short"}));
  std::string last = npy("<f4", "4, 3, 5", pixels);  // the order of axes comes last
  const std::string head = "{'descr': '<f4', 'shape': (4, 3, 5), 'fortran_order': True}";
  last.replace(10, 117, head + std::string(117 - head.size(), ' '));
  EXPECT_TRUE(says(refused(last), {"the order of Fortran"}));
  last.replace(last.find("True"), 4, "Yes ");
  EXPECT_TRUE(says(refused(last), {"True or False is needed"}));
  EXPECT_TRUE(says(refused(npy("<c8", "4, 3, 5", pixels)), {"numbers of type '<c8'"}));
  EXPECT_TRUE(says(refused(npy("<f4", "60,", pixels)), {"has 1 axis"}));
  EXPECT_TRUE(says(refused(npy("<f4", "99999999999999999999, 3, 5", pixels)), {"its shape"}));
  EXPECT_TRUE(says(refused(npy("<f4", "1099511627776, 1099511627776, 5", pixels)), {"claims"}));
  EXPECT_TRUE(says(refused(npy("<f4", "4, 3, 5", pixels).substr(0, 40)), {"ends within its head"}));
}

namespace {

/// A series of images of `mode`, with `pitch` ångström, and bytes of an extended head.
std::string mrc(int mode, const std::string& pixels, bool big, Index images = 4, float pitch = 20,
                Index extended = 0) {
  std::string head(1024 + extended, '\0');
  const auto put = [&](int word, const std::string& bytes) { head.replace(4 * word, 4, bytes); };
  const auto whole = [&](int word, double value) { put(word, bytes_of_numbers<std::int32_t>({value}, big)); };
  whole(0, bins), whole(1, rows), whole(2, images), whole(3, mode);
  whole(7, bins), whole(8, rows), whole(9, images);
  put(10, bytes_of_numbers<float>({pitch * bins}, big));
  whole(23, extended);
  head.replace(208, 4, "MAP ");
  head.replace(212, 2, big ? "\x11\x11" : "DD");
  return head + pixels;
}

}  // namespace

TEST(Mrc, IsReadInEachOrderOfBytes) {
  const TemporaryFolder folder;
  for (const bool big : {false, true}) {
    write_text(folder / "a.st", mrc(6, bytes_of_numbers<std::uint16_t>(frames(0, 4), big), big));
    write_text(folder / "a.rawtlt", "-60\n-20\n20\n60\n");
    const auto reader = io::open_scan(folder / "a.st");
    EXPECT_EQ(reader->info().format, "MRC stack");
    EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, 4)) << big;
    EXPECT_NEAR(degrees_of(reader->info())[0], -60, 1e-9);
    EXPECT_NEAR(reader->info().pixel_size_mm.value(), 20e-7, 1e-12);
  }
}

TEST(Mrc, TakesAnglesOfSerialEm) {
  const TemporaryFolder folder;
  const std::string pixels = std::string(512, '\7') + bytes_of_numbers<float>(frames(0, 4));
  std::string file = mrc(2, "", false, 4, 20, 512);
  file.resize(1024);
  write_text(folder / "a.mrc", file + pixels);
  write_text(folder / "a.mrc.mdoc",
             "TiltAngle = 99\n[ZValue = 3]\nTiltAngle = 20\n[ZValue = 1]\nTiltAngle = 0\n[ZValue = 2]\n"
             "TiltAngle = 10.5\n[ZValue = 0]\nTiltAngle = -10\n");
  const auto reader = io::open_scan(folder / "a.mrc");
  EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, 4));  // behind the extended head
  EXPECT_NEAR(degrees_of(reader->info())[2], 10.5, 1e-9);
  EXPECT_NEAR(degrees_of(io::open_scan(folder / "a.mrc", {.arc_deg = 180})->info())[2], 90, 1e-9);
  write_text(folder / "a.mrc.mdoc", "[ZValue = 1]\nTiltAngle = -10\n");
  EXPECT_TRUE(says(refusal_of(folder / "a.mrc"), {"has no TiltAngle of [ZValue = 0]"}));
  write_text(folder / "a.mrc.mdoc", "[ZValue = 0]\nTiltAngle = 1\nTiltAngle = 2\n");
  EXPECT_TRUE(says(refusal_of(folder / "a.mrc"), {"[ZValue = 0]: a second TiltAngle = 2"}));
  EXPECT_EQ(io::files_behind(folder / "a.mrc").size(), 2u);  // no output may replace the angles
  write_text(folder / "a.mrc.mdoc", "[ZValue = 0]\nTiltAngle = -10\n");
  EXPECT_TRUE(says(refusal_of(folder / "a.mrc"), {"a.mrc.mdoc: has 1 angles for 4 images", "--angles"}));
}

TEST(Mrc, TakesThePixelsOfMicroscopesAsTheyStand) {
  const TemporaryFolder folder;
  const std::string pixels = bytes_of_numbers<float>(frames(0, 4));
  const auto info = [&](float angstrom) {
    write_text(folder / "a.mrc", mrc(2, pixels, false, 4, angstrom));
    return io::open_scan(folder / "a.mrc", {.arc_deg = 120})->info();
  };
  EXPECT_NEAR(info(2.75f).pixel_size_mm.value(), 2.75e-7, 1e-13);
  EXPECT_FALSE(info(1).pixel_size_mm);
  EXPECT_TRUE(says(notes_of(info(1)), {"pixels of 1 angstrom are left out", "--pixel-size"}));
  EXPECT_FALSE(info(0).pixel_size_mm);
}

TEST(Mrc, RefusesWhatItCannotRead) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& bytes) {
    write_text(folder / "a.mrc", bytes);
    return refusal_of(folder / "a.mrc", {.arc_deg = 180});
  };
  const std::string pixels = bytes_of_numbers<float>(frames(0, 4));
  EXPECT_TRUE(says(refused(mrc(4, pixels, false)), {"mode 4"}));
  EXPECT_TRUE(says(refused(mrc(2, pixels, false, 5)), {"claims 5 x 3 x 5 pixels", "cut short"}));
  EXPECT_TRUE(says(refused(mrc(2, pixels, false, -1)), {"at least 1"}));
  EXPECT_TRUE(says(refused("short"), {"has 5 bytes"}));
}

namespace {

/// A header of some bytes, and the sample frames in a type.
template <class T>
void write_raw_frames(const fs::path& path, std::size_t header, std::size_t first, std::size_t count,
                      bool swapped = false) {
  write_text(path, std::string(header, '\3') + bytes_of_numbers<T>(frames(first, count), swapped));
}

io::OpenOptions raw_of(const std::string& text) {
  io::OpenOptions options{.arc_deg = 180};
  EXPECT_EQ(io::read_raw_frames(text, options.raw.emplace()), "");
  return options;
}

}  // namespace

TEST(Raw, FramesOfAFileAreThoseOfDxchange) {
  const TemporaryFolder folder;
  write_raw_frames<std::uint16_t>(folder / "a.raw", 0, 0, 4);
  write_raw_frames<std::uint16_t>(folder / "flat", 7, 4, 2);
  const auto reader = io::open_scan(folder / "a.raw", raw_of("uint16,5x3"));
  EXPECT_EQ(reader->info().format, "raw stack");
  EXPECT_EQ(reader->info().type, io::PixelType::uint16);
  EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, 4));
  write_raw_frames<float>(folder / "a.bin", 512, 0, 4, true);
  EXPECT_EQ(
      all_of(*io::open_scan(folder / "a.bin", raw_of("float32,5x3,header=512,big")), FrameKind::projection),
      frames(0, 4));
  EXPECT_EQ(all_of(*io::open_scan(folder / "a.bin", raw_of(">F4, 5X3, header=512")), FrameKind::projection),
            frames(0, 4));
  write_raw_frames<std::int16_t>(folder / "one.raw", 0, 0, 1);
  const auto lines = io::open_scan(folder / "one.raw", raw_of("int16,5x3"));
  EXPECT_EQ(lines->info().format, "raw sinogram");
  EXPECT_EQ(all_of(*lines, FrameKind::projection), frames(0, 1));
}

TEST(Raw, AFolderHasAFrameInEachFile) {
  const TemporaryFolder folder;
  for (std::size_t k = 0; k < 12; ++k)
    write_raw_frames<std::uint16_t>(folder / ("v_" + std::to_string(k) + ".raw"), 4, k, 1);
  write_raw_frames<std::uint16_t>(folder / "flat_0.raw", 4, 20, 1);
  write_text(folder / "read.me", "x");
  const io::OpenOptions options = raw_of("uint16,5x3,header=4");
  const auto reader = io::open_scan(folder.path(), options);
  EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, 12));
  EXPECT_EQ(all_of(*reader, FrameKind::flat), frames(20, 1));
  EXPECT_EQ(all_of(*io::open_scan(folder / "v_?.raw", options), FrameKind::projection), frames(0, 10));
  EXPECT_EQ(io::files_behind(folder / "v_?.raw").size(), 10u);
  EXPECT_TRUE(says(refusal_of(folder / "w_*.raw", options), {"w_*.raw: no regular file has such a name"}));
  EXPECT_TRUE(says(refusal_of(folder.path(), {.arc_deg = 180}),
                   {"holds no TIFF, EDF or DICOM-CT-PD images", "--raw"}));
  write_raw_frames<std::uint16_t>(folder / "v_3.raw", 4, 3, 2);
  EXPECT_TRUE(says(refusal_of(folder.path(), options), {"v_3.raw: holds 2 images; 1 is needed"}));
}

TEST(Raw, FlatsAndDarksAreReadInTheSameWay) {
  const TemporaryFolder folder;
  write_raw_frames<std::uint16_t>(folder / "a.raw", 0, 0, 4);
  write_raw_frames<std::uint16_t>(folder / "b.raw", 0, 4, 2);
  write_tiff_pages(folder / "c.tif", {frames(6, 1)});
  io::OpenOptions options = raw_of("uint16,5x3");
  options.flats = {folder / "b.raw"}, options.darks = {folder / "c.tif"};
  const auto reader = io::open_scan(folder / "a.raw", options);
  EXPECT_EQ(all_of(*reader, FrameKind::flat), frames(4, 2));
  EXPECT_EQ(all_of(*reader, FrameKind::dark), frames(6, 1));
  EXPECT_TRUE(says(refusal_of(folder / "c.tif", raw_of("uint16,5x3")),
                   {"c.tif: has the format TIFF", "says itself how it is stored; leave --raw out"}));
}

TEST(Raw, RefusesSizesThatDoNotFit) {
  const TemporaryFolder folder;
  write_raw_frames<std::uint16_t>(folder / "a.raw", 0, 0, 4);
  const auto refused = [&](const std::string& text) { return refusal_of(folder / "a.raw", raw_of(text)); };
  EXPECT_TRUE(
      says(refused("uint16,7x3"), {"a.raw: has 120 bytes", "2 frames", "36 bytes more", "header=36"}));
  EXPECT_TRUE(says(refused("uint16,1000000x1000000"), {"need 2000000000000"}));
  EXPECT_TRUE(says(refused("uint64,5x3,header=1099511627776"), {"a.raw: has 120 bytes; a header of"}));
  write_text(folder / "a.raw", "");
  EXPECT_TRUE(says(refused("uint8,1x1"), {"has 0 bytes"}));
  write_text(folder / "a.raw", std::string(1'000'001, 'a'));
  EXPECT_TRUE(says(refused("uint8,1x1"), {"1000001 frames, and no scan has as many"}));
  io::RawFrames raw;
  for (const auto& [text, fault] : std::vector<std::pair<std::string, std::string>>{
           {"", "'' is no type; uint8, uint16"},
           {"uint12,5x3", "'uint12' is no type"},
           {"uint16", "has no size; TYPE,BINSxROWS"},
           {"uint16,", "'' is no size"},
           {"uint16,5", "'5' is no size; BINSxROWS"},
           {"uint16,0x3", "'0x3' is no size"},
           {"uint16,-5x3", "is no size"},
           {"uint16,99999999999999999999x3", "is no size"},
           {"uint16,5x3x2", "is no size"},
           {"uint16,5x3,header", "'header' is not known"},
           {"uint16,5x3,header=", "is not known; header=BYTES"},
           {"uint16,5x3,header=-1", "is not known"},
           {"uint16,5x3,header=4,header=4", "'header=4': the header is given twice"},
           {">u2,5x3,little", "'little': the order of bytes is given twice"},
           {"uint16,5x3,big,big", "'big': the order of bytes is given twice"},
           {"uint16,5x3,header=9999999999999999999", "is not known"},
           {"uint16,5x3,", "'' is not known"}})
    EXPECT_TRUE(says(io::read_raw_frames(text, raw), {fault})) << text;
}

}  // namespace tandem::test
