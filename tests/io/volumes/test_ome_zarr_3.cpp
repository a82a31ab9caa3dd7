// Volumes as OME-Zarr 0.5, in Zarr 3: shards, their indices, and arrays of others.

#include <cmath>
#include <fstream>
#include <ranges>
#include <thread>
#include <tuple>

#include "../../../io/files/checksum.hpp"
#include "../../../io/volumes/volume_file.hpp"
#include "../io_checks.hpp"

namespace tandem::test {

using io::Compression;
using io::VolumeFormat;
using io::VoxelType;
using namespace std::string_literals;

namespace {

constexpr Shape shape{5, 70, 67};  // three levels
constexpr Index area = shape[1] * shape[2];
/// Shards of two slices of float32.
const VolumeFormat two_slices{.zarr = 3, .shard_bytes = 2 * area * 4};

std::vector<float> waves() {
  std::vector<float> data(static_cast<std::size_t>(shape[0] * area));
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = std::sin(0.01f * static_cast<float>(i));
  return data;
}

void write_waves(const fs::path& path, const VolumeFormat& format, io::Replace replace = io::Replace::own) {
  const auto writer = io::create_volume(path, shape, format, "{}", replace);
  writer->write({3, 5}, waves().data() + 3 * area);
  writer->write({0, 3}, waves().data());
  writer->finish("{}");
}

/// The voxels of a level.
std::vector<float> voxels_of(const fs::path& path, std::size_t level = 0) {
  io::VolumeReader reader(path);
  const Shape n = reader.levels().at(level);
  std::vector<float> data(static_cast<std::size_t>(n[0] * n[1] * n[2]));
  reader.read_box({{{{0, n[0]}, {0, n[1]}, {0, n[2]}}}}, data.data(), level);
  return data;
}

std::string bytes_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class T>
std::string bytes_of(const std::vector<T>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)};
}

/// The index of a shard with its checksum.
std::string index_of(const std::vector<std::uint64_t>& places) {
  return bytes_of(places) + bytes_of<std::uint32_t>({io::crc32c(std::as_bytes(std::span(places)))});
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& at : fs::recursive_directory_iterator(folder))
    if (!at.is_directory()) files.push_back(at.path().lexically_relative(folder));
  std::ranges::sort(files);
  return files;
}

const std::string rest =
    R"("zarr_format":3,"node_type":"array","chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2,2,4]}},)"
    R"("chunk_key_encoding":{"name":"default","configuration":{"separator":"/"}},)";
const std::string plain = R"({"name":"bytes","configuration":{"endian":"little"}})";

/// An array of 2 x 3 x 4 numbers, whose second chunk is not there.
class ArrayOfOthers {
 public:
  explicit ArrayOfOthers(const std::string& more) {
    fs::create_directories(folder_ / "v.zarr/c/0/0");
    std::ofstream(folder_ / "v.zarr/zarr.json") << R"({"shape":[2,3,4],)" << rest << more << "}";
  }
  fs::path path() const { return folder_ / "v.zarr"; }
  void put(const std::string& chunk, const std::string& name = "c/0/0/0") const {
    std::ofstream(path() / name, std::ios::binary) << chunk;
  }
  std::string why_not() const {
    return refusal([&] { voxels_of(path()); });
  }

 private:
  TemporaryFolder folder_;
};

const std::vector<float> with_seven{0, 1, 2,  3,  4,  5,  6,  7,  -7, -7, -7, -7,
                                    8, 9, 10, 11, 12, 13, 14, 15, -7, -7, -7, -7};
template <class T>
std::vector<T> to_fifteen() {
  std::vector<T> numbers(16);
  for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = static_cast<T>(k);
  return numbers;
}

}  // namespace

/// The check value of RFC 3720.
TEST(Crc32c, IsThatOfTheStandard) {
  const std::string text = "123456789";
  EXPECT_EQ(io::crc32c(std::as_bytes(std::span(text))), 0xe3069283u);
  const std::string with_sum = text + "\x83\x92\x06\xe3";
  EXPECT_TRUE(io::has_crc32c(std::as_bytes(std::span(with_sum))));
  EXPECT_FALSE(io::has_crc32c(std::as_bytes(std::span(text))));
}

