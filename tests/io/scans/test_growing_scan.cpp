#include "../../../io/scans/growing_scan.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <thread>

#include "../../../core/units.hpp"
#include "../io_checks.hpp"

namespace tandem::io {
namespace {

using test::Hdf5Maker, test::refusal, test::says;

constexpr hsize_t most = 6;

/// A process that writes scans as an acquisition program does: it closes the file after each batch of views.
/// It is forked before this process opens a file, so that libhdf5 knows of none there.
class Writer {
 public:
  /// The data set becomes `extent` long; views from `first` to `last` are written. Makes the data set, with
  /// `room`, if that is not 0.
  struct Command {
    char path[512];
    hsize_t room, extent, first, last;
  };

  Writer() {
    if (::pipe(to_.data()) != 0 || ::pipe(back_.data()) != 0) throw std::runtime_error("no pipe");
    id_ = ::fork();
    if (id_ == 0) serve();
    ::close(to_[0]), ::close(back_[1]);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() {
    ::close(to_[1]), ::close(back_[0]);
    ::waitpid(id_, nullptr, 0);
  }

  void operator()(const std::filesystem::path& path, hsize_t room, hsize_t extent, hsize_t first,
                  hsize_t last) {
    Command command{{}, room, extent, first, last};
    std::snprintf(command.path, sizeof command.path, "%s", path.c_str());
    char done = 0;
    EXPECT_EQ(::write(to_[1], &command, sizeof command), static_cast<ssize_t>(sizeof command));
    EXPECT_EQ(::read(back_[0], &done, 1), 1);
    EXPECT_EQ(done, 'y');
  }

 private:
  [[noreturn]] void serve() const {
    ::close(to_[1]), ::close(back_[0]);
    Command command{};
    while (::read(to_[0], &command, sizeof command) == static_cast<ssize_t>(sizeof command)) {
      const char done = work(command) ? 'y' : 'n';
      if (::write(back_[1], &done, 1) != 1) break;
    }
    ::_exit(0);
  }

  static void make(hid_t file, hsize_t room) {
    const hsize_t none[] = {0, test::rows, test::bins}, all[] = {room, test::rows, test::bins},
                  one[] = {1, test::rows, test::bins};
    const hid_t plan = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(3, none, all);
    H5Pset_chunk(plan, 3, one);
    H5Dclose(H5Dcreate2(file, "/exchange/data", H5T_STD_U16LE, space, H5P_DEFAULT, plan, H5P_DEFAULT));
    H5Sclose(space), H5Pclose(plan);
  }

  static bool work(const Command& command) {
    const hid_t file = H5Fopen(command.path, H5F_ACC_RDWR, H5P_DEFAULT);
    if (file < 0) return false;
    if (command.room > 0) make(file, command.room);
    const hid_t set = H5Dopen2(file, "/exchange/data", H5P_DEFAULT);
    const hsize_t size[] = {command.extent, test::rows, test::bins}, at[] = {command.first, 0, 0},
                  count[] = {command.last - command.first, test::rows, test::bins};
    bool good = H5Dset_extent(set, size) >= 0;
    const hid_t space = H5Dget_space(set), memory = H5Screate_simple(3, count, nullptr);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, at, nullptr, count, nullptr);
    const std::vector<double> pixels = test::frames(command.first, count[0]);
    if (count[0] > 0)
      good = H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, pixels.data()) >= 0 && good;
    H5Sclose(memory), H5Sclose(space), H5Dclose(set), H5Fclose(file);
    return good;
  }

  std::array<int, 2> to_{}, back_{};
  pid_t id_ = -1;
};

class GrowingScanTest : public ::testing::Test {
 protected:
  std::filesystem::path path() const { return folder_ / "scan.h5"; }

  void begin(hsize_t room = most, const std::vector<double>& theta = {0, 30, 60, 90, 120, 150}) {
    Hdf5Maker(path())
        .numbers("/exchange/theta", "f64", {theta.size()}, theta)
        .numbers("/exchange/data_white", "u16", {1, test::rows, test::bins}, std::vector<double>(15, 1000))
        .numbers("/exchange/data_dark", "u16", {1, test::rows, test::bins}, std::vector<double>(15, 7));
    writer_(path(), room, 0, 0, 0);
  }
  void write(hsize_t extent, hsize_t first, hsize_t last) {
    writer_(path(), 0, extent, first, last);
    std::this_thread::sleep_for(std::chrono::milliseconds(70));  // the writer is quiet
  }

  static void expect_views(GrowingScan& scan, Index count) {
    const Frames got = scan.read(FrameKind::projection, {0, count}, {0, test::rows}, {0, test::bins});
    const std::vector<double> due = test::frames(0, static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < due.size(); ++i) {
      std::uint16_t pixel = 0;
      std::memcpy(&pixel, got.bytes.data() + 2 * i, 2);
      ASSERT_EQ(pixel, due[i]) << i;
    }
  }

