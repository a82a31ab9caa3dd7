#include <sys/stat.h>

#include <cmath>
#include <fstream>

#include "../io_checks.hpp"

namespace tandem::test {

using io::FrameKind;

namespace {

/// A DXchange scan of which one property is wrong.
struct Parts {
  std::vector<unsigned long long> extents{views, rows, bins};
  std::vector<double> data = frames(0, views), angles{0, 45, 90, 135};
  std::string type = "u16";
};

void write(const fs::path& path, const Parts& parts) {
  Hdf5Maker(path)
      .numbers("/exchange/data", parts.type, parts.extents, parts.data)
      .numbers("/exchange/theta", "f64", {parts.angles.size()}, parts.angles);
}

void cut(const fs::path& path, double share) {
  fs::resize_file(path, static_cast<std::uintmax_t>(static_cast<double>(fs::file_size(path)) * share));
}

}  // namespace

TEST(OpenScan, RefusesWhatIsNoScan) {
  const TemporaryFolder folder;
  EXPECT_TRUE(says(refusal_of(folder / "lost.h5"), {"lost.h5: no such file"}));
  write_lines(folder / "text.h5", {"hello"});
  EXPECT_TRUE(says(refusal_of(folder / "text.h5"), {"text.h5: is neither HDF5 nor an image", "DXchange"}));
  write_lines(folder / "empty.h5", {});
  EXPECT_TRUE(says(refusal_of(folder / "empty.h5"), {"empty.h5: is neither"}));
  Hdf5Maker(folder / "other.h5").numbers("/a/b", "f64", {3}, {1, 2, 3});
  EXPECT_TRUE(says(refusal_of(folder / "other.h5"), {"other.h5: is no scan", "/exchange/data", "NXtomo"}));
  Hdf5Maker(folder / "group.h5").group("/exchange/data");
  EXPECT_TRUE(says(refusal_of(folder / "group.h5"), {"group.h5: /exchange/data: is a group"}));
  EXPECT_TRUE(says(refusal_of("/dev/full"), {"/dev/full"}));
}

/// A link to another file that is not there may be what makes a file no scan.
TEST(OpenScan, NamesAFileThatIsMissing) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& link, const std::function<void(Hdf5Maker&)>& beside) {
    {
      Hdf5Maker file(folder / "scan.h5");
      file.external_link(link, "gone.h5", "/data");
      beside(file);
    }
    return refusal_of(folder / "scan.h5");
  };
  for (const char* link : {"/exchange", "/entry1/tomo_entry/data/data", "/entry/cam/data"})
    EXPECT_TRUE(says(refused(link,
                             [](Hdf5Maker& f) {
                               f.numbers("/entry/angles", "f64", {2}, {0, 1});
                             }),
                     {"is no scan", std::string(link) + " links to gone.h5, which cannot be opened"}));
  EXPECT_TRUE(says(refused("/entry/instrument/cam/image_key",
                           [](Hdf5Maker& f) { f.hard_link("/entry/instrument/loop", "/entry"); }),
                   {"is no scan", "/image_key links to gone.h5"}));
}

TEST(OpenScan, RefusesDataThatAreNoNumbersOrOfWrongRank) {
  const TemporaryFolder folder;
  Hdf5Maker(folder / "text.h5").text("/exchange/data", "hello");
  EXPECT_TRUE(says(refusal_of(folder / "text.h5"), {"/exchange/data: has 0 axes; 3"}));
  write(folder / "flat.h5", {.extents = {views * rows * bins}});
  EXPECT_TRUE(
      says(refusal_of(folder / "flat.h5"), {"/exchange/data: has 1 axis; 3 are needed (view, row, bin)"}));
  write(folder / "deep.h5", {.extents = {1, views, rows, bins}});
  EXPECT_TRUE(says(refusal_of(folder / "deep.h5"), {"/exchange/data: has 1 times; give --time K"}));
  Hdf5Maker(folder / "deeper.h5").numbers("/exchange/data", "u8", {1, 1, 1, 1, 1}, {0});
  EXPECT_TRUE(says(refusal_of(folder / "deeper.h5"), {"/exchange/data: has 5 axes"}));
  Hdf5Maker(folder / "angles.h5")
      .numbers("/exchange/data", "u16", {views, rows, bins}, frames(0, views))
      .text("/exchange/theta", "0 45 90 135");
  EXPECT_TRUE(says(refusal_of(folder / "angles.h5"), {"/exchange/theta: holds no numbers"}));
}

