// Data that libhdf5 would hand out as zeros: sources, chunks and files that are not there, or not all of
// them.

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "../../../io/volumes/volume_file.hpp"
#include "../io_checks.hpp"

namespace tandem::test {

using io::FrameKind;

namespace {

void write_part(const fs::path& path, std::size_t first, unsigned long long count) {
  Hdf5Maker(path).numbers("/d", "u16", {count, rows, bins}, frames(first, count));
}

/// A DXchange scan of two virtual halves in the folder "parts".
void write_stitched(const fs::path& folder) {
  fs::create_directory(folder / "parts");
  write_part(folder / "parts/a.h5", 0, 2);
  write_part(folder / "parts/b.h5", 2, 2);
  Hdf5Maker(folder / "scan.h5")
      .stitched("/exchange/data", "u16", {views, rows, bins}, 2, {{"parts/a.h5", "/d"}, {"parts/b.h5", "/d"}})
      .numbers("/exchange/theta", "f64", {views}, {0, 45, 90, 135});
}

std::string numbered(const char* stem, std::size_t number) {
  std::ostringstream name;
  name << stem << number << ".h5";
  return name.str();
}

void write_raw(const fs::path& path, const fs::path& file) {
  Hdf5Maker(path)
      .raw("/exchange/data", "u8", {views, rows, bins}, file)
      .numbers("/exchange/theta", "f64", {views}, {0, 45, 90, 135});
}

void write_bytes(const fs::path& path, std::size_t count) {
  std::ofstream file(path, std::ios::binary);
  for (std::size_t i = 0; i < count; ++i) file.put(static_cast<char>(i));
}

std::string refusal_to_read(io::ScanReader& reader) {
  return refusal([&] { all_of(reader, FrameKind::projection); });
}

/// Lets this process have less of a resource while it lives.
class Limit {
 public:
  Limit(__rlimit_resource what, rlim_t most) : what_(what) {
    getrlimit(what_, &before_);
    const rlimit now{most, before_.rlim_max};
    setrlimit(what_, &now);
  }
  ~Limit() { setrlimit(what_, &before_); }

 private:
  __rlimit_resource what_;
  rlimit before_{};
};

rlim_t bytes_mapped() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST(VirtualData, ReadFromTheirSources) {
  const TemporaryFolder folder;
  write_stitched(folder.path());
  const auto reader = io::open_scan(folder / "scan.h5");
  EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, views));

  Hdf5Maker(folder / "self.h5")
      .numbers("/raw", "u16", {2, rows, bins}, frames(0, 2))
      .stitched("/exchange/data", "u16", {views, rows, bins}, 2, {{".", "raw"}, {"parts/b.h5", "/d"}})
      .stitched("/exchange/data_white", "u16", {2, rows, bins}, 2, {{"scan.h5", "/white"}})
      .numbers("/exchange/theta", "f64", {views}, {0, 45, 90, 135});
  write_part(folder / "white.h5", 5, 2);
  fs::remove(folder / "scan.h5");
  Hdf5Maker(folder / "scan.h5").stitched("/white", "u16", {2, rows, bins}, 2, {{"white.h5", "/d"}});
  const auto nested = io::open_scan(folder / "self.h5");
  EXPECT_EQ(all_of(*nested, FrameKind::projection), frames(0, views));
  EXPECT_EQ(all_of(*nested, FrameKind::flat), frames(5, 2));
}

TEST(VirtualData, GoOnAsLongAsThereAreSources) {
  const TemporaryFolder folder;
  for (std::size_t view = 0; view < views; ++view) write_part(folder / numbered("frame_", view), view, 1);
  Hdf5Maker(folder / "scan.h5")
      .endless("/exchange/data", "u16", {views, rows, bins}, {"frame_%b.h5", "/d"})
      .numbers("/exchange/theta", "f64", {views}, {0, 45, 90, 135});
  EXPECT_EQ(all_of(*io::open_scan(folder / "scan.h5"), FrameKind::projection), frames(0, views));
  fs::remove(folder / "frame_2.h5");  // the data set ends before it
  EXPECT_TRUE(says(refusal_of(folder / "scan.h5"), {"scan.h5: /exchange/"}));
}