TEST(OmeZarr3, HasSlicesInShardsWithAnIndex) {
  const TemporaryFolder folder;
  write_waves(folder / "v.zarr", two_slices);
  const std::string all = bytes_of(waves());
  constexpr std::uint64_t slice = area * 4, none = ~std::uint64_t{0};
  const auto shard = [&](int k) { return bytes_of_file(folder / "v.zarr/0/c" / std::to_string(k) / "0/0"); };
  EXPECT_EQ(shard(0), all.substr(0, 2 * slice) + index_of({0, slice, slice, slice}));
  EXPECT_EQ(shard(2), all.substr(4 * slice) + index_of({0, slice, none, none}));
  EXPECT_EQ(files_below(folder / "v.zarr"),
            (std::vector<fs::path>{"0/c/0/0/0", "0/c/1/0/0", "0/c/2/0/0", "0/zarr.json", "1/c/0/0/0",
                                   "1/zarr.json", "zarr.json"}));
  EXPECT_TRUE(says(bytes_of_file(folder / "v.zarr/0/zarr.json"),
                   {R"("chunk_shape":[2,70,67])", R"("name":"sharding_indexed")",
                    R"("chunk_shape":[1,70,67])", R"("dimension_names":["z","y","x"])"}));
  EXPECT_TRUE(says(bytes_of_file(folder / "v.zarr/zarr.json"),
                   {R"("ome":{"version":"0.5","multiscales":[{"name":"v","axes":)"}));
}

/// Every type and packing, and all levels.
TEST(OmeZarr3, HasTheVoxelsOfZarr2) {
  const TemporaryFolder folder;
  for (const auto type : {VoxelType::float32, VoxelType::float16, VoxelType::uint16, VoxelType::uint8})
    for (const auto compression : {Compression::none, Compression::zstd, Compression::blosc}) {
      VolumeFormat format{.type = type, .compression = compression, .min = -1, .max = 1};
      write_waves(folder / "old.zarr", format);
      format.zarr = 3, format.shard_bytes = 3 * area;
      write_waves(folder / "new.zarr", format);
      for (const std::size_t level : {0, 1})
        EXPECT_EQ(voxels_of(folder / "new.zarr", level), voxels_of(folder / "old.zarr", level));
    }
}

/// Nothing of the older version is left, and what a user added stays.
TEST(OmeZarr3, ReplacesZarr2AndIsReplacedByIt) {
  const TemporaryFolder folder;
  const fs::path path = folder / "v.zarr";
  write_waves(folder / "new.zarr", two_slices);
  write_waves(folder / "old.zarr", {});
  write_waves(path, {});
  std::string text = bytes_of_file(path / ".zattrs");
  text.back() = ',';
  std::ofstream(path / ".zattrs") << text << R"("omero":{"channels":[7]},"note":"mine"})";
  for (int run = 0; run < 2; ++run) {
    write_waves(path, two_slices);
    EXPECT_EQ(files_below(path), files_below(folder / "new.zarr"));
    EXPECT_TRUE(says(bytes_of_file(path / "zarr.json"),
                     {R"("type":"mean"}],"omero":{"channels":[7]}},"tandem")", R"("note":"mine")"}));
    EXPECT_EQ(voxels_of(path), waves());
    write_waves(path, {});
    EXPECT_EQ(files_below(path), files_below(folder / "old.zarr"));
    EXPECT_TRUE(says(bytes_of_file(path / ".zattrs"), {R"("note":"mine")", R"("omero":{"channels":[7]})"}));
  }
}

TEST(OmeZarr3, OfOthersIsReplacedOnlyIfAsked) {
  const ArrayOfOthers other(R"("data_type":"uint8","fill_value":0,"codecs":[)" + plain + "]");
  EXPECT_TRUE(
      says(refusal([&] { write_waves(other.path(), two_slices); }), {"did not write it", "--overwrite"}));
  write_waves(other.path(), two_slices, io::Replace::any);
  EXPECT_EQ(voxels_of(other.path()), waves());
}

TEST(OmeZarr3, IsGoneOnWith) {
  const io::Identity same{{"the scan", "12 bytes"}};
  for (const auto compression : {Compression::none, Compression::blosc, Compression::zstd}) {
    const TemporaryFolder folder;
    const fs::path path = folder / "v.zarr";
    VolumeFormat format = two_slices;
    format.compression = compression;
    const auto writer = [&] {
      return io::create_volume(path, shape, format, "{}", io::Replace::own,
                               {.wanted = true, .identity = same});
    };
    {
      const auto first = writer();
      for (Index z = 1; z < 4; ++z) first->write({z, z + 1}, waves().data() + z * area);  // 2 lies before 3
      const fs::path journal = path / "..zattrs.tandem/.zattrs.journal";
      while (bytes_of_file(journal).find("done: 3 ") == std::string::npos) std::this_thread::yield();
    }
    std::fstream(path / "..zattrs.tandem/.zattrs.0.1", std::ios::in | std::ios::out) << "damage";  // slice 2
    auto second = writer();
    std::vector<float> slice(area);
    ASSERT_EQ(second->done().size(), 2u);
    EXPECT_EQ(second->done()[0], (Range{1, 2}));
    EXPECT_EQ(second->done()[1], (Range{3, 4}));
    second->read_done(3, slice.data());
    EXPECT_TRUE(std::ranges::equal(slice, waves() | std::views::drop(3 * area) | std::views::take(area)));
    for (const Index z : {0, 2, 4}) second->write({z, z + 1}, waves().data() + z * area);
    second->finish("{}");
    second.reset();
    EXPECT_EQ(voxels_of(path), waves());
    EXPECT_FALSE(fs::exists(path / "..zattrs.tandem"));
  }
}

