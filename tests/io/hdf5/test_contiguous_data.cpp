// Contiguous data sets and raw files, which are read at their places in the files.

#include <chrono>
#include <fstream>
#include <future>
#include <thread>

#include "../../../io/hdf5/hdf5_detail.hpp"
#include "../../support/property.hpp"
#include "../data_sets.hpp"

namespace tandem::test {

namespace {

const std::vector<std::string> types{"u8",   "u16", "u32",  "u64",  "i8",   "i16",  "i32",
                                     "i64",  "f16", "f32",  "f64",  ">u8",  ">u16", ">u32",
                                     ">u64", ">i8", ">i16", ">i32", ">i64", ">f32", ">f64"};

/// Byte i is 31 i + i / 251, so that no two pieces of a file are alike.
std::vector<double> byte_numbers(std::size_t count) {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(static_cast<double>((31 * i + i / 251) % 256));
  return numbers;
}

void write_byte_numbers(const fs::path& path, std::size_t count) {
  std::ofstream file(path, std::ios::binary);
  for (const double number : byte_numbers(count))
    file.put(static_cast<char>(static_cast<unsigned char>(number)));
}

}  // namespace

TEST(ContiguousData, GiveAnyPartOfAnyTypeAndShape) {
  const TemporaryFolder folder;
  EXPECT_TRUE(holds("a part of contiguous data is what was written", [&] {
    const std::string type = *rc::gen::elementOf(types);
    const Extents shape = any_shape();
    const std::vector<double> numbers = known_numbers(shape);
    Hdf5Maker(folder / "d.h5").numbers("/d", type, shape, numbers);
    const Part part = any_part(shape);
    const std::vector<double> due = part_of(numbers, shape, part);
    const io::hdf5::DataSet by_library = io::hdf5::File::open(folder / "d.h5").data_set("/d");
    RC_ASSERT(read_part(stored_set(folder / "d.h5"), part) == due);
    RC_ASSERT(read_part(by_library, part) == due);
  }));
}

TEST(ContiguousData, ArePutTogetherFromLinesThatSeveralThreadsShare) {
  const TemporaryFolder folder;
  const Extents shape{3, 2, 3'000'017};  // bytes; a thread takes 2 MiB at once
  const auto count = static_cast<std::size_t>(size_of(shape));
  write_byte_numbers(folder / "d.raw", count);
  Hdf5Maker(folder / "d.h5").raw("/d", "u8", shape, folder / "d.raw");
  const std::vector<double> numbers = byte_numbers(count);
  const io::hdf5::DataSet set = stored_set(folder / "d.h5");
  EXPECT_EQ(read_part(set, whole(shape)), numbers);
  const Part part{{0, 3}, {1, 2}, {5, 2'900'001}};
  EXPECT_EQ(read_part(set, part), part_of(numbers, shape, part));
}

TEST(ContiguousData, GoOnFromOneRawFileToTheNext) {
  const TemporaryFolder folder;
  write_byte_numbers(folder / "d.raw", 300);
  write_byte_numbers(folder / "e.raw", 200);
  const Extents shape{6, 5, 7};  // 210 bytes
  Hdf5Maker(folder / "d.h5")
      .raw_parts("/d", "u8", shape,
                 {{folder / "d.raw", 100, 50},
                  {folder / "e.raw", 3, 61},
                  {folder / "d.raw", 0, 9},
                  {folder / "e.raw", 90, 90}});
  const std::vector<double> bytes = byte_numbers(300);
  std::vector<double> numbers;
  for (const Range& range : Part{{100, 150}, {3, 64}, {0, 9}, {90, 180}})
    numbers.insert(numbers.end(), bytes.begin() + range.first, bytes.begin() + range.last);
  const io::hdf5::DataSet set = stored_set(folder / "d.h5");
  EXPECT_EQ(read_part(set, whole(shape)), numbers);
  for (const Part& part : {Part{{1, 5}, {2, 5}, {3, 6}}, Part{{3, 4}, {0, 5}, {0, 7}}})
    EXPECT_EQ(read_part(set, part), part_of(numbers, shape, part));
}

TEST(ContiguousData, AreReadWhileAnotherThreadIsInsideLibhdf5) {
  const TemporaryFolder folder;
  const Extents shape{4, 5, 7};
  Hdf5Maker(folder / "d.h5").numbers("/d", "u16", shape, known_numbers(shape));
  const io::hdf5::DataSet set = stored_set(folder / "d.h5");
  const Part part{{1, 4}, {2, 4}, {0, 6}};
  std::future<std::vector<double>> reading;
  {
    const io::hdf5::Lock lock;
    reading = std::async(std::launch::async, [&] {
      io::PixelBytes out(2 * 3 * 2 * 6);
      set.read(io::PixelType::uint16, part, out.data());
      return values({io::PixelType::uint16, {3, 2, 6}, out});
    });
    EXPECT_EQ(reading.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  }
  EXPECT_EQ(reading.get(), part_of(known_numbers(shape), shape, part));
}

TEST(ContiguousData, AreReadBySeveralThreadsAtOnce) {
  const TemporaryFolder folder;
  const Extents shape{40, 30, 50};
  const std::vector<double> numbers = known_numbers(shape);
  Hdf5Maker(folder / "d.h5").numbers("/d", "i16", shape, numbers);
  const io::hdf5::DataSet set = stored_set(folder / "d.h5");
  std::vector<std::jthread> threads;
  for (Index k = 0; k < 4; ++k)
    threads.emplace_back([&, k] {
      for (Index row = k; row < 30; row += 4) {
        const Part part{{0, 40}, {row, row + 1}, {k, 50}};
        EXPECT_EQ(read_part(set, part), part_of(numbers, shape, part));
      }
    });
}

TEST(ContiguousData, WhoseFileWasReplacedAreRefused) {
  const TemporaryFolder folder;
  const Extents shape{4, 5, 7};
  Hdf5Maker(folder / "d.h5").numbers("/d", "u16", shape, known_numbers(shape));
  const io::hdf5::DataSet set = stored_set(folder / "d.h5");
  fs::copy_file(folder / "d.h5", folder / "copy.h5");
  fs::last_write_time(folder / "copy.h5", fs::last_write_time(folder / "d.h5") + std::chrono::seconds(1));
  fs::rename(folder / "copy.h5", folder / "d.h5");
  EXPECT_TRUE(
      says(refusal([&] { read_part(set, whole(shape)); }), {"d.h5: /d: ", "d.h5", "written to since"}));
  fs::remove(folder / "d.h5");
  EXPECT_TRUE(says(refusal([&] { read_part(set, whole(shape)); }), {"d.h5: /d: ", "d.h5"}));
}

}  // namespace tandem::test
