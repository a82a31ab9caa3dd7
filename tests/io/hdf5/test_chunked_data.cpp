// Chunks with and without filters, which are read and unpacked outside libhdf5.

#include <hdf5.h>

#include <chrono>
#include <ctime>
#include <future>
#include <random>
#include <thread>

#include "../../../core/parallel.hpp"
#include "../../../io/hdf5/hdf5_detail.hpp"
#include "../../support/property.hpp"
#include "../packed_chunks.hpp"

namespace tandem::test {

namespace {

const std::vector<std::pair<std::string, unsigned>> types{{"u8", 1},  {"u16", 2},  {">u16", 2},
                                                          {"i16", 2}, {"f16", 2},  {"u32", 4},
                                                          {"f32", 4}, {">f64", 8}, {"i64", 8}};

Extents any_chunk(const Extents& shape) {
  Extents chunk;
  for (const auto n : shape) chunk.push_back(*rc::gen::inRange(1ull, n + 1));
  return chunk;
}

const Extents shape{5, 6, 7}, chunk{2, 4, 3};

std::string name_of(const Filter& filter) {
  std::string text = std::to_string(filter.number);
  for (const unsigned setting : filter.settings) text += ',', text += std::to_string(setting);
  return text;
}

/// Whether the bytes of a chunk say nothing of themselves, so that any others are as good.
bool is_blind(const Filter& filter) {
  return filter.number == 2 || (filter.number == 32008 && filter.settings[4] == 0);
}

std::string refusal_of_chunks(const fs::path& path) {
  return refusal([&] { read_part(stored_set(path), whole(shape)); });
}

}  // namespace

TEST(ChunkedData, GiveAnyPartThroughAnyFilters) {
  const TemporaryFolder folder;
  EXPECT_TRUE(holds("a part of chunked data is what was written", [&] {
    const auto [type, width] = *rc::gen::elementOf(types);
    ChunkedSet set{.type = type, .shape = any_shape()};
    set.chunk = any_chunk(set.shape);
    const std::vector<Filter> all = known_filters(width);
    set.filters = *rc::gen::resize(3, rc::gen::container<std::vector<Filter>>(rc::gen::elementOf(all)));
    // bitshuffle takes whole elements only, as they are before other filters
    const auto later = std::remove_if(set.filters.begin() + (set.filters.empty() ? 0 : 1), set.filters.end(),
                                      [](const Filter& filter) { return filter.number == 32008; });
    set.filters.erase(later, set.filters.end());
    const auto mask = *rc::gen::inRange(0u, 8u);
    set.skipped = [mask](std::size_t number) { return number % 3 == 1 ? mask : 0; };
    const std::vector<double> numbers = known_numbers(set.shape);
    write_chunked(folder / "d.h5", set, numbers);
    const Part part = any_part(set.shape);
    RC_ASSERT(read_part(stored_set(folder / "d.h5"), part) == part_of(numbers, set.shape, part));
  }));
}

TEST(ChunkedData, ThatLibhdf5PackedAreRead) {
  const TemporaryFolder folder;
  const Extents odd{9, 7, 11};
  const std::vector<double> numbers = known_numbers(odd);
  for (int filters = 0; filters < 8; ++filters) {
    const hid_t file = H5Fcreate((folder / "d.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t plan = H5Pcreate(H5P_DATASET_CREATE),
                space = H5Screate_simple(3, std::vector<hsize_t>{9, 7, 11}.data(), nullptr);
    H5Pset_chunk(plan, 3, std::vector<hsize_t>{3, 5, 11}.data());
    if (filters & 1) H5Pset_shuffle(plan);
    if (filters & 2) H5Pset_deflate(plan, 6);
    if (filters & 4) H5Pset_fletcher32(plan);
    const hid_t set = H5Dcreate2(file, "/d", H5T_STD_U16LE, space, H5P_DEFAULT, plan, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data());
    H5Dclose(set), H5Sclose(space), H5Pclose(plan), H5Fclose(file);
    const Part part{{1, 8}, {2, 7}, {3, 10}};
    EXPECT_EQ(read_part(stored_set(folder / "d.h5"), part), part_of(numbers, odd, part)) << filters;
  }
}

TEST(ChunkedData, OfManyElementsComeThroughEveryFilter) {
  const TemporaryFolder folder;
  const Extents large{3, 90, 101};  // many blocks of a filter, and a last one that is shorter
  std::vector<double> numbers;
  std::mt19937 random(1);
  for (Index i = 0; i < size_of(large); ++i)
    numbers.push_back(static_cast<double>(i / 7 + static_cast<Index>(random() % 9)));
  for (const Filter& filter : known_filters(2)) {
    write_chunked(folder / "d.h5", {.shape = large, .chunk = {1, 90, 101}, .filters = {filter}}, numbers);
    const Part part{{0, 3}, {40, 61}, {0, 101}};
    EXPECT_EQ(read_part(stored_set(folder / "d.h5"), part), part_of(numbers, large, part)) << name_of(filter);
  }
}

TEST(ChunkedData, NeedNoPluginsWhereLibhdf5ReadsThem) {
  const TemporaryFolder folder;
  for (const Filter& filter : known_filters(2)) {
    ChunkedSet set{.shape = shape, .chunk = chunk, .filters = {filter}};
    write_chunked(folder / "d.h5", set, known_numbers(shape));
    EXPECT_EQ(io::hdf5::File::open(folder / "d.h5").data_set("/d").numbers(), known_numbers(shape))
        << name_of(filter);
    if (is_blind(filter)) continue;
    set.damage = [](Packed& bytes) {
      std::fill_n(bytes.begin(), std::min<std::size_t>(12, bytes.size()), 0xff);
    };
    write_chunked(folder / "d.h5", set, known_numbers(shape));
    EXPECT_TRUE(says(refusal([&] { io::hdf5::File::open(folder / "d.h5").data_set("/d").numbers(); }),
                     {"d.h5: /d: cannot be read", "damaged"}))
        << name_of(filter);
  }
}

TEST(ChunkedData, ThatAreCutShortAreRefused) {
  const TemporaryFolder folder;
  for (const Filter& filter : known_filters(2)) {
    ChunkedSet set{.shape = shape, .chunk = chunk, .filters = {filter}};
    set.damage = [](Packed& bytes) { bytes.resize(bytes.size() * 2 / 3); };
    write_chunked(folder / "d.h5", set, known_numbers(shape));
    EXPECT_TRUE(
        says(refusal_of_chunks(folder / "d.h5"), {"d.h5: /d: chunk at (", ", ", ")", "the file is damaged"}))
        << name_of(filter);
  }
}

TEST(ChunkedData, ThatClaimWhatCannotBeAreRefused) {
  const TemporaryFolder folder;
  for (const Filter& filter : known_filters(2)) {
    if (is_blind(filter)) continue;
    ChunkedSet set{.shape = shape, .chunk = chunk, .filters = {filter}};
    set.damage = [](Packed& bytes) {
      std::fill_n(bytes.begin(), std::min<std::size_t>(12, bytes.size()), 0xff);
    };
    write_chunked(folder / "d.h5", set, known_numbers(shape));
    EXPECT_TRUE(
        says(refusal_of_chunks(folder / "d.h5"), {"d.h5: /d: chunk at (", "cannot be unpacked (", "damaged"}))
        << name_of(filter);
  }
}

/// Damage may go unseen, but nothing else may happen: sanitizers watch.
TEST(ChunkedData, WithAnyDamageGiveNumbersOrARefusal) {
  const TemporaryFolder folder;
  std::mt19937 random(2);
  for (const Filter& filter : known_filters(2))
    for (int k = 0; k < 20; ++k) {
      ChunkedSet set{.shape = shape, .chunk = chunk, .filters = {filter}};
      set.damage = [&](Packed& bytes) {
        for (int times = 0; times < 3; ++times)
          bytes[random() % bytes.size()] = static_cast<unsigned char>(random());
      };
      write_chunked(folder / "d.h5", set, known_numbers(shape));
      try {
        read_part(stored_set(folder / "d.h5"), whole(shape));
      } catch (const FileError& error) {
        EXPECT_TRUE(says(error.what(), {"d.h5: /d: chunk at (", "damaged"})) << name_of(filter);
      }
    }
}

TEST(ChunkedData, WithoutFiltersMustHaveAllTheirBytes) {
  const TemporaryFolder folder;
  ChunkedSet set{.shape = shape, .chunk = chunk, .filters = {{2, {2}}}};
  for (const unsigned skipped : {0u, 1u}) {
    set.skipped = [skipped](std::size_t number) { return number == 1 ? skipped : 0; };
    set.damage = [](Packed& bytes) { bytes.pop_back(); };
    write_chunked(folder / "d.h5", set, known_numbers(shape));
    EXPECT_TRUE(
        says(refusal_of_chunks(folder / "d.h5"), {"d.h5: /d: chunk at (", "47 bytes", "48 bytes are due"}));
  }
}

TEST(ChunkedData, ThatClaimHugeChunksAreRefused) {
  const TemporaryFolder folder;
  ChunkedSet set{.type = "u8", .shape = {1, 1, 2}, .chunk = {1, 1, 2}, .endless = true};
  write_chunked(folder / "d.h5", set, {1, 2});
  const hid_t file = H5Fopen((folder / "d.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const std::vector<hsize_t> n{1, 1, 2}, ends(3, H5S_UNLIMITED), huge{1, 1 << 14, 1 << 14};
  const hid_t space = H5Screate_simple(3, n.data(), ends.data()), plan = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(plan, 3, huge.data());
  H5Pset_filter(plan, 32015, H5Z_FLAG_OPTIONAL, 0, nullptr);
  const hid_t made = H5Dcreate2(file, "/huge", H5T_STD_U8LE, space, H5P_DEFAULT, plan, H5P_DEFAULT);
  const Packed bytes(40, 1);
  H5Dwrite_chunk(made, H5P_DEFAULT, 0, std::vector<hsize_t>(3, 0).data(), bytes.size(), bytes.data());
  H5Dclose(made), H5Pclose(plan), H5Sclose(space), H5Fclose(file);
  EXPECT_TRUE(says(refusal([&] { stored_set(folder / "d.h5", "/huge"); }),
                   {"d.h5: /huge: claims chunks of ", "but the file has only", "damaged"}));
}

TEST(ChunkedData, AreReadWhileAnotherThreadIsInsideLibhdf5) {
  const TemporaryFolder folder;
  write_chunked(folder / "d.h5", {.shape = shape, .chunk = chunk, .filters = {{2, {2}}, {1, {6}}}},
                known_numbers(shape));
  const io::hdf5::DataSet set = stored_set(folder / "d.h5");
  const std::vector<double> numbers = read_part(set, whole(shape));  // now it is known where the chunks are
  EXPECT_EQ(numbers, known_numbers(shape));
  io::PixelBytes out(numbers.size() * 2);
  const io::hdf5::Lock lock;
  auto reading =
      std::async(std::launch::async, [&] { set.read(io::PixelType::uint16, whole(shape), out.data()); });
  EXPECT_EQ(reading.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  EXPECT_EQ(values({io::PixelType::uint16, {5, 6, 7}, out}), numbers);
}

TEST(ChunkedData, AreReadBySeveralThreadsAtOnce) {
  const TemporaryFolder folder;
  const Extents many{20, 30, 40};
  const std::vector<double> numbers = known_numbers(many);
  write_chunked(folder / "d.h5", {.shape = many, .chunk = {1, 7, 40}, .filters = {{32015, {3}}}}, numbers);
  const io::hdf5::DataSet set = stored_set(folder / "d.h5");
  std::vector<std::jthread> threads;
  for (Index k = 0; k < 4; ++k)
    threads.emplace_back([&, k] {
      for (Index row = k; row < 30; row += 4) {
        const Part part{{0, 20}, {row, row + 1}, {k, 40}};
        EXPECT_EQ(read_part(set, part), part_of(numbers, many, part));
      }
    });
}

TEST(ChunkedData, ThatArePackedTakeMemoryForEachThread) {
  const TemporaryFolder folder;
  ChunkedSet set{.shape = {200, 30, 40}, .chunk = {1, 30, 40}};
  write_chunked(folder / "plain.h5", set, known_numbers(set.shape));
  EXPECT_EQ(stored_set(folder / "plain.h5").decoded_bytes(), 0u);
  set.filters = {{1, {6}}};
  write_chunked(folder / "packed.h5", set, known_numbers(set.shape));
  const io::hdf5::DataSet packed = stored_set(folder / "packed.h5");
  const std::size_t chunk_bytes = 30 * 40 * 2, room = chunk_bytes + chunk_bytes / 8 + 65536;
  for (const int threads : {1, 2}) {
    const ThreadLimit limit(threads);
    EXPECT_EQ(packed.decoded_bytes(), static_cast<std::size_t>(thread_count()) * 2 * room) << threads;
  }
}

TEST(ChunkedData, ThatChangeAreRefused) {
  const TemporaryFolder folder;
  write_chunked(folder / "d.h5", {.shape = shape, .chunk = chunk, .filters = {{1, {6}}}},
                known_numbers(shape));
  const io::hdf5::DataSet set = stored_set(folder / "d.h5");
  EXPECT_EQ(read_part(set, whole(shape)), known_numbers(shape));
  fs::resize_file(folder / "d.h5", fs::file_size(folder / "d.h5") / 2);
  EXPECT_TRUE(says(refusal([&] { read_part(set, whole(shape)); }), {"d.h5: /d: ", "d.h5 had ", "now"}));
}

/// Four times the chunks take four times the time of the processor, not sixteen times.
TEST(ChunkedData, TakeATimeThatGrowsAsTheirNumber) {
  const auto seconds = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
  const auto seconds_of = [&](unsigned count) {
    const TemporaryFolder folder;
    std::vector<double> numbers(count);
    for (unsigned k = 0; k < count; ++k) numbers[k] = k % 251;
    write_chunked(folder / "some.h5", {.shape = {count, 1, 1}, .chunk = {1, 1, 1}}, numbers);
    const double begin = seconds();
    EXPECT_EQ(read_part(stored_set(folder / "some.h5"), whole({count, 1, 1})), numbers);
    return seconds() - begin;
  };
  seconds_of(1000);  // what is done once
  EXPECT_LT(seconds_of(32'000), 8 * seconds_of(8'000));
}

}  // namespace tandem::test