/// Offsets outside, places that overlap, sizes beyond a file, no checksum, no slice, no shard, no end.
TEST(OmeZarr3, WithADamagedShardIsRefused) {
  constexpr std::uint64_t slice = area * 4, none = ~std::uint64_t{0}, huge = std::uint64_t{1} << 63;
  const TemporaryFolder folder;
  const fs::path path = folder / "v.zarr", shard = path / "0/c/1/0/0";
  write_waves(path, two_slices);
  const std::string whole = bytes_of_file(shard), voxels = whole.substr(0, 2 * slice);
  const auto refused = [&](const std::string& bytes) {
    std::ofstream(shard, std::ios::binary) << bytes;
    const std::string why = refusal([&] { io::VolumeReader{path}; });
    EXPECT_TRUE(says(why, {"0/c/1/0/0: ", "damaged"})) << why;
    EXPECT_EQ(why.find('\n'), std::string::npos);
    return why;
  };
  EXPECT_TRUE(says(refused(voxels + index_of({slice, slice, slice, slice})), {"index names bytes"}));
  EXPECT_TRUE(says(refused(voxels + index_of({0, slice, slice / 2, slice})), {"index names bytes"}));
  EXPECT_TRUE(says(refused(voxels + index_of({0, slice, slice + 4, slice})), {"index names bytes"}));
  EXPECT_TRUE(says(refused(voxels + index_of({0, slice, huge, slice})), {"index names"}));
  EXPECT_TRUE(says(refused(voxels + index_of({0, slice, slice, huge})), {"index names"}));
  EXPECT_TRUE(says(refused(voxels + index_of({none - 8, 16, slice, slice})), {"index names"}));
  EXPECT_TRUE(says(refused(voxels + index_of({0, slice, slice, 4})), {"a chunk has 4 bytes, not"}));
  EXPECT_TRUE(says(refused(voxels + index_of({0, slice, none, none})), {"lacks a slice"}));
  std::string other = whole;
  other[2 * slice] = 4;
  EXPECT_TRUE(says(refused(other), {"its index does not have the checksum"}));
  EXPECT_TRUE(says(refused(whole.substr(1)), {"index names bytes"}));
  EXPECT_TRUE(says(refused("few"), {"fewer than the 36 of its index"}));
  fs::remove(shard);
  EXPECT_TRUE(says(refusal([&] { io::VolumeReader{path}; }), {"is missing, although tandem wrote all"}));
}

TEST(OmeZarr3, IsReadWithinItsFolder) {
  for (const char* name : {"0/c/1/0/0", "0/c/1", "0/c", "0", "0/zarr.json", "zarr.json"}) {
    const TemporaryFolder folder, elsewhere;
    const fs::path path = folder / "v.zarr";
    write_waves(path, two_slices);
    fs::rename(path / name, elsewhere / "private");
    fs::create_symlink(elsewhere / "private", path / name);
    EXPECT_TRUE(says(refusal([&] { voxels_of(path); }), {"leads out of the folder", "--allow-external"}))
        << name;
    if (name != "0/zarr.json"s) {
      EXPECT_TRUE(says(refusal([&] { write_waves(path, two_slices); }), {"is a link"})) << name;
    }
  }
}