TEST(VirtualData, RefuseSourcesThatAreMissing) {
  const TemporaryFolder folder;
  write_stitched(folder.path());
  fs::remove(folder / "parts/b.h5");
  EXPECT_TRUE(says(refusal_of(folder / "scan.h5"),
                   {"scan.h5: /exchange/data: its source parts/b.h5 is missing", "scan.h5"}));
  Hdf5Maker(folder / "parts/b.h5").numbers("/other", "u16", {2, rows, bins}, frames(2, 2));
  EXPECT_TRUE(says(refusal_of(folder / "scan.h5"),
                   {"scan.h5: /exchange/data: its source parts/b.h5: /d: no such data set"}));
  write_lines(folder / "parts/b.h5", {"no HDF5"});
  EXPECT_TRUE(says(refusal_of(folder / "scan.h5"), {"scan.h5: /exchange/data: its source", "b.h5: "}));
}

TEST(VirtualData, RefuseSourcesThatAreTooSmall) {
  const TemporaryFolder folder;
  write_stitched(folder.path());
  write_part(folder / "parts/b.h5", 2, 1);
  EXPECT_TRUE(
      says(refusal_of(folder / "scan.h5"), {"scan.h5: /exchange/data: its source parts/b.h5: /d: has ",
                                            "1 x 3 x 5 elements; 2 x 3 x 5 are needed"}));
}

TEST(VirtualData, RefuseSourcesThatWereNotWritten) {
  const TemporaryFolder folder;
  write_stitched(folder.path());
  Hdf5Maker(folder / "parts/a.h5").begun("/d", "u16", {2, rows, bins}, frames(0, 1));
  EXPECT_TRUE(says(refusal_of(folder / "scan.h5"),
                   {"/exchange/data: its source parts/a.h5: /d: 1 of its 2 chunks were never written"}));
}

TEST(VirtualData, RefuseElementsWithoutASource) {
  const TemporaryFolder folder;
  write_stitched(folder.path());
  Hdf5Maker(folder / "scan.h5")
      .stitched("/exchange/data", "u16", {views, rows, bins}, 2, {{"parts/a.h5", "/d"}})
      .numbers("/exchange/theta", "f64", {views}, {0, 45, 90, 135});
  EXPECT_TRUE(says(refusal_of(folder / "scan.h5"),
                   {"scan.h5: /exchange/data: 30 of its 60 elements come from no source"}));
}

TEST(VirtualData, RefuseToBeReadOnceASourceHasGone) {
  const TemporaryFolder folder;
  write_stitched(folder.path());
  const auto cut = io::open_scan(folder / "scan.h5");
  fs::resize_file(folder / "parts/b.h5", fs::file_size(folder / "parts/b.h5") - 10);
  EXPECT_TRUE(says(refusal_to_read(*cut), {"scan.h5: /exchange/data", "b.h5 had ", "bytes", "has "}));
  fs::remove(folder / "parts/a.h5");
  EXPECT_TRUE(says(refusal_to_read(*cut), {"scan.h5: /exchange/data", "a.h5 cannot be seen"}));
}

TEST(VirtualData, RefuseMoreSourcesThanFileHandles) {
  const TemporaryFolder folder;
  std::vector<Source> sources;
  for (std::size_t view = 0; view < 100; ++view) {
    sources.push_back({numbered("f", view), "/d"});
    write_part(folder / sources.back().file, view, 1);
  }
  Hdf5Maker(folder / "scan.h5")
      .stitched("/exchange/data", "u16", {100, rows, bins}, 1, sources)
      .numbers("/exchange/theta", "f64", {100}, frames(0, 7));
  io::OpenOptions options;
  options.arc_deg = 180;
  EXPECT_EQ(all_of(*io::open_scan(folder / "scan.h5", options), FrameKind::projection), frames(0, 100));
  for (const rlim_t handles : {64u, 112u}) {  // while sources are opened; too few spare ones afterwards
    const Limit few(RLIMIT_NOFILE, handles);
    EXPECT_TRUE(says(refusal_of(folder / "scan.h5", options), {"scan.h5: ", "ulimit -n"}));
  }
}