TEST(OpenScan, RefusesEmptyScans) {
  const TemporaryFolder folder;
  write(folder / "views.h5", {.extents = {0, rows, bins}, .data = {}});
  EXPECT_TRUE(says(refusal_of(folder / "views.h5"), {"/exchange/data: has 0 views"}));
  write(folder / "bins.h5", {.extents = {views, rows, 0}, .data = {}});
  EXPECT_TRUE(says(refusal_of(folder / "bins.h5"), {"/exchange/data", "0 bins"}));
  write(folder / "unwritten.h5", {.data = {}});
  EXPECT_TRUE(
      says(refusal_of(folder / "unwritten.h5"), {"/exchange/data: holds no data; it was never written"}));
}

TEST(OpenScan, RefusesAnglesThatDoNotFitTheViews) {
  const TemporaryFolder folder;
  write(folder / "few.h5", {.angles = {0, 1, 2}});
  EXPECT_TRUE(says(refusal_of(folder / "few.h5"),
                   {"few.h5: /exchange/theta: 3 angles for 4 views", "--angles FILE"}));
  write(folder / "many.h5", {.angles = {0, 1, 2, 3, 4}});
  EXPECT_TRUE(says(refusal_of(folder / "many.h5"), {"many.h5: /exchange/theta: 5 angles for 4 views"}));
  write(folder / "nan.h5", {.angles = {0, 1, std::nan(""), 3}});
  EXPECT_TRUE(
      says(refusal_of(folder / "nan.h5"), {"nan.h5: /exchange/theta: the angle of view 2 is nan deg"}));
  Hdf5Maker(folder / "none.h5").numbers("/exchange/data", "u16", {views, rows, bins}, frames(0, views));
  EXPECT_TRUE(says(refusal_of(folder / "none.h5"),
                   {"none.h5: /exchange/theta: missing; give --angles FILE or --arc DEG"}));
}

TEST(OpenScan, RefusesFlatsAndDarksOfAnotherSize) {
  const TemporaryFolder folder;
  for (const std::string name : {"data_white", "data_dark"}) {
    Hdf5Maker(folder / "scan.h5")
        .numbers("/exchange/data", "u16", {views, rows, bins}, frames(0, views))
        .numbers("/exchange/theta", "f64", {views}, {0, 45, 90, 135})
        .numbers("/exchange/" + name, "u16", {1, bins, rows}, frames(0, 1));
    EXPECT_TRUE(says(refusal_of(folder / "scan.h5"),
                     {"scan.h5: /exchange/" + name, "5 x 3", "3 x 5", "/exchange/data"}));
  }
}

TEST(OpenScan, TakesFurtherFlatsFromEveryLayout) {
  const TemporaryFolder folder;
  write_data_exchange(folder / "scan.h5");
  write_data_exchange(folder / "other.h5");
  write_nxtomo(folder / "other.nxs");
  write_tiff_pages(folder / "flat.tif", {frames(5, 1), frames(6, 1)});
  io::OpenOptions options;
  options.flats = {folder / "other.h5", folder / "other.nxs", folder / "flat.tif"};
  options.darks = {folder / "other.nxs"};
  const auto reader = io::open_scan(folder / "scan.h5", options);
  EXPECT_EQ(reader->info().flats, 2 + 2 + 2 + 2);
  EXPECT_EQ(reader->info().darks, 1 + 1);
  EXPECT_EQ(values(reader->read(FrameKind::flat, {6, 8}, {0, 3}, {0, 5})), frames(5, 2));
  EXPECT_EQ(values(reader->read(FrameKind::dark, {1, 2}, {0, 3}, {0, 5})), frames(8, 1));
}

TEST(OpenScan, RefusesFurtherFlatsThatAreNone) {
  const TemporaryFolder folder;
  write_data_exchange(folder / "scan.h5");
  Hdf5Maker(folder / "none.h5").group("/exchange");
  write_tiff_pages(folder / "small.tif", {frames(0, 1)}, {.height = 5, .width = 3});
  const auto refused = [&](const fs::path& flat) {
    io::OpenOptions options;
    options.flats = {flat};
    return refusal_of(folder / "scan.h5", options);
  };
  EXPECT_TRUE(says(refused(folder / "lost.tif"), {"lost.tif: no such file"}));
  EXPECT_TRUE(says(refused(folder / "none.h5"), {"none.h5: holds no flats", "data_white"}));
  EXPECT_TRUE(says(refused(folder / "small.tif"), {"small.tif", "5 x 3", "3 x 5"}));
}