/// The layout that zarr-python makes by default, and others that the standard allows.
TEST(OmeZarr3, OfOthersIsRead) {
  const std::string type = R"("data_type":"int16","fill_value":-7,"codecs":)";
  std::vector<std::int16_t> swapped = to_fifteen<std::int16_t>();
  for (std::int16_t& n : swapped) n = static_cast<std::int16_t>(n << 8);
  const std::string numbers = bytes_of(to_fifteen<std::int16_t>());
  const std::string sum = bytes_of<std::uint32_t>({io::crc32c(std::as_bytes(std::span(numbers)))});
  const std::string shard_of =
      R"({"name":"sharding_indexed","configuration":{"chunk_shape":[1,1,4],"codecs":[)" + plain +
      R"(],"index_codecs":[)" + plain + R"(,{"name":"crc32c"}])";
  constexpr std::uint64_t none = ~std::uint64_t{0};
  const std::vector<std::tuple<std::string, std::string>> cases{
      {"[" + plain + "]", numbers},
      {R"([{"name":"bytes","configuration":{"endian":"big"}}])", bytes_of(swapped)},
      {"[" + plain + R"(,{"name":"crc32c"}])", numbers + sum},
      {"[" + shard_of + R"(,"index_location":"start"}}])",
       index_of({92, 8, 68, 8, 76, 8, 84, 8}) + numbers.substr(8, 24) + numbers.substr(0, 8)},
      {"[" + shard_of + "}}]", numbers + index_of({0, 8, 8, 8, 16, 8, 24, 8})},
  };
  for (const auto& [codecs, chunk] : cases) {
    const ArrayOfOthers other(type + codecs);
    other.put(chunk);
    EXPECT_EQ(voxels_of(other.path()), with_seven) << codecs;
  }
  const ArrayOfOthers part(type + "[" + shard_of + "}}]");  // a chunk of the shard is not there
  part.put(numbers + index_of({none, none, 8, 8, 16, 8, 24, 8}));
  EXPECT_EQ(voxels_of(part.path())[1], -7);
  EXPECT_EQ(voxels_of(part.path())[4], 4);
}

TEST(OmeZarr3, OfOthersIsRefusedInOneLine) {
  const std::string numbers = bytes_of(to_fifteen<std::int16_t>());
  const auto why = [&](const std::string& more) {
    const ArrayOfOthers other(more);
    other.put(numbers);
    const std::string text = other.why_not();
    EXPECT_EQ(text.find('\n'), std::string::npos);
    return text;
  };
  const std::string type = R"("data_type":"int16","codecs":)";
  EXPECT_TRUE(says(why(R"("data_type":"complex64","codecs":[)" + plain + "]"), {"dtype \"complex64\""}));
  EXPECT_TRUE(says(why(type + R"([{"name":"transpose","configuration":{"order":[2,1,0]}},)" + plain + "]"),
                   {"has \"transpose\" where \"bytes\" is needed"}));
  EXPECT_TRUE(says(why(type + "[]"), {"where \"bytes\" is needed"}));
  EXPECT_TRUE(says(why(type + "[" + plain + R"(,{"name":"lzma"}])"), {"packed by lzma"}));
  EXPECT_TRUE(says(why(type + "[" + plain + R"(,{"name":"crc32c"}])"), {"has 32 bytes, not 36"}));
  EXPECT_TRUE(says(why(type + "[" + plain + R"(,{"name":"gzip"}])"), {"cannot be unpacked"}));
  EXPECT_TRUE(says(why(type + "[" + plain + R"(],"storage_transformers":[{"name":"x"}])"), {"transformers"}));
  EXPECT_TRUE(says(why(type + "[" + plain + R"(],"chunk_grid":{"name":"rectangular"})"),
                   {"has \"rectangular\" where \"regular\" is needed"}));
  EXPECT_TRUE(says(why(type + "[" + plain + R"(],"fill_value":"0x7fc0")"), {"fill_value \"0x7fc0\""}));
  const auto shard = [&](const std::string& chunk, const std::string& index) {
    return why(type + R"([{"name":"sharding_indexed","configuration":{"chunk_shape":)" + chunk +
               R"(,"codecs":[)" + plain + R"(],"index_codecs":)" + index + "}}]");
  };
  EXPECT_TRUE(says(shard("[1,2,3]", "[" + plain + "]"), {"which are not whole chunks of 3"}));
  EXPECT_TRUE(says(shard("[1,2]", "[" + plain + "]"), {"chunk_shape is not three whole numbers"}));
  EXPECT_TRUE(
      says(shard("[1,2,4]", "[" + plain + R"(,{"name":"zstd"}])"), {"index of its shards is packed"}));
  EXPECT_TRUE(says(shard("[1,2,4]", R"([{"name":"bytes","configuration":{"endian":"big"}}])"),
                   {"not little-endian"}));
  EXPECT_TRUE(says(shard("[1,1,1]", "[" + plain + "]"), {"has 32 bytes, fewer than the 256"}));
  const std::string large =
      R"("chunk_grid":{"name":"regular","configuration":{"chunk_shape":[1e9,1e9,1e9]}})";
  EXPECT_TRUE(says(why(large + "," + type + "[" + plain + "]"), {"a chunk has"}));
  EXPECT_TRUE(says(
      why(large + "," + type + R"([{"name":"sharding_indexed","configuration":{"chunk_shape":[1,1,1]}}])"),
      {"a shard has 1e+27 chunks"}));
}

}  // namespace tandem::test