TEST(Chunks, MustAllHaveBeenWritten) {
  const TemporaryFolder folder;
  const auto begun = [&](const std::string& name, std::size_t written) {
    Hdf5Maker file(folder / "scan.h5");
    const auto put = [&](const std::string& path, unsigned long long n) {
      if (path == name)
        file.begun(path, "u16", {n, rows, bins}, frames(0, written));
      else
        file.numbers(path, "u16", {n, rows, bins}, frames(0, n), {1, rows, bins}, true);
    };
    put("/exchange/data", views), put("/exchange/data_white", 3), put("/exchange/data_dark", 2);
    file.numbers("/exchange/theta", "f64", {views}, {0, 45, 90, 135});
  };
  begun("none", 0);
  EXPECT_EQ(io::open_scan(folder / "scan.h5")->info().flats, 3);
  begun("/exchange/data", 3);
  EXPECT_TRUE(says(refusal_of(folder / "scan.h5"),
                   {"scan.h5: /exchange/data: 1 of its 4 chunks were never written"}));
  begun("/exchange/data_white", 1);
  EXPECT_TRUE(says(refusal_of(folder / "scan.h5"),
                   {"scan.h5: /exchange/data_white: 2 of its 3 chunks were never written"}));
  begun("/exchange/data_dark", 0);
  EXPECT_TRUE(says(refusal_of(folder / "scan.h5"), {"scan.h5: /exchange/data_dark: holds no data"}));
}

TEST(Chunks, OfAnglesMustAllHaveBeenWritten) {
  const TemporaryFolder folder;
  Hdf5Maker(folder / "scan.h5")
      .numbers("/exchange/data", "u16", {views, rows, bins}, frames(0, views))
      .begun("/exchange/theta", "f64", {views}, {0, 45});
  EXPECT_TRUE(says(refusal_of(folder / "scan.h5"),
                   {"scan.h5: /exchange/theta: 2 of its 4 chunks were never written"}));
}

/// The fuzzer found this: no memory holds so many angles, and none shall be asked for.
TEST(Chunks, OfMoreAnglesThanMemoryHoldsAreMissing) {
  const TemporaryFolder folder;
  Hdf5Maker(folder / "scan.h5")
      .numbers("/exchange/data", "u16", {views, rows, bins}, frames(0, views))
      .numbers("/exchange/theta", "f64", {1ull << 40}, {}, {1ull << 20});
  EXPECT_TRUE(says(refusal_of(folder / "scan.h5"),
                   {"scan.h5: /exchange/theta: holds no data; it was never written"}));
}

TEST(Chunks, ClaimWhatTheFileCanHave) {
  const TemporaryFolder folder;
  const fs::path path = folder / "scan.h5";
  Hdf5Maker(path)
      .numbers("/exchange/data", "u16", {views, rows, bins}, frames(0, views), {1, rows, bins}, true)
      .numbers("/exchange/theta", "f64", {views}, {0, 45, 90, 135});
  std::stringstream all;
  all << std::ifstream(path, std::ios::binary).rdbuf();
  std::string bytes = all.str();
  const std::size_t node = bytes.find(std::string("TREE\1", 5));  // node of an index of chunks
  ASSERT_NE(node, std::string::npos);
  const std::string size = bytes.substr(node + 24, 4);
  const auto claim = [&](const std::string& chunk_size, char filters_skipped = '\0') {
    bytes.replace(node + 24, 4, chunk_size)[node + 28] = filters_skipped;
    std::ofstream(path, std::ios::binary) << bytes;
  };
  claim({'\0', '\0', '\0', '\x40'});
  EXPECT_TRUE(says(refusal_of(path), {"scan.h5: /exchange/data: its chunks claim 1.07374", "damaged"}));
  claim(std::string(4, '\0'));
  EXPECT_TRUE(says(refusal_to_read(*io::open_scan(path)),
                   {"scan.h5: /exchange/data: chunk at (0, 0, 0) cannot be unpacked (deflate)", "damaged"}));
  claim(size, '\1');  // packed, and said not to be
  EXPECT_TRUE(says(refusal_to_read(*io::open_scan(path)),
                   {"chunk at (0, 0, 0) has", "; 30 bytes are due", "damaged"}));
  claim(size);
  EXPECT_EQ(all_of(*io::open_scan(path), FrameKind::projection), frames(0, views));
}

TEST(Chunks, OfVolumesMustAllHaveBeenWritten) {
  const TemporaryFolder folder;
  Hdf5Maker(folder / "volume.h5").begun("/exchange/data", "f32", {views, rows, bins}, frames(0, 3));
  EXPECT_TRUE(says(refusal([&] { io::VolumeReader(folder / "volume.h5"); }),
                   {"volume.h5: /exchange/data: 1 of its 4 chunks were never written"}));
  write_stitched(folder.path());
  fs::remove(folder / "parts/a.h5");
  EXPECT_TRUE(says(refusal([&] { io::VolumeReader(folder / "scan.h5"); }),
                   {"scan.h5: /exchange/data: its source parts/a.h5 is missing"}));
}

