// Volumes as OME-Zarr: levels, and what becomes of the folder.

#include <cmath>
#include <cstring>
#include <fstream>
#include <thread>

#include "../../../io/volumes/volume_file.hpp"
#include "../io_checks.hpp"

namespace tandem::test {

using io::VolumeFormat;
using io::VoxelType;
using namespace std::string_literals;

namespace {

constexpr Shape shape{3, 4, 5};

std::vector<float> ramp() {
  std::vector<float> data(3 * 4 * 5);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = 0.05f * static_cast<float>(i) - 1;
  return data;
}

void write_ramp(const fs::path& path, const VolumeFormat& format) {
  const auto writer = io::create_volume(path, shape, format, "{}");
  writer->write({0, 3}, ramp().data());
  writer->finish("{}");
}

std::string bytes_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

/// The levels of 130 x 70 voxels: halves until both are 64 at most.
TEST(OmeZarr, HasLevelsOfMeans) {
  const TemporaryFolder folder;
  constexpr Shape n{3, 70, 130};
  std::vector<float> data(3 * 70 * 130);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = std::sin(static_cast<float>(i));
  const VolumeFormat format{.place = io::whole_place({{130, 70, 3}, {0.5, 0.25, 2}, {}}, true)};
  const auto writer = io::create_volume(folder / "v.zarr", n, format, "{}");
  writer->write({1, 3}, data.data() + 70 * 130);
  writer->write({0, 1}, data.data());
  writer->finish("{}");
  const auto chunk = [&](int level, int z) {
    const std::string bytes =
        bytes_of_file(folder / "v.zarr" / std::to_string(level) / std::to_string(z) / "0/0");
    std::vector<float> values(bytes.size() / 4);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  };
  const std::vector<float> middle(data.begin() + 70 * 130, data.begin() + 2 * 70 * 130);
  EXPECT_EQ(chunk(0, 1), middle);
  const auto mean = [&](Index z, Index y, Index x) {
    double sum = 0;
    int count = 0;
    for (Index zz = 2 * z; zz < std::min<Index>(2 * z + 2, 3); ++zz)
      for (Index yy = 2 * y; yy < 2 * y + 2; ++yy)
        for (Index xx = 2 * x; xx < 2 * x + 2; ++xx, ++count)
          sum += data[static_cast<std::size_t>((zz * 70 + yy) * 130 + xx)];
    return sum / count;
  };
  for (int z = 0; z < 2; ++z) {
    const std::vector<float> half = chunk(1, z);
    ASSERT_EQ(half.size(), 35u * 65);
    for (Index y = 0; y < 35; ++y)
      for (Index x = 0; x < 65; ++x)  // eight numbers up to 1 in float
        ASSERT_NEAR(half[static_cast<std::size_t>(y * 65 + x)], mean(z, y, x), 1e-6);
  }
  EXPECT_EQ(chunk(2, 0).size(), 18u * 33);
  EXPECT_FALSE(fs::exists(folder / "v.zarr/3"));
  EXPECT_FALSE(fs::exists(folder / "v.zarr/2/1"));
  EXPECT_EQ(bytes_of_file(folder / "v.zarr/0/.zattrs"), R"({"_ARRAY_DIMENSIONS":["z","y","x"]})");
  EXPECT_EQ(bytes_of_file(folder / "v.zarr/2/.zattrs"), R"({"_ARRAY_DIMENSIONS":["z2","y2","x2"]})");
  const std::string about = bytes_of_file(folder / "v.zarr/.zattrs");
  EXPECT_TRUE(
      says(about, {R"("version":"0.4")", R"({"name":"z","type":"space","unit":"millimeter"})",
                   R"({"path":"0","coordinateTransformations":[{"type":"scale","scale":[2,0.25,0.5]})",
                   R"({"type":"translation","translation":[-2,-8.625,-32.25]})",
                   R"({"path":"1","coordinateTransformations":[{"type":"scale","scale":[4,0.5,1]})",
                   R"({"type":"translation","translation":[-1,-8.5,-32]})"}))
      << about;
}

TEST(OmeZarr, IsReplacedAsAWhole) {
  const TemporaryFolder folder;
  const fs::path path = folder / "v.zarr";
  write_ramp(path, {});
  EXPECT_TRUE(fs::exists(path / "0/2/0/0"));
  const auto one = io::create_volume(path, {1, 4, 5}, {}, "{}");
  one->write({0, 1}, ramp().data());
  EXPECT_TRUE(fs::exists(path / "0/2/0/0"));  // until the new one is whole
  one->finish("{}");
  EXPECT_FALSE(fs::exists(path / "0/2/0/0"));
  EXPECT_TRUE(fs::exists(path / "0/0/0/0"));
  {
    const auto given_up = io::create_volume(folder / "w.zarr", shape, {}, "{}");
    given_up->write({0, 1}, ramp().data());
  }
  EXPECT_FALSE(fs::exists(folder / "w.zarr"));
  std::ofstream(folder / "file.zarr") << "a file";
  EXPECT_TRUE(says(refusal([&] { write_ramp(folder / "file.zarr", {}); }), {"file.zarr: is a file"}));
}

/// Files that a user, or another program, has put beside the levels stay.
TEST(OmeZarr, IsReplacedAlone) {
  const TemporaryFolder folder;
  const fs::path path = folder / "v.zarr";
  write_ramp(path, {});
  const std::vector<std::string> own{
      "labels/cells/.zarray", "labels/.zgroup", "labels/cells/0/0/0", "notes.txt",
      "0/notes.txt",          "0/2/0/notes",    "0/2/0/0.bak",        "tables/0/1/0/0"};
  for (const std::string& name : own) {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name) << name;
  }
  const TemporaryFolder elsewhere;
  std::ofstream(elsewhere / "0") << "precious";
  fs::create_directory_symlink(elsewhere.path(), path / "more");
  const auto one = io::create_volume(path, {1, 4, 5}, {}, "{}");
  one->write({0, 1}, ramp().data());
  one->finish("{}");
  EXPECT_FALSE(fs::exists(path / "0/2/0/0"));
  for (const std::string& name : own) EXPECT_EQ(bytes_of_file(path / name), name);
  EXPECT_TRUE(fs::is_symlink(path / "more"));
  EXPECT_EQ(bytes_of_file(elsewhere / "0"), "precious");
}

TEST(OmeZarr, LeadsThroughNoLink) {
  for (const char* name : {"0", "0/1", "0/1/0"}) {
    const TemporaryFolder folder, elsewhere;
    const fs::path path = folder / "v.zarr";
    write_ramp(path, {});
    fs::remove_all(path / name);
    std::ofstream(elsewhere / "0") << "precious";
    fs::create_directory_symlink(elsewhere.path(), path / name);
    EXPECT_TRUE(says(refusal([&] { write_ramp(path, {}); }), {"is a link"})) << name;
    EXPECT_EQ(bytes_of_file(elsewhere / "0"), "precious");
  }
  const TemporaryFolder folder, elsewhere;
  write_ramp(folder / "v.zarr", {});
  fs::rename(folder / "v.zarr/.zattrs", elsewhere / "about");
  fs::create_symlink(elsewhere / "about", folder / "v.zarr/.zattrs");
  EXPECT_TRUE(says(refusal([&] { write_ramp(folder / "v.zarr", {}); }), {"is a link"}));
}

/// A stranger's links lead to no private file, unless the user trusts the volume.
TEST(OmeZarr, IsReadWithinItsFolder) {
  std::vector<float> voxels(3 * 4 * 5);
  for (const char* name : {"0/1/0/0", "0/1/0", "0/1", "0", "0/.zarray", ".zattrs"}) {
    const TemporaryFolder folder, elsewhere;
    const fs::path path = folder / "v.zarr";
    write_ramp(path, {});
    fs::rename(path / name, elsewhere / "private");
    fs::create_symlink(elsewhere / "private", path / name);
    const auto read = [&](bool any) { io::VolumeReader(path, any).read({0, 3}, voxels.data()); };
    EXPECT_TRUE(
        says(refusal([&] { read(false); }), {"v.zarr", "leads out of the folder", "--allow-external"}))
        << name;
    read(true);
    EXPECT_EQ(voxels, ramp()) << name;
  }
  const TemporaryFolder folder;
  write_ramp(folder / "v.zarr", {});
  fs::rename(folder / "v.zarr/0/1", folder / "v.zarr/0/more");
  fs::create_directory_symlink("more", folder / "v.zarr/0/1");
  fs::create_directory_symlink(folder / "v.zarr", folder / "link.zarr");
  io::VolumeReader(folder / "link.zarr").read({0, 3}, voxels.data());
  EXPECT_EQ(voxels, ramp());
}

/// A chunk that is not there stands for a number in a Zarr of others. Here it is a loss, and so is a link to
/// nothing.
TEST(OmeZarr, LacksNoChunkThatTandemWrote) {
  const TemporaryFolder folder;
  const fs::path path = folder / "v.zarr", chunk = path / "0/1/0/0";
  std::vector<float> voxels(3 * 4 * 5), filled = ramp();
  write_ramp(path, {});
  fs::remove(chunk);
  EXPECT_TRUE(says(refusal([&] { io::VolumeReader{path}; }), {"0/1/0/0: is missing", "damaged"}));
  std::fill_n(filled.begin() + 20, 20, 0.0f);
  io::VolumeReader(path / "0").read({0, 3}, voxels.data());  // an array alone does not tell who wrote it
  EXPECT_EQ(voxels, filled);
  fs::create_symlink("nowhere", chunk);
  EXPECT_TRUE(says(refusal([&] {
                     io::VolumeReader(path / "0").read({0, 3}, voxels.data());
                   }),
                   {"0/1/0/0: no such file"}));
}

TEST(OmeZarr, HasChunksOfTheSizeThatIsDue) {
  const TemporaryFolder folder;
  const fs::path path = folder / "v.zarr";
  std::vector<float> voxels(3 * 4 * 5);
  for (const Index bytes : {79, 81}) {
    write_ramp(path, {});
    fs::resize_file(path / "0/1/0/0", bytes);
    const std::string had = "has " + std::to_string(bytes) + " bytes, not 80";
    EXPECT_TRUE(says(refusal([&] { io::VolumeReader{path}; }), {"0/1/0/0", had}));
    EXPECT_TRUE(says(refusal([&] {
                       io::VolumeReader(path / "0").read({0, 3}, voxels.data());
                     }),
                     {"0/1/0/0", had}));
  }
}

/// What is filled is not always a finite number.
TEST(OmeZarr, SaysThatItIsFilledByInfinity) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "v.zarr");
  std::ofstream(folder / "v.zarr/.zarray")
      << R"({"zarr_format":2,"shape":[1,2,2],"chunks":[1,2,2],"dtype":"<f4","compressor":null,"filters":null,)"
      << R"("fill_value":"Infinity","order":"C"})";
  std::vector<float> voxels(4);
  EXPECT_TRUE(says(refusal([&] {
                     io::VolumeReader(folder / "v.zarr").read({0, 1}, voxels.data());
                   }),
                   {"is inf; finite numbers are needed"}));
}

