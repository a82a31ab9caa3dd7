// Texts that others made: of files and pipes, with an end.

#include "../../../io/files/text_file.hpp"

#include <sys/stat.h>

#include <ctime>
#include <fstream>
#include <thread>

#include "../../../io/scans/scan_reader.hpp"
#include "../io_checks.hpp"

namespace tandem::test {

TEST(TextFile, IsOfAFileOrOfAPipeThatBringsSomething) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a") << "some\ntext";
  EXPECT_EQ(io::text_of_file(folder / "a", "a list"), "some\ntext");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::jthread writer([&] { std::ofstream(folder / "pipe") << "through a pipe"; });
  EXPECT_EQ(io::text_of_file(folder / "pipe", "a list"), "through a pipe");
  EXPECT_TRUE(says(refusal([&] { io::text_of_file(folder / "pipe", "a list"); }),
                   {"nothing comes", "a list is needed"}));
  EXPECT_TRUE(
      says(refusal([&] { io::text_of_regular_file(folder / "pipe", "a list"); }), {"a pipe or a device"}));
}

TEST(TextFile, HasAnEnd) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a") << "0123456789";
  EXPECT_EQ(io::text_of_file(folder / "a", "a list", 10).size(), 10u);
  EXPECT_TRUE(says(refusal([&] { io::text_of_file(folder / "a", "a list", 9); }), {"has more than 9 bytes"}));
  fs::resize_file(folder / "a", std::uintmax_t{1} << 40);  // a sparse one
  EXPECT_TRUE(says(refusal([&] { io::read_angles({.angles = folder / "a"}); }),
                   {"has more than", "one angle per line"}));
  for (const fs::path& other : {fs::path("/dev/zero"), folder.path(), folder / "none"})
    EXPECT_TRUE(says(refusal([&] { io::text_of_file(other, "a list"); }), {"a list is needed"})) << other;
}

/// A word that is no number may be anything: a password, a key.
TEST(TextFile, IsNotShownIfItIsNoList) {
  const TemporaryFolder folder;
  std::ofstream(folder / "shadow") << "root:hunter2:0\n";
  EXPECT_EQ(refusal([&] { io::read_angles({.angles = folder / "shadow"}); }).find("hunter2"),
            std::string::npos);
  EXPECT_EQ(refusal([&] { io::read_pairs(folder / "shadow", "two numbers"); }).find("hunter2"),
            std::string::npos);
}

/// A file of 3 TiB, of which not one GiB is read.
TEST(TextFile, IsRefusedForItsLengthBeforeItIsRead) {
  const TemporaryFolder folder;
  std::ofstream(folder / "long.npy") << "1";
  fs::resize_file(folder / "long.npy", std::uintmax_t{3} << 40);  // sparse
  const std::clock_t begin = std::clock();
  EXPECT_TRUE(says(refusal([&] { io::text_of_regular_file(folder / "long.npy", "a list", Index{1} << 30); }),
                   {"long.npy: has more than 1073741824 bytes"}));
  EXPECT_LT(std::clock() - begin, CLOCKS_PER_SEC / 10);
}

}  // namespace tandem::test