TEST(OpenScan, RefusesFilesCutShort) {
  const TemporaryFolder folder;
  for (const double share : {0.001, 0.1, 0.5, 0.9}) {
    write_data_exchange(folder / "scan.h5");
    cut(folder / "scan.h5", share);
    EXPECT_TRUE(says(refusal_of(folder / "scan.h5"), {"scan.h5: "}));
    write_tiff_pages(folder / "scan.tif", {frames(0, 1), frames(1, 1)});
    cut(folder / "scan.tif", share);
    io::OpenOptions options;
    options.arc_deg = 180;
    EXPECT_TRUE(says(refusal([&] {
                       const auto reader = io::open_scan(folder / "scan.tif", options);
                       all_of(*reader, FrameKind::projection);
                     }),
                     {"scan.tif: "}));
  }
}

TEST(OpenScan, RefusesSizesThatTheFileCannotHold) {
  const TemporaryFolder folder;
  const unsigned long long many = 1'000'000'000'000;
  Hdf5Maker(folder / "chunked.h5")
      .numbers("/exchange/data", "u16", {many, rows, bins}, {}, {1, rows, bins})
      .numbers("/exchange/theta", "f64", {many}, {}, {1000});
  EXPECT_TRUE(says(refusal_of(folder / "chunked.h5"), {"chunked.h5: /exchange/data: holds no data"}));
  Hdf5Maker(folder / "plain.h5").numbers("/exchange/data", "u16", {many, rows, bins}, {});
  EXPECT_TRUE(says(refusal_of(folder / "plain.h5"), {"plain.h5: /exchange/data"}));
  Hdf5Maker(folder / "vast.h5").numbers("/exchange/data", "u8", {many, many / 1000, 1}, {}, {1, 1, 1});
  EXPECT_TRUE(says(refusal_of(folder / "vast.h5"), {"vast.h5: /exchange/data: claims"}));
}

TEST(OpenScan, RefusesNumbersWhoseBitsLieOutsideTheirBytes) {
  const TemporaryFolder folder;
  write_nxtomo(folder / "scan.nxs");
  std::ifstream in(folder / "scan.nxs", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  // the type of the keys in its file form: integer, signed, 4 bytes, bits 0 to 32
  const std::string type("\x10\x08\0\0\x04\0\0\0\0\0\x20\0", 12);
  for (auto at = bytes.find(type); at != std::string::npos; at = bytes.find(type, at + 1))
    bytes[at + 11] = '\x7f';
  std::ofstream(folder / "scan.nxs", std::ios::binary) << bytes;
  EXPECT_TRUE(says(refusal_of(folder / "scan.nxs"), {"image_key_control: holds no numbers"}));
}

TEST(ScanReader, RefusesRangesOutsideTheScan) {
  const TemporaryFolder folder;
  write_data_exchange(folder / "scan.h5");
  const auto reader = io::open_scan(folder / "scan.h5");
  const auto refused = [&](FrameKind kind, Range v, Range y, Range x) {
    return refusal([&] { reader->read(kind, v, y, x); });
  };
  EXPECT_TRUE(says(refused(FrameKind::projection, {0, 5}, {0, 3}, {0, 5}),
                   {"scan.h5: /exchange/data: views 0:5 are wanted; there are 0:4"}));
  EXPECT_TRUE(
      says(refused(FrameKind::flat, {-1, 1}, {0, 3}, {0, 5}), {"scan.h5: /exchange/data_white: flats -1:1"}));
  EXPECT_TRUE(
      says(refused(FrameKind::dark, {0, 1}, {2, 4}, {0, 5}), {"/exchange/data_dark: rows 2:4", "0:3"}));
  EXPECT_TRUE(says(refused(FrameKind::dark, {0, 1}, {0, 3}, {4, 2}), {"bins 4:2", "0:5"}));
}

}  // namespace tandem::test
