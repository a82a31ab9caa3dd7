// Files on which libhdf5 itself crashes, hangs or waits.

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "../../io/hdf5/rehearsal.hpp"
#include "../../io/volumes/volume_file.hpp"
#include "io_checks.hpp"

namespace tandem::test {

namespace {

void make_pipe(const fs::path& path) { ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0); }

}  // namespace

TEST(Rehearsal, TurnsACrashIntoOneLine) {
  const TemporaryFolder folder;
  write_lines(folder / "scan.h5", {"anything"});
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGKILL})
    EXPECT_TRUE(says(refusal([&] { io::rehearse(folder / "scan.h5", [&] { std::raise(signal); }); }),
                     {"scan.h5: reading it crashes HDF5"}));
  EXPECT_TRUE(says(refusal([&] { io::rehearse(folder / "scan.h5", [] { ::_exit(0); }); }), {"crashes HDF5"}));
}

TEST(Rehearsal, EndsWhatHangs) {
  const TemporaryFolder folder;
  write_lines(folder / "scan.h5", {"anything"});
  const auto hang = [] {
    for (;;) ::pause();
  };
  for (int time = 0; time < 2; ++time)  // the second time without a wait
    EXPECT_TRUE(
        says(refusal([&] { io::rehearse(folder / "scan.h5", hang); }), {"scan.h5: HDF5 comes to no end"}));
}

TEST(Rehearsal, GivesTimeToWhatIsLarge) {
  const TemporaryFolder folder;
  write_lines(folder / "scan.h5", {"anything"});
  EXPECT_NO_THROW(io::rehearse(folder / "scan.h5", [] {
    io::take_longer(100);
    ::sleep(8);
  }));
}

