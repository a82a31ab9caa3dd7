// Parts of volumes: every voxel is that of the whole volume, and no more is read than is asked for.

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "../../../core/random.hpp"
#include "../../../io/volumes/volume_format.hpp"
#include "../../../io/volumes/volume_kind.hpp"
#include "../io_checks.hpp"

namespace tandem::test {

using io::VolumeBox;
using io::VolumeFormat;
using io::VolumeReader;
using io::VoxelType;

namespace {

constexpr Shape odd{5, 70, 67};  // more than the smallest copy of a Zarr

std::vector<float> noise() {
  std::vector<float> data(static_cast<std::size_t>(odd[0] * odd[1] * odd[2]));
  Random random(11);
  for (float& v : data) v = static_cast<float>(random.uniform());
  return data;
}

void write_noise(const fs::path& path, const VolumeFormat& format) {
  const auto writer = io::create_volume(path, odd, format, "{}");
  writer->write({0, odd[0]}, noise().data());
  writer->finish("{}");
}

std::vector<float> read(VolumeReader& reader, const VolumeBox& box, std::size_t level = 0) {
  const Shape n = box.shape();
  std::vector<float> data(static_cast<std::size_t>(n[0] * n[1] * n[2]));
  reader.read_box(box, data.data(), level);
  return data;
}

std::vector<float> picked(const std::vector<float>& whole, Shape n, const VolumeBox& box) {
  std::vector<float> data;
  for (Index z = box.part[0].first; z < box.part[0].last; z += box.step[0])
    for (Index y = box.part[1].first; y < box.part[1].last; y += box.step[1])
      for (Index x = box.part[2].first; x < box.part[2].last; x += box.step[2])
        data.push_back(whole[static_cast<std::size_t>((z * n[1] + y) * n[2] + x)]);
  return data;
}

const std::vector<VolumeBox> boxes{{{{{2, 3}, {0, 70}, {0, 67}}}},
                                   {{{{0, 5}, {69, 70}, {3, 60}}}},
                                   {{{{0, 5}, {1, 70}, {66, 67}}}, {2, 3, 1}},
                                   {{{{1, 4}, {7, 33}, {5, 66}}}, {1, 4, 7}}};

void write_text(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

/// Numbers 0, 1, 2, ... in a file, behind some bytes.
template <class T>
void write_numbers(const fs::path& path, int count, bool swapped, std::size_t skipped = 0) {
  std::ofstream file(path, std::ios::binary);
  file << std::string(skipped, '#');
  for (int k = 0; k < count; ++k) {
    const T value = static_cast<T>(k);
    std::array<char, sizeof(T)> bytes{};
    std::memcpy(bytes.data(), &value, sizeof(T));
    if (swapped) std::reverse(bytes.begin(), bytes.end());
    file.write(bytes.data(), bytes.size());
  }
}

std::vector<float> counted(int count) {
  std::vector<float> all;
  for (int k = 0; k < count; ++k) all.push_back(static_cast<float>(k));
  return all;
}

std::vector<float> all_of(const fs::path& path) {
  VolumeReader reader(path);
  const Shape n = reader.shape();
  std::vector<float> data(static_cast<std::size_t>(n[0] * n[1] * n[2]));
  reader.read({0, n[0]}, data.data());
  return data;
}

/// Bytes that this process has read so far.
double bytes_read() {
  std::ifstream counts("/proc/self/io");
  std::string name;
  double value = 0;
  counts >> name >> value;
  return name == "rchar:" ? value : std::nan("");
}

}  // namespace

TEST(VolumeBox, IsThatPartOfTheVolumeInAllFormats) {
  for (const io::VolumeKind& kind : io::volume_kinds())
    for (const VoxelType type : kind.types)
      for (const auto packing : {io::Compression::none, io::Compression::zstd, io::Compression::blosc}) {
        if (packing != io::Compression::none && !kind.packs) continue;
        const TemporaryFolder folder;
        fs::path path = folder / "v";
        path += kind.ending();
        const io::VolumePlace place = io::whole_place({{odd[2], odd[1], odd[0]}, {1, 1, 1}, {}}, true);
        write_noise(path, {.type = type, .compression = packing, .place = place});
        const std::string what =
            path.filename().string() + " " + io::name_of(type) + " " + io::name_of(packing);
        const std::vector<float> whole = all_of(path), exact = noise();
        // float16 has 11 bits; integers of 8 bits are the coarsest, half a step of 1/255
        const double tolerance = type == VoxelType::float32 ? 0
                                 : type == VoxelType::uint8 ? 0.51 / 255
                                                            : 0.5 / 2048;
        for (std::size_t k = 0; k < whole.size(); ++k) ASSERT_NEAR(whole[k], exact[k], tolerance) << what;
        VolumeReader reader(path);
        EXPECT_TRUE(reader.is_reconstruction() && reader.complete()) << what;
        for (const VolumeBox& box : boxes) EXPECT_EQ(read(reader, box), picked(whole, odd, box)) << what;
      }
}

TEST(VolumeBox, OfAnArrayIsThatPartOfIt) {
  const std::vector<float> whole = noise();
  VolumeReader reader(whole.data(), odd, std::nullopt);
  EXPECT_EQ(reader.title(), "an array");
  for (const VolumeBox& box : boxes) EXPECT_EQ(read(reader, box), picked(whole, odd, box));
}

TEST(VolumeBox, KeepsWhatIsNotFinite) {
  const std::vector<float> whole{1, std::numeric_limits<float>::quiet_NaN(), 3};
  VolumeReader reader(whole.data(), {1, 1, 3}, std::nullopt);
  const std::vector<float> found = read(reader, {{{{0, 1}, {0, 1}, {0, 3}}}});
  EXPECT_TRUE(found[0] == 1 && std::isnan(found[1]) && found[2] == 3);
}

TEST(VolumeBox, OfALevelHasMeansOfTheVolume) {
  const TemporaryFolder folder;
  write_noise(folder / "v.zarr", {});
  VolumeReader reader(folder / "v.zarr");
  ASSERT_EQ(reader.levels(), (std::vector<Shape>{odd, {3, 35, 34}}));
  const std::vector<float> whole = noise();
  const float mean = read(reader, {{{{1, 2}, {4, 5}, {6, 7}}}}, 1)[0];
  double sum = 0;
  for (const float v : picked(whole, odd, {{{{2, 4}, {8, 10}, {12, 14}}}})) sum += v;
  EXPECT_NEAR(mean, sum / 8, 4e-7);  // eight floats below 1, added one by one: 8 roundings of 6e-8 at most
}

TEST(VolumeBox, OutsideOfTheVolumeIsRefused) {
  const std::vector<float> whole = noise();
  VolumeReader reader(whole.data(), odd, std::nullopt);
  float voxel = 0;
  for (const VolumeBox& box :
       {VolumeBox{{{{5, 6}, {0, 1}, {0, 1}}}}, VolumeBox{{{{0, 1}, {-1, 1}, {0, 1}}}},
        VolumeBox{{{{0, 1}, {0, 1}, {67, 67}}}}, VolumeBox{{{{0, 1}, {0, 1}, {0, 1}}}, {1, 0, 1}}})
    EXPECT_TRUE(says(refusal([&] { reader.read_box(box, &voxel); }), {"is wanted"}));
  EXPECT_TRUE(says(refusal([&] {
                     reader.read_box(VolumeBox{{{{0, 1}, {0, 1}, {0, 1}}}}, &voxel, 1);
                   }),
                   {"level 1"}));
}

/// A volume of 100 GB that takes no disk: a line of a plane costs its own bytes.
TEST(VolumeBox, OfALargeVolumeReadsNotMoreThanItself) {
  if (std::isnan(bytes_read())) GTEST_SKIP() << "this kernel does not count bytes";
  const TemporaryFolder folder;
  constexpr Index side = 2924;  // 100.0e9 bytes
  const auto count = static_cast<std::uintmax_t>(side) * side * side * 4;
  write_text(folder / "v.mhd",
             "ObjectType = Image\nNDims = 3\nDimSize = 2924 2924 2924\nElementType = MET_FLOAT\n"
             "ElementDataFile = v.raw\n");
  std::ofstream(folder / "v.raw").close();
  fs::resize_file(folder / "v.raw", count);
  Hdf5Maker(folder / "v.h5").raw("/exchange/data", "f32", {2924, 2924, 2924}, folder / "v.raw");
  for (const char* name : {"v.mhd", "v.h5"}) {
    VolumeReader reader(folder / name);
    const VolumeBox part{{{{1000, 1001}, {100, 600}, {700, 1200}}}},
        upright{{{{0, side}, {5, 6}, {0, side}}}, {8, 1, 1}};
    for (const VolumeBox& box : {part, upright}) {
      const double before = bytes_read();
      const std::vector<float> found = read(reader, box);
      const double wanted = 4.0 * static_cast<double>(found.size());
      EXPECT_LE(bytes_read() - before, wanted + 65536) << name;  // besides the counts themselves
      EXPECT_LT(reader.bytes_for(box), 64e6) << name;
      EXPECT_EQ(found, std::vector<float>(found.size()));
    }
  }
}

TEST(MetaImage, OfOthersIsRead) {
  const TemporaryFolder folder;
  const std::string head =
      "ObjectType = Image\nNDims = 3\nBinaryData = True\nDimSize = 4 3 2\nOffset = 1 2 3\nElementSpacing = "
      "0.5 1 2\n";
  write_numbers<std::int16_t>(folder / "v.raw", 24, true, 10);
  write_text(folder / "v.mhd", head +
                                   "HeaderSize = 10\nBinaryDataByteOrderMSB = True\nElementType = "
                                   "MET_SHORT\nElementDataFile = v.raw\n");
  EXPECT_EQ(all_of(folder / "v.mhd"), counted(24));
  write_text(
      folder / "end.mhd",
      head +
          "HeaderSize = -1\nElementByteOrderMSB = True\nElementType = MET_SHORT\nElementDataFile = v.raw\n");
  EXPECT_EQ(all_of(folder / "end.mhd"), counted(24));
  const auto place = VolumeReader(folder / "v.mhd").place();
  ASSERT_TRUE(place && place->in_mm);
  EXPECT_EQ(place->grid.pitch, (std::array<double, 3>{0.5, 1, 2}));
  EXPECT_EQ(place->grid.centre, (std::array<double, 3>{1.75, 3, 4}));
  write_text(folder / "turned.mhd", head +
                                        "HeaderSize = 10\nTransformMatrix = 0 1 0 1 0 0 0 0 1\nElementType = "
                                        "MET_SHORT\nElementDataFile = v.raw\n");
  EXPECT_FALSE(VolumeReader(folder / "turned.mhd").place());
}

TEST(MetaImage, ThatIsDamagedOrElsewhereIsRefused) {
  const TemporaryFolder folder;
  const std::string head = "ObjectType = Image\nNDims = 3\nDimSize = 4 3 2\n",
                    type = "ElementType = MET_UCHAR\n";
  write_numbers<std::uint8_t>(folder / "v.raw", 24, false);
  const auto refused = [&](const std::string& text) {
    write_text(folder / "v.mhd", text);
    return refusal([&] { VolumeReader(folder / "v.mhd"); });
  };
  const std::string data = "ElementDataFile = v.raw\n";
  EXPECT_TRUE(says(refused(head + type), {"head does not end"}));
  EXPECT_TRUE(says(refused(head + type + "HeaderSize = 1\n" + data), {"v.raw has (24"}));
  EXPECT_TRUE(says(refused(head + type + "HeaderSize = 1e300\n" + data), {"headersize"}));
  EXPECT_TRUE(says(refused(head + type + "CompressedData = True\n" + data), {"compresseddata"}));
  EXPECT_TRUE(says(refused(head + "ElementType = MET_LONG\n" + data), {"MET_LONG"}));
  EXPECT_TRUE(says(refused("ObjectType = Image\nNDims = 3\nDimSize = 4 -3 2\n" + type + data), {"dimsize"}));
  EXPECT_TRUE(
      says(refused("ObjectType = Image\nNDims = 3\nDimSize = 1e9 1e9 1e9\n" + type + data), {"v.raw has"}));
  EXPECT_TRUE(says(refused("ObjectType = Image\nNDims = 2\nDimSize = 4 3\n" + type + data), {"ndims"}));
  EXPECT_TRUE(says(refused(head + "ElementSpacing = 1 0 1\n" + type + data), {"a voxel is 0 wide along y"}));
  EXPECT_TRUE(says(refused(head + type + "ElementDataFile = ../v.raw\n"), {"outside of its folder"}));
  EXPECT_TRUE(says(refused(head + type + "ElementDataFile = /etc/hostname\n"), {"outside of its folder"}));
  EXPECT_TRUE(says(refused(head + type + "ElementDataFile = lost.raw\n"), {"lost.raw"}));
}

TEST(Nrrd, OfOthersIsRead) {
  const TemporaryFolder folder;
  write_numbers<double>(folder / "v.raw", 24, true);
  const std::string head =
      "NRRD0005\n# by hand\ndimension: 3\nsizes: 4 3 2\nencoding: raw\nspacings: 0.5 1 2\nunits: \"mm\" "
      "\"mm\" \"mm\"\n";
  write_text(folder / "v.nhdr", head + "type: double\nendian: big\ndata file: v.raw\n\n");
  EXPECT_EQ(all_of(folder / "v.nhdr"), counted(24));
  const auto place = VolumeReader(folder / "v.nhdr").place();
  ASSERT_TRUE(place && place->in_mm);
  EXPECT_EQ(place->grid.pitch, (std::array<double, 3>{0.5, 1, 2}));
  const auto refused = [&](const std::string& text) {
    write_text(folder / "bad.nrrd", text);
    return refusal([&] { VolumeReader(folder / "bad.nrrd"); });
  };
  EXPECT_TRUE(says(refused("hello"), {"is no NRRD"}));
  EXPECT_TRUE(says(refused(head + "type: block\ndata file: v.raw\n\n"), {"block"}));
  EXPECT_TRUE(says(refused(head + "type: double\n"), {"head does not end"}));
  EXPECT_TRUE(says(refused(head + "type: double\n\n"), {"bad.nrrd has"}));
  EXPECT_TRUE(says(refused("NRRD0004\ndimension: 3\nsizes: 1 1 1\nencoding: gzip\ntype: uchar\n\n#"),
                   {"gzip", "raw"}));
}

TEST(OmeZarr, KeepsItsPlaceAndItsRecipe) {
  const TemporaryFolder folder;
  const io::VolumePlace place{{{67, 70, 5}, {0.25, 0.5, 0.125}, {1, -2, 3}}, true, {67, 70, 5}, {}};
  for (const char* name : {"v.zarr", "v.nrrd", "v.mha"}) {
    const auto writer = io::create_volume(folder / name, odd,
                                          {.type = VoxelType::uint16, .min = -1, .max = 2, .place = place},
                                          R"({"config":"a = \"}\""})");
    writer->write({0, odd[0]}, noise().data());
    writer->finish("{}");
    VolumeReader reader(folder / name);
    ASSERT_TRUE(reader.place()) << name;
    EXPECT_EQ(difference(*reader.place(), place), "") << name;
    EXPECT_EQ(reader.unit(), "1/mm") << name;
    if (std::string(name) != "v.mha") {
      EXPECT_EQ(reader.recipe(), R"({"config":"a = \"}\""})") << name;
    }
    std::vector<float> found(noise().size());
    reader.read({0, odd[0]}, found.data());
    for (std::size_t k = 0; k < found.size(); ++k) ASSERT_NEAR(found[k], noise()[k], 3.0 / 65535) << name;
  }
}

