// When frames were taken, and what the monitor says about the beam.

#include "../../../io/scans/scan_reader.hpp"
#include "../io_checks.hpp"

namespace tandem::test {

namespace {

using Numbers = std::vector<double>;

io::ScanInfo info_of(const fs::path& path, const io::OpenOptions& options = {}) {
  return io::open_scan(path, options)->info();
}

/// Four views and `flats` flats of the sample scan.
void write_dxchange(Hdf5Maker& file, unsigned long long flats) {
  file.numbers("/exchange/data", "u16", {views, rows, bins}, frames(0, views))
      .numbers("/exchange/data_white", "u16", {flats, rows, bins}, frames(4, flats))
      .numbers("/exchange/theta", "f64", {views}, {0, 45, 90, 135});
}

}  // namespace

TEST(FrameTimes, OfNXtomoAreThePlacesInTheStack) {
  const TemporaryFolder folder;
  write_nxtomo(folder / "scan.nxs");  // dark, flat, view, view, flat, alignment, view, view, invalid
  const io::ScanInfo info = info_of(folder / "scan.nxs");
  EXPECT_EQ(info.times.views, (Numbers{2, 3, 6, 7}));
  EXPECT_EQ(info.times.flats, (Numbers{1, 4}));
  EXPECT_TRUE(info.monitor.views.empty());
}

TEST(FrameTimes, NXtomoMayHaveAMonitor) {
  const TemporaryFolder folder;
  write_nxtomo(folder / "scan.nxs");
  Hdf5Maker(folder / "scan.nxs", true)
      .numbers("/entry1/tomo_entry/control/data", "f32", {9}, {0, 1.5, 2, 3, 4.5, 5, 6, 7, 8});
  const io::ScanInfo info = info_of(folder / "scan.nxs");
  EXPECT_EQ(info.monitor.views, (Numbers{2, 3, 6, 7}));
  EXPECT_EQ(info.monitor.flats, (Numbers{1.5, 4.5}));
}

TEST(FrameTimes, AMonitorOfAnotherLengthIsLeftOutAndSaidSo) {
  const TemporaryFolder folder;
  write_nxtomo(folder / "scan.nxs");
  Hdf5Maker(folder / "scan.nxs", true).numbers("/entry1/tomo_entry/control/data", "f32", {2}, {1, 1});
  const io::ScanInfo info = info_of(folder / "scan.nxs");
  EXPECT_TRUE(info.monitor.views.empty());
  EXPECT_TRUE(says(info.notes.back(), {"control/data is left out", "2 numbers for 9 frames"}));
}

TEST(FrameTimes, OfDataExchangeAreTheLocationsOfItsFrames) {
  const TemporaryFolder folder;
  {
    Hdf5Maker file(folder / "scan.h5");
    write_dxchange(file, 3);
    const std::string view = "/exchange/data", flat = "/exchange/data_white", dark = "/exchange/data_dark";
    file.texts("/defaults/HDF5FrameLocation", {dark, flat, flat, view, view, dark, view, view, flat});
    file.text("/process/acquisition/flat_fields/flat_field_mode", "Start");  // the locations say more
  }
  const io::ScanInfo info = info_of(folder / "scan.h5");
  EXPECT_EQ(info.times.views, (Numbers{3, 4, 6, 7}));
  EXPECT_EQ(info.times.flats, (Numbers{1, 2, 8}));
}

TEST(FrameTimes, OfDataExchangeMayBeToldByTheModeOfItsFlats) {
  const auto flats_of = [](const std::string& mode, unsigned long long flats, bool other_locations = false) {
    const TemporaryFolder folder;
    {
      Hdf5Maker file(folder / "scan.h5");
      write_dxchange(file, flats);
      file.text("/process/acquisition/flat_fields/flat_field_mode", mode);
      if (other_locations) file.texts("/defaults/HDF5FrameLocation", {"/exchange/data"});
    }
    const io::ScanInfo info = info_of(folder / "scan.h5");
    EXPECT_EQ(info.times.views.empty(), info.times.flats.empty());
    return info.times.flats;
  };
  EXPECT_EQ(flats_of("Both", 4), (Numbers{-2, -1, 4, 5}));
  EXPECT_EQ(flats_of("Start", 2), (Numbers{-2, -1}));
  EXPECT_EQ(flats_of("End", 2), (Numbers{4, 5}));
  EXPECT_EQ(flats_of("Both", 3), Numbers{});  // three flats have no half
  EXPECT_EQ(flats_of("None", 2), Numbers{});
  EXPECT_EQ(flats_of("Both", 4, true), (Numbers{-2, -1, 4, 5}));  // locations of a part of the frames
}

TEST(FrameTimes, MayBeGiven) {
  const TemporaryFolder folder;
  {
    Hdf5Maker file(folder / "scan.h5");
    write_dxchange(file, 4);
  }
  EXPECT_TRUE(info_of(folder / "scan.h5").times.flats.empty());
  const io::ScanInfo info = info_of(folder / "scan.h5", {.flat_views = {0, 4}});
  EXPECT_EQ(info.times.views, (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(info.times.flats, (Numbers{0, 0, 4, 4}));
  EXPECT_TRUE(says(refusal_of(folder / "scan.h5", {.flat_views = {0, 2, 4}}),
                   {"--flat-loc", "3 views for 4 flats", "equal size"}));
}

/// Nobody knows when the given flats were taken.
TEST(FrameTimes, AreForgottenWhereOtherFlatsAreGivenToo) {
  const TemporaryFolder folder;
  write_nxtomo(folder / "scan.nxs");
  {
    Hdf5Maker file(folder / "flats.h5");
    write_dxchange(file, 2);
  }
  const io::ScanInfo info = info_of(folder / "scan.nxs", {.flats = {folder / "flats.h5"}});
  EXPECT_EQ(info.flats, 4);
  EXPECT_TRUE(info.times.flats.empty());
  EXPECT_TRUE(says(info.notes.back(), {"--flats", "together", "--flat-loc"}));
  const io::ScanInfo told =
      info_of(folder / "scan.nxs", {.flats = {folder / "flats.h5"}, .flat_views = {0, 4}});
  EXPECT_EQ(told.times.flats, (Numbers{0, 0, 4, 4}));
}

TEST(FrameTimes, FramesKnowTheirNumbers) {
  const TemporaryFolder folder;
  write_nxtomo(folder / "scan.nxs");
  const auto reader = io::open_scan(folder / "scan.nxs");
  EXPECT_EQ(reader->read(io::FrameKind::projection, {2, 4}, {0, 1}, {0, 1}).first, 2);
}

}  // namespace tandem::test
