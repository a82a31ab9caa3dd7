// The formats of volumes beside HDF5 and TIFF slices, and what all have in common.

#include <tiffio.h>

#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "../../../io/files/half.hpp"
#include "../../../io/files/output.hpp"
#include "../../../io/files/tiff.hpp"
#include "../../../io/volumes/volume_format.hpp"
#include "../../../io/volumes/volume_kind.hpp"
#include "../io_checks.hpp"

namespace tandem::test {

using io::VolumeFormat;
using io::VolumeReader;
using io::VoxelType;

namespace {

constexpr Shape shape{3, 4, 5};
// pitches of x, y, z; centre; a region of a larger grid
const io::VolumePlace aside{{{5, 4, 3}, {0.25, 0.5, 0.125}, {1, -2, 3}}, true, {9, 8, 7}, {2, 1, 4}};

std::vector<float> ramp() {
  std::vector<float> data(3 * 4 * 5);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = 0.05f * static_cast<float>(i) - 1;
  return data;
}

void write_ramp(const fs::path& path, const VolumeFormat& format) {
  const auto writer = io::create_volume(path, shape, format, R"({"config":"size = 5"})");
  if (format.range_follows) writer->set_range(-0.75f, 1.25f);
  const std::vector<float> data = ramp();
  writer->write({2, 3}, data.data() + 40);
  writer->write({0, 2}, data.data());
  writer->finish("{}");
}

std::string bytes_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<float> read_all(const fs::path& path) {
  VolumeReader reader(path);
  std::vector<float> data(60);
  reader.read({0, 3}, data.data());
  return data;
}

std::string head_line(const std::string& file, const std::string& name) {
  const std::size_t at = file.find('\n' + name);
  return at == std::string::npos ? "" : file.substr(at + 1, file.find('\n', at + 1) - at - 1);
}

}  // namespace

TEST(VolumeKinds, HaveEndingsOfTheirOwn) {
  std::map<std::string_view, std::string_view> kinds;
  for (const io::VolumeKind& kind : io::volume_kinds()) {
    for (const std::string_view ending : kind.endings) {
      EXPECT_TRUE(kinds.emplace(ending, kind.name).second) << ending;
      fs::path path = "a";
      EXPECT_EQ(io::volume_kind(path += ending), &kind);
      EXPECT_NE(io::volume_endings().find(ending), std::string::npos);
    }
    EXPECT_EQ(io::volume_kind_named(kind.name), &kind);
    EXPECT_TRUE(kind.create && kind.stores(kind.in_hounsfield ? VoxelType::uint16 : VoxelType::float32))
        << kind.name;
  }
  EXPECT_EQ(io::volume_kind_named("png"), nullptr);
}

TEST(VolumeKinds, RefuseTypesThatTheyCannotStore) {
  const TemporaryFolder folder;
  for (const char* name : {"v.nrrd", "v.mha"})
    EXPECT_TRUE(says(refusal([&] { write_ramp(folder / name, {.type = VoxelType::float16}); }),
                     {name, "no numbers of type float16"}));
  for (const char* name : {"v.nrrd", "v.mha", "v.btf", "v.tif"})
    EXPECT_TRUE(says(refusal([&] { write_ramp(folder / name, {.compression = io::Compression::zstd}); }),
                     {name, "not compressed"}));
}

TEST(VolumeKinds, TakeTheirRangeBeforeTheFirstSlice) {
  const TemporaryFolder folder;
  for (const char* name : {"v.h5", "v.tif", "v.btf"}) {
    write_ramp(folder / name, {.type = VoxelType::uint8, .min = -0.75f, .max = 1.25f});
    const std::vector<float> known = read_all(folder / name);
    write_ramp(folder / name, {.type = VoxelType::uint8, .range_follows = true});
    EXPECT_EQ(read_all(folder / name), known) << name;
    EXPECT_EQ(known.front(), -0.75f);
    const auto writer =
        io::create_volume(folder / name, shape, {.type = VoxelType::uint8, .range_follows = true}, "{}");
    EXPECT_TRUE(says(refusal([&] { writer->set_range(1, 1); }), {name, "min < max"}));
    EXPECT_FALSE(refusal<SpaceError>([&] { writer->write({0, 3}, ramp().data()); }).empty());
  }
}

TEST(VolumeKinds, CountWhatIntegersCannotHold) {
  const TemporaryFolder folder;
  const auto writer = io::create_volume(folder / "v.h5", shape,
                                        {.type = VoxelType::uint16, .min = -0.95f, .max = 1.8f}, "{}");
  const std::vector<float> data = ramp();
  Index below = 0, above = 0;
  for (const float v : data) below += v<-0.95f, above += v> 1.8f;
  writer->write({0, 3}, data.data());
  EXPECT_EQ(writer->clipped().below, below);
  EXPECT_EQ(writer->clipped().above, above);
  EXPECT_EQ(below, 1);
  EXPECT_EQ(above, 3);
}

class BigTiff : public ::testing::TestWithParam<VoxelType> {};

TEST_P(BigTiff, ComesBackAsWritten) {
  const TemporaryFolder folder;
  const fs::path path = folder / "v.btf";
  const VolumeFormat format{.type = GetParam(), .min = -1, .max = 2, .place = aside};
  write_ramp(path, format);
  const VolumeReader reader(path);
  EXPECT_EQ(reader.kind().name, "bigtiff");
  EXPECT_EQ(reader.shape(), shape);
  EXPECT_EQ(difference(*reader.place(), aside), "");
  EXPECT_EQ(reader.place()->full_size, aside.full_size);
  EXPECT_EQ(reader.unit(), "1/mm");
  EXPECT_EQ(reader.recipe(), R"({"config":"size = 5"})");
  EXPECT_TRUE(reader.complete() && reader.is_reconstruction());
  write_ramp(folder / "v.h5", format);
  EXPECT_EQ(read_all(path), read_all(folder / "v.h5"));
  const io::TiffFile file(path);
  EXPECT_EQ(file.pages(), 3);
  for (Index k = 0; k < 3; ++k) EXPECT_EQ(file.page(k).rows * 100 + file.page(k).bins, 405);
}

INSTANTIATE_TEST_SUITE_P(Types, BigTiff,
                         ::testing::Values(VoxelType::float32, VoxelType::float16, VoxelType::uint16,
                                           VoxelType::uint8));

/// ImageJ writes it so: pixels per unit of the description, and no unit in the tags.
TEST(BigTiff, HasTheVoxelSizeThatImageJReads) {
  const TemporaryFolder folder;
  write_ramp(folder / "v.btf", {.place = aside});
  const std::unique_ptr<TIFF, void (*)(TIFF*)> tiff(TIFFOpen((folder / "v.btf").c_str(), "r"), TIFFClose);
  ASSERT_TRUE(tiff);
  const char* text = nullptr;
  float x = 0, y = 0;
  std::uint16_t unit = 0;
  ASSERT_TRUE(TIFFGetField(tiff.get(), TIFFTAG_IMAGEDESCRIPTION, &text));
  EXPECT_TRUE(says(
      text, {"ImageJ=1", "images=3\nslices=3\nloop=false\nunit=mm\nspacing=0.125\n", "tandem.version: "}));
  TIFFGetField(tiff.get(), TIFFTAG_XRESOLUTION, &x);
  TIFFGetField(tiff.get(), TIFFTAG_YRESOLUTION, &y);
  TIFFGetField(tiff.get(), TIFFTAG_RESOLUTIONUNIT, &unit);
  EXPECT_EQ(x, 4);
  EXPECT_EQ(y, 2);
  EXPECT_EQ(unit, RESUNIT_NONE);
}

TEST(BigTiff, ThatIsDamagedIsRefused) {
  const TemporaryFolder folder;
  const fs::path path = folder / "v.btf";
  write_ramp(path, {});
  const std::string whole = bytes_of_file(path);
  const auto change = [&](std::size_t at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    std::ofstream(path, std::ios::binary) << bytes;
  };
  change(16 + 25 * 4);  // a voxel of the second slice
  EXPECT_TRUE(says(refusal([&] { read_all(path); }), {"v.btf: slice 1", "checksum"}));
  fs::resize_file(path, 16 + 59 * 4);
  EXPECT_FALSE(refusal([&] { read_all(path); }).empty());
  std::string fewer = whole;
  fewer.replace(whole.find("tandem.shape: 3"), 15, "tandem.shape: 4");
  std::ofstream(path, std::ios::binary) << fewer;
  EXPECT_TRUE(says(refusal([&] { read_all(path); }), {"has 3 pages of 4 x 5"}));
}

TEST(TiffSlices, HaveTheirPixelSize) {
  const TemporaryFolder folder;
  write_ramp(folder / "v.tif", {.place = aside});
  const std::unique_ptr<TIFF, void (*)(TIFF*)> tiff(TIFFOpen((folder / "v_00004.tif").c_str(), "r"),
                                                    TIFFClose);
  ASSERT_TRUE(tiff);
  float x = 0, y = 0;
  std::uint16_t unit = 0;
  TIFFGetField(tiff.get(), TIFFTAG_XRESOLUTION, &x);
  TIFFGetField(tiff.get(), TIFFTAG_YRESOLUTION, &y);
  TIFFGetField(tiff.get(), TIFFTAG_RESOLUTIONUNIT, &unit);
  EXPECT_EQ(x, 40);  // pixels per centimetre
  EXPECT_EQ(y, 20);
  EXPECT_EQ(unit, RESUNIT_CENTIMETER);
  write_ramp(folder / "bins.tif", {});
  const std::unique_ptr<TIFF, void (*)(TIFF*)> none(TIFFOpen((folder / "bins_00000.tif").c_str(), "r"),
                                                    TIFFClose);
  EXPECT_FALSE(TIFFGetField(none.get(), TIFFTAG_XRESOLUTION, &x));
}

/// Centres of the first voxels: 1 - 2 * 0.25, -2 - 1.5 * 0.5, 3 - 0.125.
TEST(Nrrd, HasHeadAndVoxels) {
  const TemporaryFolder folder;
  write_ramp(folder / "v.nrrd", {.place = aside});
  const std::string file = bytes_of_file(folder / "v.nrrd");
  EXPECT_EQ(file.rfind("NRRD0004\n# tandem ", 0), 0u);
  EXPECT_EQ(head_line(file, "type: "), "type: float");
  EXPECT_EQ(head_line(file, "sizes: "), "sizes: 5 4 3");
  EXPECT_EQ(head_line(file, "encoding: "), "encoding: raw");
  EXPECT_EQ(head_line(file, "endian: "), "endian: little");
  EXPECT_EQ(head_line(file, "space directions: "), "space directions: (0.25,0,0) (0,0.5,0) (0,0,0.125)");
  EXPECT_EQ(head_line(file, "space origin: "), "space origin: (0.5,-2.75,2.875)");
  EXPECT_EQ(head_line(file, "tandem_recipe"), R"(tandem_recipe:={"config":"size = 5"})");
  const std::size_t voxels = file.find("\n\n") + 2;
  ASSERT_EQ(file.size(), voxels + 60 * 4);
  EXPECT_EQ(std::memcmp(file.data() + voxels, ramp().data(), 240), 0);
}

TEST(Nrrd, OfIntegersSaysWhatTheyStandFor) {
  const TemporaryFolder folder;
  write_ramp(folder / "v.nrrd", {.type = VoxelType::uint16, .range_follows = true});
  const std::string file = bytes_of_file(folder / "v.nrrd");
  EXPECT_EQ(head_line(file, "type: "), "type: uint16");
  EXPECT_EQ(std::stof(head_line(file, "old min: ").substr(9)), -0.75f);
  EXPECT_EQ(std::stof(head_line(file, "old max: ").substr(9)), 1.25f);
  const auto expected =
      io::quantised({.type = VoxelType::uint16, .min = -0.75f, .max = 1.25f}, ramp().data(), 60);
  const std::size_t voxels = file.find("\n\n") + 2;
  ASSERT_EQ(file.size(), voxels + 120);
  EXPECT_EQ(std::memcmp(file.data() + voxels, expected.data(), 120), 0);
}

TEST(MetaImage, HasHeadAndVoxels) {
  const TemporaryFolder folder;
  write_ramp(folder / "v.mha", {.type = VoxelType::uint8, .min = -1, .max = 2, .place = aside});
  const std::string file = bytes_of_file(folder / "v.mha");
  EXPECT_EQ(file.rfind("ObjectType = Image\n", 0), 0u);
  EXPECT_EQ(head_line(file, "DimSize"), "DimSize = 5 4 3");
  EXPECT_EQ(head_line(file, "ElementSpacing"), "ElementSpacing = 0.25 0.5 0.125");
  EXPECT_EQ(head_line(file, "Offset"), "Offset = 0.5 -2.75 2.875");
  EXPECT_EQ(head_line(file, "ElementType"), "ElementType = MET_UCHAR");
  EXPECT_LT(head_line(file, "Comment = ").size(), 250u);
  EXPECT_TRUE(says(head_line(file, "Comment"), {"tandem", "1/mm", "0 is -1.0", "255 is +2.0"}));
  const std::string last = "ElementDataFile = LOCAL\n";
  const std::size_t voxels = file.find(last) + last.size();
  const auto expected = io::quantised({.type = VoxelType::uint8, .min = -1, .max = 2}, ramp().data(), 60);
  ASSERT_EQ(file.size(), voxels + 60);
  EXPECT_EQ(std::memcmp(file.data() + voxels, expected.data(), 60), 0);
}

TEST(VolumeKinds, AreReplacedIfTandemWroteThem) {
  const TemporaryFolder folder;
  for (const char* name : {"v.btf", "v.nrrd", "v.mha"}) {
    write_ramp(folder / name, {});
    EXPECT_EQ(io::content_of(folder / name), io::Content::volume) << name;
    write_ramp(folder / name, {.place = aside});
    std::ofstream(folder / name) << (std::string(name) == "v.nrrd" ? "NRRD0004\ntype: float\n"
                                                                   : "ObjectType = Image\n");
    EXPECT_TRUE(says(refusal([&] { write_ramp(folder / name, {}); }), {name, "--overwrite"}));
    EXPECT_LT(fs::file_size(folder / name), 30u);
  }
}

}  // namespace tandem::test