TEST(OmeZarr, OfOthersIsRead) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "v.zarr");
  const auto array = [&](const std::string& more) {
    write_text(
        folder / "v.zarr/.zarray",
        R"({"zarr_format":2,"shape":[2,3,4],"chunks":[2,2,4],"order":"C","filters":null,)" + more + "}");
  };
  array(R"("dtype":">i2","compressor":null,"fill_value":-7)");
  write_numbers<std::int16_t>(folder / "v.zarr/0.0.0", 16, true);  // the other chunk is not there
  const std::vector<float> expected{0, 1, 2,  3,  4,  5,  6,  7,  -7, -7, -7, -7,
                                    8, 9, 10, 11, 12, 13, 14, 15, -7, -7, -7, -7};
  EXPECT_EQ(all_of(folder / "v.zarr"), expected);
  const auto refused = [&](const std::string& more) {
    array(more);
    return refusal([&] { all_of(folder / "v.zarr"); });
  };
  EXPECT_TRUE(says(refused(R"("dtype":">i2","compressor":{"id":"lzma"})"), {".zarray", "lzma"}));
  EXPECT_TRUE(says(refused(R"("dtype":"<M8","compressor":null)"), {"dtype"}));
  EXPECT_TRUE(says(refused(R"("dtype":"<f8","compressor":null)"), {"0.0.0", "has 32 bytes"}));
  EXPECT_TRUE(says(refused(R"("dtype":"<f8","compressor":{"id":"zlib"})"), {"0.0.0", "cannot be unpacked"}));
  EXPECT_TRUE(says(refused(R"("dtype":"<f8" "compressor":null)"), {"is not JSON"}));
  write_text(folder / "v.zarr/.zarray", R"({"shape":[1e9,1e9,1e9],"chunks":[1e9,1e9,1e9],"dtype":"<f4"})");
  EXPECT_TRUE(says(refusal([&] { VolumeReader(folder / "v.zarr"); }), {"a chunk has"}));
  fs::remove(folder / "v.zarr/.zarray");
  write_text(folder / "v.zarr/.zattrs", R"({"multiscales":[{"datasets":[{"path":"../../etc"}]}]})");
  EXPECT_TRUE(says(refusal([&] { VolumeReader(folder / "v.zarr"); }), {"not within"}));
}

}  // namespace tandem::test