TEST(OmeZarr, KeepsTheAttributesOfAUser) {
  const TemporaryFolder folder;
  const fs::path path = folder / "v.zarr";
  write_ramp(path, {});
  const auto add = [&](const fs::path& file, const std::string& more) {
    std::string text = bytes_of_file(file);
    text.back() = ',';
    std::ofstream(file) << text << more << '}';
  };
  add(path / ".zattrs", R"("omero":{"channels":[{"label":"a \"b\""}]},"my \"note\"":7)");
  add(path / "0/.zattrs", R"("long_name":"attenuation")");
  for (int run = 0; run < 2; ++run) write_ramp(path, {});
  const std::string about = bytes_of_file(path / ".zattrs");
  EXPECT_TRUE(says(
      about, {R"("complete":true)", R"("my \"note\"":7,)", R"("omero":{"channels":[{"label":"a \"b\""}]})"}))
      << about;
  EXPECT_EQ(about.find("multiscales"), about.rfind("multiscales"));
  EXPECT_EQ(bytes_of_file(path / "0/.zattrs"),
            R"({"_ARRAY_DIMENSIONS":["z","y","x"],"long_name":"attenuation"})");
  EXPECT_NO_THROW(io::VolumeReader{path});
}

/// The name is in the attributes.
TEST(OmeZarr, MayHaveANameThatIsNoUtf8) {
  const TemporaryFolder folder;
  const fs::path path = folder / "v\xff.zarr";
  for (int run = 0; run < 2; ++run) write_ramp(path, {});
  EXPECT_TRUE(says(bytes_of_file(path / ".zattrs"), {"\"name\":\"v\xef\xbf\xbd\""}));
  EXPECT_NO_THROW(io::VolumeReader{path});
}

/// A file that is no JSON, one that would exhaust a reader, and values of wrong types.
TEST(OmeZarr, OfAnEnemyIsRefusedInOneLine) {
  const TemporaryFolder folder;
  const fs::path path = folder / "v.zarr", array = path / "0/.zarray", about = path / ".zattrs";
  const auto refused = [&](const fs::path& file, const std::string& from, const std::string& to) {
    write_ramp(path, {});
    std::string text = bytes_of_file(file);
    if (const std::size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
    std::ofstream(file) << text;
    const std::string why = refusal([&] { io::VolumeReader{path}; });
    fs::remove_all(path);
    EXPECT_EQ(why.find('\n'), std::string::npos) << why;
    EXPECT_NE(why.find("v.zarr"), std::string::npos) << why;
    return why.substr(why.find(": ") + 2);
  };
  const std::string damaged = "is not JSON; the file is damaged", shape_of = "\"shape\":[3,4,5]";
  for (const std::string& value : {std::string(100'000, '[') + std::string(100'000, ']'),
                                   std::string(10'000'000, '['), "1e999"s, "\"\xff\""s, "\0"s, "NaN"s})
    for (const fs::path& file : {array, about})
      EXPECT_EQ(refused(file, "{", "{\"a\":" + value + ","), damaged) << value.substr(0, 20);
  for (const char* shape :
       {"[3,4]", "[3,4,-5]", "[3,4,0.5]", "[3,4,\"5\"]", "[3,4,1e18]", "[3,4,18446744073709551620]",
        "{\"a\":3}", "7", "null", "[[3,4,5]]", "[3,4,5],\"shape\":[3]"})
    EXPECT_TRUE(says(refused(array, shape_of, "\"shape\":"s + shape), {"shape is not three whole numbers"}))
        << shape;
  EXPECT_TRUE(says(refused(array, "\"<f4\"", "[\"<f4\"]"), {"dtype \"\""}));
  EXPECT_TRUE(
      says(refused(array, "\"filters\":null", "\"filters\":[{\"id\":\"delta\"}]"), {"packed by delta"}));
  for (const char* scales :
       {"7", "[]", "[7]", "[[]]", "{\"a\":{\"datasets\":[]}}", "[{\"datasets\":7}]", "null"})
    EXPECT_TRUE(says(refused(about, "\"multiscales\":", "\"multiscales\":"s + scales + ",\"older\":"),
                     {"has no multiscales"}))
        << scales;
}

/// The folder is known by what stands in it, also if another program has set it anew; not by words that
/// others use too.
TEST(OmeZarr, OfAnotherProgramIsReplacedOnlyIfAsked) {
  const TemporaryFolder folder;
  const fs::path path = folder / "v.zarr";
  write_ramp(path, {});
  std::string about = bytes_of_file(path / ".zattrs");
  for (std::size_t at = 0; (at = about.find(':', at)) != std::string::npos; at += 3)
    about.insert(at + 1, "\n ");
  std::ofstream(path / ".zattrs") << about;
  EXPECT_NO_THROW(write_ramp(path, {}));
  std::ofstream(path / ".zattrs") << R"({"multiscales":[{"version":"0.4"}],"made":{"command":"x"}})";
  std::ofstream(path / "notes.txt") << "mine";
  EXPECT_TRUE(says(refusal([&] { write_ramp(path, {}); }), {"tandem did not write it", "--overwrite"}));
  const auto one = io::create_volume(path, {1, 4, 5}, {}, "{}", io::Replace::any);
  one->write({0, 1}, ramp().data());
  one->finish("{}");
  EXPECT_FALSE(fs::exists(path / "0/2/0/0"));
  EXPECT_EQ(bytes_of_file(path / "notes.txt"), "mine");
}

TEST(OmeZarr, IsGoneOnWith) {
  const TemporaryFolder folder;
  for (const auto compression : {io::Compression::none, io::Compression::blosc, io::Compression::zstd}) {
    const fs::path path = folder / "v.zarr";
    const VolumeFormat format{.type = VoxelType::uint16, .compression = compression, .min = -1, .max = 2};
    const io::Identity same{{"the scan", "12 bytes"}};
    write_ramp(folder / "whole.zarr", format);
    {
      const auto first =
          io::create_volume(path, shape, format, "{}", io::Replace::own, {.wanted = true, .identity = same});
      first->write({1, 2}, ramp().data() + 20);
      while (!fs::exists(path / "..zattrs.tandem/.zattrs.journal")) std::this_thread::yield();
    }
    auto second =
        io::create_volume(path, shape, format, "{}", io::Replace::own, {.wanted = true, .identity = same});
    ASSERT_EQ(second->done().size(), 1u);
    EXPECT_EQ(second->done()[0].first, 1);
    second->write({0, 1}, ramp().data());
    second->write({2, 3}, ramp().data() + 40);
    second->finish("{}");
    second.reset();
    for (const char* chunk : {"0/0/0/0", "0/1/0/0", "0/2/0/0"})
      EXPECT_EQ(bytes_of_file(path / chunk), bytes_of_file(folder / "whole.zarr" / chunk));
    EXPECT_FALSE(fs::exists(path / "..zattrs.tandem"));
  }
}

}  // namespace tandem::test