/// Found by the fuzzer: an object header of 2 GB in a file of 6 kB, and a text of 4 GB.
TEST(Rehearsal, GivesNoMoreMemoryThanASmallFileNeeds) {
  const TemporaryFolder folder;
  const auto fill = [&](std::size_t bytes) {
    write_lines(folder / "scan.h5", {std::to_string(bytes)});
    io::rehearse(folder / "scan.h5", [&] {
      std::vector<char> taken(bytes, 'x');
      ::usleep(taken.back() == 'x' ? 300'000 : 0);
    });
  };
  EXPECT_NO_THROW(fill(std::size_t{1} << 27));
  EXPECT_TRUE(says(refusal([&] { fill(std::size_t{1} << 30); }), {"takes more memory than it needs"}));
}

TEST(Rehearsal, LeavesNoTraceHere) {
  const TemporaryFolder folder;
  write_lines(folder / "scan.h5", {"anything"});
  int done = 0;
  EXPECT_EQ(io::rehearsed(folder / "scan.h5", [&] { return ++done; }), 1);
  EXPECT_TRUE(says(refusal([&] {
                     io::rehearsed(folder / "scan.h5", [&]() -> int {
                       ++done;
                       throw FileError(std::string(10'000, 'x') + " is amiss");
                     });
                   }),
                   {"xxx is amiss"}));
  EXPECT_EQ(done, 1);
  EXPECT_THROW(io::rehearsed(folder / "scan.h5", []() -> int { throw GeometryError("g"); }), GeometryError);
  EXPECT_THROW(io::rehearsed(folder / "scan.h5", []() -> int { throw std::bad_alloc(); }), std::bad_alloc);
}

/// Damage to memory by the work stays in the child.
TEST(Rehearsal, AnswersWithoutDoingTheWorkHere) {
  const TemporaryFolder folder;
  write_lines(folder / "scan.h5", {"anything"});
  int done = 0;
  const std::string text = "one" + std::string(1, '\0') + std::string(100'000, 'x');
  const auto answered = [&](const std::function<void()>& work) {
    return io::answer_of(folder / "scan.h5", [&] { return ++done, work(), text; });
  };
  EXPECT_EQ(answered([] {}), text);
  EXPECT_TRUE(says(refusal([&] { answered([] { std::raise(SIGSEGV); }); }), {"crashes HDF5"}));
  EXPECT_TRUE(says(refusal([&] { answered([] { throw FileError("it is amiss"); }); }), {"it is amiss"}));
  EXPECT_EQ(done, 0);
  EXPECT_THROW(answered([] { throw std::bad_alloc(); }), std::bad_alloc);  // not the fault of the file
  EXPECT_EQ(done, 1);
}

TEST(Rehearsal, KeepsNoLockOfWhatIsBeingWritten) {
  const TemporaryFolder folder;
  write_lines(folder / "scan.h5", {"anything"});
  void* shared = ::mmap(nullptr, 2 * sizeof(std::atomic<bool>), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto& [at_work, may_end] = *new (shared) std::array<std::atomic<bool>, 2>{};  // the child
  const int locked = ::open((folder / "out.h5").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::flock(locked, LOCK_EX | LOCK_NB), 0);
  std::thread reading([&] {
    io::rehearse(folder / "scan.h5", [&] {
      at_work = true;
      while (!may_end) ::usleep(1000);
    });
  });
  while (!at_work) ::usleep(1000);
  ::close(locked);
  const int again = ::open((folder / "out.h5").c_str(), O_RDWR | O_CLOEXEC);
  EXPECT_EQ(::flock(again, LOCK_EX | LOCK_NB), 0) << std::strerror(errno);
  ::close(again);
  may_end = true;
  reading.join();
  ::munmap(shared, 2 * sizeof(std::atomic<bool>));
}

TEST(OpenScan, WaitsForNoPipe) {
  const TemporaryFolder folder;
  make_pipe(folder / "pipe.h5");
  const std::vector<std::string> why{"pipe.h5: is a pipe or a device"};
  EXPECT_TRUE(says(refusal_of(folder / "pipe.h5"), why));
  EXPECT_TRUE(says(refusal([&] { io::VolumeReader(folder / "pipe.h5"); }), why));
  EXPECT_TRUE(says(refusal_of("/dev/zero"), {"/dev/zero: is a pipe or a device"}));
  write_data_exchange(folder / "scan.h5");
  io::OpenOptions options;
  options.flats = {folder / "pipe.h5"};
  EXPECT_TRUE(says(refusal_of(folder / "scan.h5", options), why));
}

TEST(OpenScan, FollowsNoLinkToAPipe) {
  const TemporaryFolder folder;
  make_pipe(folder / "pipe.h5");
  Hdf5Maker(folder / "link.h5").external_link("/exchange/data", "pipe.h5", "/d");
  EXPECT_TRUE(says(refusal_of(folder / "link.h5"),
                   {"link.h5: /exchange/data: links to pipe.h5, which cannot be opened"}));
  Hdf5Maker(folder / "group.nxs").external_link("/entry", "pipe.h5", "/").text("/definition", "NXtomo");
  EXPECT_TRUE(says(refusal_of(folder / "group.nxs"), {"group.nxs: "}));
  Hdf5Maker(folder / "virtual.h5")
      .stitched("/exchange/data", "u16", {views, rows, bins}, views, {{"pipe.h5", "/d"}});
  EXPECT_TRUE(says(refusal_of(folder / "virtual.h5"),
                   {"virtual.h5: /exchange/data: its source", "pipe.h5 is a pipe"}));
  Hdf5Maker(folder / "raw.h5").raw("/exchange/data", "u8", {views, rows, bins}, folder / "pipe.h5");
  EXPECT_TRUE(says(refusal_of(folder / "raw.h5"),
                   {"raw.h5: /exchange/data: its data are in", "pipe.h5, which is a pipe"}));
}

TEST(OpenScan, IsNotLostInCirclesOfLinks) {
  const TemporaryFolder folder;
  write_nxtomo(folder / "scan.nxs");
  {
    Hdf5Maker file(folder / "circle.h5");
    for (int k = 0; k < 300; ++k) file.hard_link("/again" + std::to_string(k), "/");
    file.soft_link("/self", "/self");
  }
  EXPECT_TRUE(says(refusal_of(folder / "circle.h5"), {"circle.h5: is no scan"}));
}

TEST(OpenScan, FindsAnEntryBehindSeveralLinks) {
  const TemporaryFolder folder;
  write_nxtomo(folder / "target.nxs", "/entry");
  Hdf5Maker(folder / "scan.nxs")
      .external_link("/a", "target.nxs", "/")
      .external_link("/b", "target.nxs", "/entry");
  EXPECT_EQ(all_of(*io::open_scan(folder / "scan.nxs"), io::FrameKind::projection), frames(0, views));
}

}  // namespace tandem::test