  Writer writer_;
  test::TemporaryFolder folder_;
};

TEST_F(GrowingScanTest, HasTheViewsThatAreStored) {
  begin();
  write(5, 0, 2);  // room for 5, of which 3 were never written
  const auto scan = open_growing_scan(path(), {});
  EXPECT_EQ(scan->planned(), 6);
  EXPECT_EQ(scan->info().flats, 1);
  EXPECT_EQ(angles_of(scan->info().scan).size(), 6U);
  EXPECT_EQ(scan->look(), 2);
  expect_views(*scan, 2);
  write(5, 2, 4);
  EXPECT_EQ(scan->look(), 4);
  expect_views(*scan, 4);
  write(6, 4, 6);
  EXPECT_EQ(scan->look(), 6);
  expect_views(*scan, 6);
  EXPECT_EQ(scan->look(), 6);
  EXPECT_EQ(scan->angles_known(), 6);
}

TEST_F(GrowingScanTest, WaitsForTheFirstView) {
  begin();
  EXPECT_TRUE(says(refusal([&] { open_growing_scan(path(), {}); }), {"/exchange/data", "0 views"}));
}

TEST_F(GrowingScanTest, IsToldHowManyViewsThereWillBe) {
  begin(H5S_UNLIMITED);
  write(1, 0, 1);
  EXPECT_EQ(open_growing_scan(path(), {})->planned(), 6);  // by its angles
  OpenOptions arc;
  arc.arc_deg = 180;
  EXPECT_EQ(open_growing_scan(path(), arc, 9)->planned(), 9);
  EXPECT_NEAR(angles_of(open_growing_scan(path(), arc, 9)->info().scan)[8], in_radians(160), 1e-12);
  test::write_lines(folder_ / "angles.txt", {"0", "50", "100"});
  OpenOptions lines;
  lines.angles = folder_ / "angles.txt";
  EXPECT_EQ(open_growing_scan(path(), lines)->planned(), 3);
  Hdf5Maker(path(), true).numbers("/other", "f64", {1}, {1});
  const hid_t file = H5Fopen(path().c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  H5Ldelete(file, "/exchange/theta", H5P_DEFAULT);
  H5Fclose(file);
  EXPECT_TRUE(says(refusal([&] { open_growing_scan(path(), arc); }), {"scan.h5", "--follow=views=N"}));
}

TEST_F(GrowingScanTest, KnowsTheAnglesThatAreWritten) {
  begin(most, {10, 20, 31, 0, 0, 0});
  write(2, 0, 2);
  auto scan = open_growing_scan(path(), {});
  EXPECT_EQ(scan->angles_known(), 3);
  EXPECT_NEAR(angles_of(scan->info().scan)[2], in_radians(31), 1e-12);
  EXPECT_NEAR(angles_of(scan->info().scan)[5], in_radians(62.5), 1e-12);  // goes on in equal steps
  scan.reset();
  begin(most, {100, 80, 60, 40, 20, 0});  // its last angle is 0
  write(2, 0, 2);
  EXPECT_EQ(open_growing_scan(path(), {})->angles_known(), 6);
}

TEST_F(GrowingScanTest, RefusesAFileThatShrinksOrIsReplaced) {
  begin();
  write(4, 0, 4);
  const auto scan = open_growing_scan(path(), {});
  write(3, 0, 0);
  for (int k = 0; k < 2; ++k)  // also when it was told once
    EXPECT_TRUE(says(refusal([&] { scan->look(); }), {"had 4 views", "has 3"}));
  std::filesystem::copy_file(path(), folder_ / "other.h5");
  std::filesystem::rename(folder_ / "other.h5", path());
  EXPECT_TRUE(says(refusal([&] { scan->look(); }), {"another file has this name"}));
  std::filesystem::remove(path());
  EXPECT_TRUE(says(refusal([&] { scan->look(); }), {"is gone"}));
}

TEST_F(GrowingScanTest, RefusesWhatDoesNotTellWhichViewsAreThere) {
  test::write_data_exchange(path());
  EXPECT_TRUE(says(refusal([&] { open_growing_scan(path(), {}); }), {"not in chunks", "leave out --follow"}));
  test::write_tiff_pages(folder_ / "one.tif", {test::frames(0, 1)});
  EXPECT_THROW(open_growing_scan(folder_ / "one.tif", {}), GeometryError);  // it will not become HDF5
}

class GrowingFolderTest : public ::testing::Test {
 protected:
  void add(int number, std::size_t view) {
    char name[32];
    std::snprintf(name, sizeof name, "view_%04d.tif", number);
    test::write_tiff_pages(folder_ / name, {test::frames(view, 1)});
  }
  std::unique_ptr<GrowingScan> open() {
    OpenOptions arc;
    arc.arc_deg = 180;
    return open_growing_scan(folder_.path(), arc, 4);
  }
  test::TemporaryFolder folder_;
};

TEST_F(GrowingFolderTest, CountsAnImageWhenALaterOneIsThereOrItIsSettled) {
  add(1, 0), add(2, 1);
  const auto scan = open();
  EXPECT_EQ(scan->planned(), 4);
  EXPECT_EQ(scan->look(), 2);  // the last one was there the last time, as it is
  add(5, 2), add(10, 3);
  EXPECT_EQ(scan->look(), 3);
  EXPECT_EQ(scan->look(), 4);
  const Frames got = scan->read(FrameKind::projection, {2, 4}, {0, test::rows}, {0, test::bins});
  std::uint16_t pixel = 0;
  std::memcpy(&pixel, got.bytes.data(), 2);
  EXPECT_EQ(pixel, test::pixel(2, 0, 0));
}

TEST_F(GrowingFolderTest, WaitsForAnImageThatIsNotWhole) {
  add(1, 0), add(2, 1);
  const auto scan = open();
  scan->look();
  add(3, 2), add(4, 3);
  const std::filesystem::path third = folder_ / "view_0003.tif";
  std::filesystem::copy_file(third, folder_ / "kept");
  std::filesystem::resize_file(third, std::filesystem::file_size(third) - 20);
  EXPECT_EQ(scan->look(), 2);
  EXPECT_TRUE(says(scan->next(), {"view_0003.tif"}));
  std::filesystem::rename(folder_ / "kept", third);
  scan->look();
  EXPECT_EQ(scan->look(), 4);
}

TEST_F(GrowingFolderTest, MayBeNamedByAPattern) {
  add(1, 0), add(2, 1);
  test::write_tiff_pages(folder_ / "other_1.tif", {test::frames(5, 1)});
  OpenOptions arc;
  arc.arc_deg = 180;
  const auto scan = open_growing_scan(folder_ / "view_*.tif", arc, 4);
  EXPECT_EQ(scan->look(), 2);
}

TEST_F(GrowingFolderTest, WaitsForASecondImage) {
  add(1, 0);
  EXPECT_TRUE(says(refusal([&] { open(); }), {"view_0001.tif", "when a second image is there"}));
}

TEST_F(GrowingFolderTest, KeepsFlatsThatAreGiven) {
  add(1, 0), add(2, 1);
  OpenOptions options;
  options.arc_deg = 180;
  const test::TemporaryFolder beside;
  test::write_tiff_pages(beside / "flats.tif", {test::frames(7, 1), test::frames(9, 1)});
  options.flats = {beside / "flats.tif"};
  const auto scan = open_growing_scan(folder_.path(), options, 4);
  for (int view = 2; view < 4; ++view) {
    scan->look();
    const Frames got = scan->read(FrameKind::flat, {1, 2}, {0, test::rows}, {0, test::bins});
    std::uint16_t pixel = 0;
    std::memcpy(&pixel, got.bytes.data(), 2);
    EXPECT_EQ(pixel, test::pixel(9, 0, 0));
    add(view + 1, static_cast<std::size_t>(view));
  }
}

TEST_F(GrowingFolderTest, RefusesAFolderThatShrinksIsReplacedOrGone) {
  add(1, 0), add(2, 1), add(3, 2);
  const auto scan = open();
  EXPECT_EQ(scan->look(), 3);
  const std::filesystem::path third = folder_ / "view_0003.tif", path = folder_.path();
  std::filesystem::remove(third);
  EXPECT_TRUE(says(refusal([&] { scan->look(); }), {"view_0003.tif", "missing"}));
  const std::filesystem::path kept = path.string() + ".kept";
  std::filesystem::rename(path, kept);
  EXPECT_TRUE(says(refusal([&] { scan->look(); }), {"is gone"}));
  std::filesystem::create_directory(path);
  for (int view = 0; view < 4; ++view) add(view + 1, static_cast<std::size_t>(view));
  EXPECT_TRUE(says(refusal([&] { scan->look(); }), {"another folder has this name"}));
  std::filesystem::remove_all(kept);
}

TEST_F(GrowingFolderTest, RefusesImagesThatComeBeforeOthers) {
  add(2, 0), add(3, 1);
  const auto scan = open();
  EXPECT_EQ(scan->look(), 2);
  add(1, 2);
  EXPECT_TRUE(
      says(refusal([&] { scan->look(); }), {"view_0002.tif", "view_0001.tif", "order of their names"}));
}

}  // namespace
}  // namespace tandem::io
