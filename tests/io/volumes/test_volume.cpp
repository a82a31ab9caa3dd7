#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>

#include "../../../core/parallel.hpp"
#include "../../../io/files/half.hpp"
#include "../../../io/files/tiff.hpp"
#include "../../../io/hdf5/hdf5.hpp"
#include "../../../io/volumes/volume_file.hpp"
#include "../../../io/volumes/volume_format.hpp"
#include "../../../io/volumes/volume_kind.hpp"
#include "../io_checks.hpp"

namespace tandem::test {

using io::Compression;
using io::VolumeFormat;
using io::VolumeReader;
using io::VoxelType;

namespace {

constexpr Shape shape{3, 4, 5};
const io::VolumePlace whole_in_mm = io::whole_place({{5, 4, 3}, {0.25, 0.25, 0.25}, {}}, true);

std::vector<float> ramp() {
  std::vector<float> data(3 * 4 * 5);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = 0.05f * static_cast<float>(i) - 1;
  return data;
}

void write_ramp(const fs::path& path, const VolumeFormat& format) {
  const std::vector<float> data = ramp();
  const auto writer = io::create_volume(path, shape, format, R"({"algorithm":"fbp"})");
  writer->write({0, 2}, data.data());
  writer->write({2, 3}, data.data() + 40);
  writer->finish(R"({"seconds":1})");
}

std::vector<float> read_all(VolumeReader& reader) {
  const Shape n = reader.shape();
  std::vector<float> data(static_cast<std::size_t>(n[0] * n[1] * n[2]));
  reader.read({0, n[0]}, data.data());
  return data;
}

}  // namespace

TEST(Volume, ComesBackAsWritten) {
  const TemporaryFolder folder;
  write_ramp(folder / "volume.h5", {.place = whole_in_mm});
  VolumeReader reader(folder / "volume.h5");
  EXPECT_EQ(reader.shape(), shape);
  EXPECT_EQ(reader.pitch_mm(), 0.25);
  EXPECT_EQ(reader.unit(), "1/mm");
  EXPECT_TRUE(reader.complete());
  EXPECT_EQ(read_all(reader), ramp());
  std::vector<float> slice(20), expected = ramp();
  reader.read({1, 2}, slice.data());
  EXPECT_TRUE(std::equal(slice.begin(), slice.end(), expected.begin() + 20));
}

TEST(Volume, TellsHowItWasMade) {
  const TemporaryFolder folder;
  write_ramp(folder / "volume.h5", {});
  const io::hdf5::File file = io::hdf5::File::open(folder / "volume.h5");
  const io::hdf5::DataSet data = file.data_set("/exchange/data");
  EXPECT_EQ(data.text("axes"), "z:y:x");
  EXPECT_EQ(data.text("description"), "ReconData");
  EXPECT_EQ(data.text("units"), "1/pixel");
  EXPECT_EQ(data.number("complete"), 1);
  EXPECT_EQ(file.text("/process/tandem/recipe"), R"({"algorithm":"fbp"})");
  EXPECT_EQ(file.text("/process/tandem/report"), R"({"seconds":1})");
  EXPECT_FALSE(file.text("/process/tandem/version")->empty());
  EXPECT_FALSE(file.has("/process/tandem/pitch"));
  EXPECT_FALSE(VolumeReader(folder / "volume.h5").pitch_mm());
}

TEST(Volume, ScalesIntegersBackToWithinHalfAStep) {
  const TemporaryFolder folder;
  const std::vector<float> data = ramp();
  for (const VoxelType type : {VoxelType::uint16, VoxelType::uint8}) {
    write_ramp(folder / "volume.h5", {.type = type, .min = -0.5f, .max = 1.5f});
    VolumeReader reader(folder / "volume.h5");
    const std::vector<float> back = read_all(reader);
    const double half_step = 0.5 * 2 / (type == VoxelType::uint16 ? 65535 : 255) * (1 + 1e-3);
    for (std::size_t i = 0; i < data.size(); ++i)
      EXPECT_NEAR(back[i], std::clamp(data[i], -0.5f, 1.5f), half_step);
  }
}

TEST(Volume, HoldsHalvesExactly) {
  const TemporaryFolder folder;
  std::vector<float> data = ramp();  // most of these are no halves
  std::vector<std::uint16_t> halves(data.size());
  std::vector<float> expected(data.size());
  io::halves_of(data.data(), 60, halves.data());
  io::floats_of(halves.data(), 60, expected.data());
  ASSERT_NE(expected, data);
  for (const char* name : {"volume.h5", "volume.tif"}) {
    write_ramp(folder / name, {.type = VoxelType::float16});
    VolumeReader reader(folder / name);
    EXPECT_EQ(read_all(reader), expected) << name;
  }
  std::vector<std::uint16_t> stored(20);
  const io::hdf5::File file = io::hdf5::File::open(folder / "volume.h5");
  const Index second = file.data_set("/exchange/data").offset() + 40;
  std::ifstream bytes(folder / "volume.h5", std::ios::binary);
  bytes.seekg(second).read(reinterpret_cast<char*>(stored.data()), 40);
  EXPECT_TRUE(std::equal(stored.begin(), stored.end(), halves.begin() + 20));
  EXPECT_TRUE(io::TiffFile(folder / "volume_00002.tif").page(0).is_float16);
}

TEST(Volume, RefusesWhatNoHalfHolds) {
  for (const char* name : {"v.h5", "v.tif"}) {
    const TemporaryFolder folder;
    std::vector<float> data = ramp();
    data[47] = -70000;
    const auto writer = io::create_volume(folder / name, shape, {.type = VoxelType::float16}, "{}");
    EXPECT_TRUE(says(refusal<GeometryError>([&] {
                       writer->write({0, 3}, data.data());
                     }),
                     {name, "slice 2", "-70000", "1/pixel", "65504", "--dtype float32"}));
  }
}

TEST(Volume, StoresNanAsTheLowestInteger) {
  const TemporaryFolder folder;
  const std::vector<float> data{std::nanf(""), 5, -5, 0.5f};
  const auto writer =
      io::create_volume(folder / "v.h5", {1, 2, 2}, {.type = VoxelType::uint8, .min = 0, .max = 1}, "{}");
  writer->write({0, 1}, data.data());
  writer->finish("{}");
  VolumeReader reader(folder / "v.h5");
  const std::vector<float> back = read_all(reader);
  EXPECT_EQ(back[0], 0);
  EXPECT_EQ(back[1], 1);
  EXPECT_EQ(back[2], 0);
}

TEST(Volume, OfTomocupyIsReadAsItStands) {
  const TemporaryFolder folder;
  Hdf5Maker(folder / "volume.h5").numbers("/exchange/data", "f32", {views, rows, bins}, frames(0, views));
  VolumeReader reader(folder / "volume.h5");
  const std::vector<double> expected = frames(0, views);
  EXPECT_EQ(read_all(reader), std::vector<float>(expected.begin(), expected.end()));
  EXPECT_TRUE(reader.complete());
  EXPECT_FALSE(reader.pitch_mm());
  EXPECT_EQ(reader.unit(), "1/pixel");
}

TEST(Volume, IsReadableAndMarkedIncompleteWhateverEndsTheProgram) {
  const TemporaryFolder folder;
  const auto writer = io::create_volume(folder / "volume.h5", shape, {}, "{}");
  const std::vector<float> data = ramp();
  writer->write({0, 2}, data.data());
  fs::copy(folder / ".volume.h5.tandem/volume.h5", folder / "killed.h5");
  VolumeReader reader(folder / "killed.h5");
  EXPECT_FALSE(reader.complete());
  std::vector<float> slices(40);
  reader.read({0, 2}, slices.data());
  EXPECT_TRUE(std::equal(slices.begin(), slices.end(), data.begin()));
}

TEST(Volume, IsReadOnlyAsItWasWritten) {
  for (const VoxelType type : {VoxelType::float32, VoxelType::float16, VoxelType::uint16, VoxelType::uint8}) {
    const TemporaryFolder folder;
    write_ramp(folder / "volume.h5", {.type = type, .min = -1, .max = 2});
    std::vector<float> voxels(60);
    Index first = 0;
    {
      const io::hdf5::File file = io::hdf5::File::open(folder / "volume.h5");
      first = file.data_set("/exchange/data").offset();
    }
    VolumeReader(folder / "volume.h5").read({0, 3}, voxels.data());
    std::fstream file(folder / "volume.h5", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(first + 20 * io::bytes_of(type) + 3);
    file.put('\x3f');
    file.close();
    VolumeReader reader(folder / "volume.h5");
    reader.read({0, 1}, voxels.data());
    EXPECT_TRUE(says(refusal([&] {
                       reader.read({0, 3}, voxels.data());
                     }),
                     {"volume.h5", "slice 1", "checksum"}));
  }
}

TEST(Volume, HasNoNameUntilItIsFinished) {
  const TemporaryFolder folder;
  for (const char* name : {"volume.h5", "volume.tif"}) {
    {
      const auto writer = io::create_volume(folder / name, shape, {}, "{}");
      writer->write({0, 2}, ramp().data());
      EXPECT_FALSE(fs::exists(folder / name));
      EXPECT_FALSE(fs::exists(folder / "volume_00000.tif"));
      EXPECT_TRUE(says(refusal([&] { writer->finish("{}"); }), {name, "2 of 3 slices"}));
    }
    EXPECT_EQ(files_in(folder), 0u);
  }
}

TEST(Volume, ReplacesAnOlderOneOnlyWhenFinished) {
  const TemporaryFolder folder;
  write_ramp(folder / "volume.h5", {.place = whole_in_mm});
  io::create_volume(folder / "volume.h5", shape, {}, "{}");
  EXPECT_TRUE(VolumeReader(folder / "volume.h5").place());
  write_ramp(folder / "volume.h5", {});
  VolumeReader reader(folder / "volume.h5");
  EXPECT_FALSE(reader.place());
  EXPECT_EQ(read_all(reader), ramp());
}

TEST(Volume, IsOneTiffASlice) {
  const TemporaryFolder folder;
  write_ramp(folder / "volume.tiff", {.place = whole_in_mm});
  EXPECT_EQ(files_in(folder), 4u);  // with the manifest
  const std::vector<float> expected = ramp();
  for (Index z = 0; z < 3; ++z) {
    io::TiffFile file(folder / ("volume_0000" + std::to_string(z) + ".tiff"));
    EXPECT_EQ(file.page(0).type, io::PixelType::float32);
    std::vector<float> slice(20);
    file.read(0, {0, 4}, {0, 5}, reinterpret_cast<std::byte*>(slice.data()));
    EXPECT_TRUE(std::equal(slice.begin(), slice.end(), expected.begin() + 20 * z));
  }
}

TEST(Volume, OfTiffHoldsIntegersToo) {
  const TemporaryFolder folder;
  write_ramp(folder / "volume.tif", {.type = VoxelType::uint16, .min = -1, .max = 1.95f});
  io::TiffFile file(folder / "volume_00002.tif");
  ASSERT_EQ(file.page(0).type, io::PixelType::uint16);
  std::vector<std::uint16_t> slice(20);
  file.read(0, {0, 4}, {0, 5}, reinterpret_cast<std::byte*>(slice.data()));
  EXPECT_EQ(slice.back(), 65535);
}

TEST(Volume, SlicesGoByTheirNames) {
  const TemporaryFolder folder;
  EXPECT_TRUE(io::is_file_of(folder / "v.tif", folder / "v_00000.tif"));
  EXPECT_TRUE(io::is_file_of(folder / "v.tif", folder / "v_123456.tif"));
  EXPECT_FALSE(io::is_file_of(folder / "v.tif", folder / "v_0000.tif"));
  EXPECT_FALSE(io::is_file_of(folder / "v.tif", folder / "w_00000.tif"));
  EXPECT_FALSE(io::is_file_of(folder / "v.tif", "v_00000.tif"));
  EXPECT_FALSE(io::is_file_of(folder / "v.h5", folder / "v_00000.h5"));
  EXPECT_EQ(io::volume_kind("a.TIFF")->name, "tiff");
  EXPECT_EQ(io::volume_kind("a.nxs")->name, "h5");
  EXPECT_FALSE(io::volume_kind("a.png") || io::volume_kind("a") || io::volume_kind(".h5"));
}

TEST(Volume, IsRefusedWhereItCannotBeWritten) {
  const TemporaryFolder folder;
  const auto refused = [&](const fs::path& path, Shape n, const VolumeFormat& format) {
    return refusal([&] { io::create_volume(path, n, format, "{}"); });
  };
  for (const char* name : {"v.h5", "v.tif"}) {
    EXPECT_TRUE(says(refused(folder / "lost" / name, shape, {}), {"lost", "does not exist"}));
    EXPECT_TRUE(says(refused(folder / name, {0, 4, 5}, {}), {name, "0 x 4 x 5"}));
    EXPECT_TRUE(says(refused(folder / name, {100'000, 100'000, 100'000}, {}), {"v", "GB free"}));
    EXPECT_TRUE(
        says(refused(folder / name, shape, {.type = VoxelType::uint8, .min = 1, .max = 1}), {"min < max"}));
  }
  EXPECT_TRUE(says(refused(folder / "v.raw", shape, {}), {"\".raw\" names no format", ".h5"}));
  fs::create_directory(folder / "folder.h5");
  EXPECT_TRUE(says(refused(folder / "folder.h5", shape, {}), {"folder.h5: is a folder"}));
}

TEST(Volume, TakesSlabsInAnyOrderFromSeveralThreads) {
  const TemporaryFolder folder;
  constexpr Shape n{23, 19, 17};
  constexpr Index area = n[1] * n[2], slab = 2;
  std::vector<float> data(static_cast<std::size_t>(n[0] * area));
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  for (const char* name : {"v.h5", "v.tif"}) {
    const auto writer = io::create_volume(folder / name, n, {}, "{}");
    on_threads(12, [&](Index i) {
      const Index first = (i * 5 % 12) * slab;
      writer->write({first, std::min(n[0], first + slab)}, data.data() + first * area);
    });
    writer->finish("{}");
    VolumeReader reader(folder / name);
    EXPECT_EQ(read_all(reader), data) << name;
  }
}

TEST(Volume, IsPackedAndUnpackedExactly) {
  constexpr Shape n{23, 19, 17};
  constexpr Index area = n[1] * n[2];
  std::vector<float> data(static_cast<std::size_t>(n[0] * area));
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = std::sin(static_cast<float>(i));
  for (const Compression compression : {Compression::zstd, Compression::blosc})
    for (const VoxelType type :
         {VoxelType::float32, VoxelType::float16, VoxelType::uint16, VoxelType::uint8}) {
      const TemporaryFolder folder;
      const VolumeFormat format{.type = type, .compression = compression, .min = -1, .max = 1},
          plain{.type = type, .min = -1, .max = 1};
      const auto writer = io::create_volume(folder / "v.h5", n, format, "{}"),
                 other = io::create_volume(folder / "plain.h5", n, plain, "{}");
      on_threads(n[0], [&](Index i) {
        const Index z = i * 5 % n[0];
        writer->write({z, z + 1}, data.data() + z * area);
      });
      writer->finish("{}");
      other->write({0, n[0]}, data.data());
      other->finish("{}");
      VolumeReader reader(folder / "v.h5"), expected(folder / "plain.h5");
      EXPECT_EQ(read_all(reader), read_all(expected));
      EXPECT_TRUE(reader.complete());
    }
}

TEST(Volume, TakesEachSliceOnce) {
  const TemporaryFolder folder;
  const std::vector<float> data = ramp();
  for (const char* name : {"v.h5", "v.tif"}) {
    const auto writer = io::create_volume(folder / name, shape, {}, "{}");
    const auto refused = [&](Range slices) { return refusal([&] { writer->write(slices, data.data()); }); };
    EXPECT_TRUE(says(refused({0, 4}), {name, "0:4 came", "has 0:3"}));
    EXPECT_TRUE(says(refused({1, 1}), {name, "1:1 came"}));
    writer->write({1, 2}, data.data() + 20);
    EXPECT_TRUE(says(refused({0, 3}), {name, "slice 1 came twice"}));
    writer->write({2, 3}, data.data() + 40);
    EXPECT_TRUE(says(refusal([&] { writer->finish("{}"); }), {name, "2 of 3 slices"}));
    writer->write({0, 1}, data.data());
    writer->finish("{}");
    VolumeReader reader(folder / name);
    EXPECT_EQ(read_all(reader), data) << name;
  }
}

TEST(Volume, RoundsIntegersToTheNearest) {
  const VolumeFormat format{.type = VoxelType::uint16, .min = 0, .max = 65535};
  std::vector<float> data{0.5f, std::nextafter(0.5f, 0.0f), 1.5f, 2.5f, 65534.5f, 65535.5f, -0.5f, 1e30f};
  for (int i = 0; i < 1000; ++i) data.push_back(static_cast<float>(i) * 63.7f);
  const std::vector<std::byte> bytes = quantised(format, data.data(), static_cast<Index>(data.size()));
  std::vector<std::uint16_t> stored(data.size()), expected;
  std::memcpy(stored.data(), bytes.data(), bytes.size());
  for (const float v : data)
    expected.push_back(static_cast<std::uint16_t>(std::lround(std::clamp(v, 0.0f, 65535.0f))));
  EXPECT_EQ(stored, expected);
}

TEST(VolumeReader, RefusesWhatIsNoVolume) {
  const TemporaryFolder folder;
  const auto refused = [&](const char* name) { return refusal([&] { VolumeReader(folder / name); }); };
  EXPECT_TRUE(says(refused("lost.h5"), {"lost.h5: no such file"}));
  write_lines(folder / "text.h5", {"hello"});
  EXPECT_TRUE(says(refused("text.h5"), {"text.h5: is no HDF5 file, no TIFF volume of tandem's"}));
  write_data_exchange(folder / "scan.h5");
  EXPECT_TRUE(says(refused("scan.h5"), {"/exchange/data", "is a scan"}));
  Hdf5Maker(folder / "flat.h5").numbers("/exchange/data", "f32", {rows, bins}, frames(0, 1));
  EXPECT_TRUE(says(refused("flat.h5"), {"/exchange/data: is no volume"}));
  Hdf5Maker(folder / "other.h5").group("/exchange");
  EXPECT_TRUE(says(refused("other.h5"), {"other.h5: /exchange/data: missing"}));
  write_ramp(folder / "volume.h5", {});
  VolumeReader reader(folder / "volume.h5");
  float voxel = 0;
  EXPECT_TRUE(says(refusal([&] { reader.read({2, 4}, &voxel); }), {"slices 2:4", "0:3"}));
}

}  // namespace tandem::test
