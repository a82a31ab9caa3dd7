// Volumes say where they lie, whatever holds them.

#include <cmath>
#include <fstream>

#include "../../../io/files/tiff.hpp"
#include "../../../io/hdf5/hdf5.hpp"
#include "../../../io/volumes/volume_kind.hpp"
#include "../io_checks.hpp"

namespace tandem::test {

using io::VolumeFormat;
using io::VolumePlace;
using io::VolumeReader;
using io::VoxelType;

namespace {

/// Cells that are not square, a region aside, numbers that six digits do not hold.
VolumePlace aside(bool in_mm) {
  return {.grid = {.size = {5, 4, 3}, .pitch = {0.7, 0.7, 1.0 / 3}, .centre = {-1.23456789, 0.5, 1e-7 / 3}},
          .in_mm = in_mm,
          .full_size = {64, 32, 16},
          .first = {7, 0, 13}};
}

std::vector<float> ramp() {
  std::vector<float> data(3 * 4 * 5);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = 0.05f * static_cast<float>(i) - 1;
  return data;
}

void write(const fs::path& path, const VolumeFormat& format, const std::vector<float>& data = ramp(),
           const std::string& recipe = "{}") {
  const auto writer = io::create_volume(path, {3, 4, 5}, format, recipe);
  writer->write({0, 3}, data.data());
  writer->finish("{}");
}

std::vector<float> all_of(VolumeReader& reader) {
  std::vector<float> data(3 * 4 * 5);
  reader.read({0, 3}, data.data());
  return data;
}

class EachKind : public ::testing::TestWithParam<const char*> {
 protected:
  fs::path path() const { return folder_ / GetParam(); }
  TemporaryFolder folder_;
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(VolumePlace, EachKind, ::testing::Values("v.h5", "v.tif"));

TEST_P(EachKind, ComesBackToTheLastDigit) {
  for (const bool in_mm : {true, false}) {
    const VolumePlace place = aside(in_mm);
    write(path(), {.place = place});
    VolumeReader reader(path());
    EXPECT_EQ(reader.shape(), (Shape{3, 4, 5}));
    EXPECT_EQ(reader.unit(), in_mm ? "1/mm" : "1/pixel");
    EXPECT_EQ(reader.pitch_mm(), in_mm ? std::optional(0.7) : std::nullopt);
    ASSERT_TRUE(reader.place());
    EXPECT_EQ(reader.place()->in_mm, in_mm);
    EXPECT_EQ(reader.place()->grid.size, place.grid.size);
    EXPECT_EQ(reader.place()->grid.pitch, place.grid.pitch);
    EXPECT_EQ(reader.place()->grid.centre, place.grid.centre);
    EXPECT_EQ(reader.place()->full_size, place.full_size);
    EXPECT_EQ(reader.place()->first, place.first);
    EXPECT_TRUE(reader.complete() && reader.is_reconstruction());
    EXPECT_EQ(all_of(reader), ramp());
  }
}

TEST_P(EachKind, SaysNothingOfAPlaceThatNobodyGave) {
  write(path(), {});
  VolumeReader reader(path());
  EXPECT_FALSE(reader.place() || reader.pitch_mm());
  EXPECT_EQ(reader.unit(), "1/pixel");
}

TEST_P(EachKind, ScalesIntegersBackByTheRangeItRecords) {
  const std::vector<float> data = ramp();
  for (const VoxelType type : {VoxelType::uint16, VoxelType::uint8}) {
    const float low = -1.0000001f, high = 1.9500002f;
    write(path(), {.type = type, .min = low, .max = high});
    VolumeReader reader(path());
    const std::vector<float> back = all_of(reader);
    const double step =
        (static_cast<double>(high) - static_cast<double>(low)) / (type == VoxelType::uint16 ? 65535 : 255);
    for (std::size_t i = 0; i < data.size(); ++i) EXPECT_NEAR(back[i], data[i], 0.5 * step * (1 + 1e-3));
    EXPECT_EQ(back.front(), low + std::round((data[0] - low) / step) * step);
  }
}

/// A step of exactly one is a range as any other: the lowest value is still added.
TEST_P(EachKind, KeepsTheLowestValueOfARangeOfWholeSteps) {
  std::vector<float> data(60, -10);
  data[7] = 245;
  write(path(), {.type = VoxelType::uint8, .min = -10, .max = 245}, data);
  VolumeReader reader(path());
  EXPECT_EQ(all_of(reader), data);
}

TEST_P(EachKind, NamesTheFirstVoxelThatIsNotFinite) {
  std::vector<float> data = ramp();
  data[37] = INFINITY, data[50] = NAN;
  write(path(), {}, data);
  VolumeReader reader(path());
  const std::string said = refusal([&] { all_of(reader); });
  EXPECT_TRUE(says(said, {"voxel (1, 3, 2) (z, y, x) is inf"})) << said;
  std::vector<float> slice(20);
  reader.read({0, 1}, slice.data());  // all of these are finite
}

TEST(TiffVolume, IsFoundByTheNameOfASlice) {
  const TemporaryFolder folder;
  write(folder / "volume.tif", {.place = aside(true)});
  for (const char* name : {"volume_00013.tif", "volume_00015.tif", "volume.tif"}) {
    const VolumeReader found(folder / name);
    EXPECT_EQ(found.kind().name, "tiff");
    EXPECT_EQ(found.shape(), (Shape{3, 4, 5}));
  }
  write_tiff_pages(folder / "scan_00000.tif", {frames(0, 1)});
  for (const char* name : {"scan_00000.tif", "scan.tif", "volume.h5", "volume_00000.tif"})
    EXPECT_FALSE(refusal([&] { VolumeReader{folder / name}; }).empty()) << name;
}

TEST(TiffVolume, ThatLacksASliceIsIncomplete) {
  const TemporaryFolder folder;
  write(folder / "v.tif", {.place = aside(true)});
  fs::remove(folder / "v_00015.tif");  // the last: the numbers that are left have no gap
  VolumeReader reader(folder / "v.tif");
  EXPECT_EQ(reader.shape(), (Shape{3, 4, 5}));
  EXPECT_FALSE(reader.complete());
  EXPECT_TRUE(says(refusal([&] { reader.require_complete(); }),
                   {"v.tif: lacks 1 of its 3 slices, first v_00015.tif"}));
  EXPECT_TRUE(says(refusal([&] { all_of(reader); }), {"v_00015.tif: is not there"}));
}

TEST(TiffVolume, IsNotMixedWithSlicesOfAnotherRun) {
  const TemporaryFolder folder;
  write(folder / "v.tif", {}, ramp(), "{\"run\":1}");
  fs::rename(folder / "v_00001.tif", folder / "keep.tif");
  write(folder / "v.tif", {}, std::vector<float>(60, 7), "{\"run\":2}");
  fs::rename(folder / "keep.tif", folder / "v_00001.tif");
  VolumeReader reader(folder / "v.tif");
  EXPECT_TRUE(
      says(refusal([&] { reader.require_complete(); }),
           {"v.tif: its slice v_00001.tif does not fit to v_00000.tif", "of a run that wrote slices 0:3"}));
}

TEST(VolumePlace, OfADamagedFileIsRefused) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::vector<double>& pitch, const std::vector<double>& region) {
    Hdf5Maker(folder / "v.h5")
        .numbers("/exchange/data", "f32", {views, rows, bins}, frames(0, views))
        .numbers("/process/tandem/pitch", "f64", {pitch.size()}, pitch)
        .attribute("/process/tandem/pitch", "units", "mm")
        .numbers("/process/tandem/centre", "f64", {3}, {0, 0, 0})
        .numbers("/process/tandem/full_shape", "f64", {3}, {views, rows, bins})
        .numbers("/process/tandem/region", "f64", {region.size()}, region);
    return refusal([&] { VolumeReader(folder / "v.h5"); });
  };
  const std::vector<double> all{0, views, 0, rows, 0, bins};
  EXPECT_TRUE(says(refused({1, 0, 1}, all), {"v.h5: /process/tandem", "pitch = 0"}));
  EXPECT_TRUE(says(refused({1, 1, NAN}, all), {"pitch = nan"}));
  EXPECT_TRUE(says(refused({1, 1}, all), {"pitch has 2 numbers; 3"}));
  EXPECT_TRUE(says(refused({1, 1, 1}, {0, views, 0, rows, 0}), {"region has 5 numbers; 6"}));
  EXPECT_TRUE(
      says(refused({1, 1, 1}, {0, views, 1, rows, 0, bins}), {"the region 1:3 along y for 3 voxels"}));
  EXPECT_TRUE(says(refused({1, 1, 1}, {0, views, 0, rows, -1e300, bins}), {"region = -1e+300"}));
}

TEST(VolumePlace, DiffersByMoreThanAThousandthOfAVoxel) {
  const VolumePlace place = aside(true);
  const auto with = [&](auto change) {
    VolumePlace other = place;
    change(other);
    return io::difference(other, place);
  };
  EXPECT_EQ(io::difference(place, place), "");
  EXPECT_EQ(with([](VolumePlace& p) { p.grid.centre[2] += 0.9e-3 / 3; }), "");
  EXPECT_TRUE(says(with([](VolumePlace& p) { p.grid.centre[2] += 1.1e-3 / 3; }), {"along z"}));
  EXPECT_TRUE(
      says(with([](VolumePlace& p) { p.grid.pitch[0] *= 1.001; }), {"along x its 5 voxels of 0.7007 mm"}));
  EXPECT_TRUE(says(with([](VolumePlace& p) { p.in_mm = false; }), {"1/pixel, not in 1/mm"}));
}

}  // namespace tandem::test