TEST(ExternalData, MustBeThereAndWhole) {
  const TemporaryFolder folder;
  const std::size_t count = views * rows * bins;
  write_bytes(folder / "pixels.raw", count);
  write_raw(folder / "scan.h5", folder / "pixels.raw");
  const std::vector<double> read = all_of(*io::open_scan(folder / "scan.h5"), FrameKind::projection);
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(read[i], static_cast<double>(i));

  const auto reader = io::open_scan(folder / "scan.h5");
  write_bytes(folder / "pixels.raw", count - 1);
  EXPECT_TRUE(
      says(refusal_to_read(*reader), {"scan.h5: /exchange/data", "pixels.raw had 60 bytes", "59 now"}));
  EXPECT_TRUE(says(refusal_of(folder / "scan.h5"), {"scan.h5: /exchange/data: needs bytes 0 to 60 of",
                                                    "pixels.raw, which has 59; it was cut short"}));
  fs::remove(folder / "pixels.raw");
  EXPECT_TRUE(says(refusal_of(folder / "scan.h5"),
                   {"scan.h5: /exchange/data: its data are in", "pixels.raw, which cannot be seen"}));
}

TEST(ExternalData, StayInTheFolderOfTheScanUnlessAllowed) {
  const TemporaryFolder folder, elsewhere;
  write_bytes(elsewhere / "secret", views * rows * bins);
  fs::create_symlink(elsewhere / "secret", folder / "pixels.raw");
  for (const fs::path& file : {elsewhere / "secret", folder / "pixels.raw"}) {
    write_raw(folder / "scan.h5", file);
    EXPECT_TRUE(says(refusal_of(folder / "scan.h5"),
                     {"scan.h5: /exchange/data: its data are in", "outside", "--allow-external-files"}));
    io::OpenOptions options;
    options.allow_external_files = true;
    EXPECT_EQ(all_of(*io::open_scan(folder / "scan.h5", options), FrameKind::projection)[7], 7);
  }
  write_raw(folder / "source.h5", elsewhere / "secret");  // nor through the source of a virtual data set
  Hdf5Maker(folder / "scan.h5")
      .stitched("/exchange/data", "u8", {views, rows, bins}, views, {{"source.h5", "/exchange/data"}})
      .numbers("/exchange/theta", "f64", {views}, {0, 45, 90, 135});
  EXPECT_TRUE(says(refusal_of(folder / "scan.h5"), {"scan.h5: /exchange/data: its source", "outside"}));
}

TEST(ScanReader, SaysThatMemoryEnds) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer maps more than any limit";
#endif
  const TemporaryFolder folder;
  const unsigned long long side = 10'000;
  std::ofstream(folder / "pixels.raw");
  fs::resize_file(folder / "pixels.raw", side * side);
  Hdf5Maker(folder / "scan.h5")
      .raw("/exchange/data", "u8", {1, side, side}, folder / "pixels.raw")
      .numbers("/exchange/theta", "f64", {1}, {0});
  const auto reader = io::open_scan(folder / "scan.h5");
  const Limit little(RLIMIT_AS, bytes_mapped() + (50 << 20));
  const auto n = static_cast<Index>(side);
  try {
    reader->read(FrameKind::projection, {0, 1}, {0, n}, {0, n});
    FAIL() << "no error";
  } catch (const DeviceError& error) {
    EXPECT_TRUE(says(error.what(), {"scan.h5: /exchange/data: ", "--memory"}));
  }
}

TEST(ScanReader, SaysThatFileHandlesRunOut) {
  const TemporaryFolder folder;
  write_data_exchange(folder / "scan.h5");
  const Limit none(RLIMIT_NOFILE, 3);
  EXPECT_TRUE(says(refusal_of(folder / "scan.h5"), {"scan.h5: ", "ulimit -n"}));
}

TEST(ScanReader, RefusesToReadAFileThatHasChanged) {
  const TemporaryFolder folder;
  write_data_exchange(folder / "scan.h5");
  const auto cut = io::open_scan(folder / "scan.h5");
  fs::resize_file(folder / "scan.h5", fs::file_size(folder / "scan.h5") / 2);
  EXPECT_TRUE(says(refusal_to_read(*cut), {"scan.h5: /exchange/data", "scan.h5 had ", "now"}));

  write_data_exchange(folder / "other.h5");
  const auto written = io::open_scan(folder / "other.h5");
  fs::last_write_time(folder / "other.h5",
                      fs::last_write_time(folder / "other.h5") + std::chrono::seconds(1));
  EXPECT_TRUE(says(refusal_to_read(*written), {"other.h5: /exchange/data", "was written to since"}));
}

}  // namespace tandem::test
