#include "../../../io/volumes/volume_parts.hpp"

#include <cmath>

#include "../../../io/volumes/volume_file.hpp"
#include "../io_checks.hpp"

namespace tandem::test {

namespace {

constexpr Index area = 4 * 5;

std::vector<float> voxels() {
  std::vector<float> data(6 * area);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = 0.25f * static_cast<float>(i);
  return data;
}

/// Slices of a volume of 6, into a file of their own.
void write_part(const fs::path& volume, Range slices, io::VolumeFormat format = {}, float pitch = 0.5f) {
  io::VolumePlace place = io::whole_place({{5, 4, 6}, {pitch, pitch, pitch}, {}}, true);
  place.grid.size[2] = slices.size();
  place.grid.centre[2] = 0.5 * pitch * static_cast<double>(slices.first + slices.last - 6);
  place.first[2] = slices.first;
  format.place = place;
  const auto writer = io::create_volume(io::part_path(volume, slices), place.grid.shape(), format, "{}");
  writer->write({0, slices.size()}, voxels().data() + slices.first * area);
  writer->finish("{}");
}

std::string joined(const fs::path& volume) { return io::join_parts(volume, io::Replace::own); }

}  // namespace

TEST(VolumeParts, AreOneVolumeWhenAllAreThere) {
  using io::Compression;
  using io::VoxelType;
  for (const io::VolumeFormat& format : {io::VolumeFormat{},
                                         {.type = VoxelType::float16, .compression = Compression::zstd},
                                         {.type = VoxelType::uint16, .min = 0, .max = 65535}}) {
    const TemporaryFolder folder;
    const fs::path volume = folder / "v.h5";
    write_part(volume, {2, 3}, format);
    EXPECT_EQ(joined(volume), "slices 0:2, 3:6 of 6");
    EXPECT_FALSE(io::VolumeReader(volume).complete());
    write_part(volume, {3, 6}, format);
    EXPECT_EQ(joined(volume), "slices 0:2 of 6");
    float voxel = 0;
    EXPECT_TRUE(says(refusal([&] {
                       io::VolumeReader(volume).read({0, 1}, &voxel);
                     }),
                     {"v.h5: /exchange/data"}));
    write_part(volume, {0, 2}, format);
    EXPECT_EQ(joined(volume), "");
    io::VolumeReader reader(volume);
    reader.require_complete();
    std::vector<float> data(6 * area), expected = voxels();
    reader.read({0, 6}, data.data());
    if (format.type == VoxelType::uint16)
      for (float& v : expected) v = std::round(v);
    EXPECT_EQ(data, expected);
    EXPECT_EQ(reader.place()->slices().last, 6);
    EXPECT_EQ(reader.place()->grid.centre[2], 0);
  }
}

TEST(VolumeParts, MustNotOverlap) {
  const TemporaryFolder folder;
  const fs::path volume = folder / "v.h5";
  write_part(volume, {0, 3});
  EXPECT_TRUE(says(refusal([&] {
                     io::require_part_free(volume, {2, 5}, "");
                   }),
                   {"v.h5: slices 2:5 overlap slices 0:3", "v_00000-00003.h5"}));
  io::require_part_free(volume, {3, 5}, "");
  io::require_part_free(volume, {0, 3}, "");  // made again
  const auto other = io::create_volume(io::part_path(volume, {3, 6}), {3, 4, 5}, {}, "{}");
  EXPECT_TRUE(says(refusal([&] {
                     io::require_part_free(volume, {5, 6}, "");
                   }),
                   {"overlap slices 3:6"}));  // in the making
  write_part(volume, {2, 5});
  EXPECT_TRUE(says(refusal([&] { joined(volume); }),
                   {"v_00002-00005.h5: slices 2:5 overlap slices 0:3 of v_00000-00003.h5"}));
}

TEST(VolumeParts, AreOfOneScanAndRecipe) {
  const TemporaryFolder folder;
  const fs::path volume = folder / "v.h5";
  io::VolumeFormat format;
  format.made_by = "scan 1, options 2";
  write_part(volume, {0, 3}, format);
  EXPECT_EQ(joined(volume), "slices 3:6 of 6");
  EXPECT_NO_THROW(io::require_part_free(volume, {3, 6}, "scan 1, options 2"));
  for (const char* other : {"scan 1, options 3", "scan 2, options 2"}) {
    EXPECT_TRUE(says(refusal([&] {
                       io::require_part_free(volume, {3, 6}, other);
                     }),
                     {"v_00000-00003.h5: is a part of", "it is of another scan"}));
    format.made_by = other;
    write_part(volume, {3, 6}, format);
    EXPECT_TRUE(says(refusal([&] { joined(volume); }), {"does not fit", "it is of another scan"}));
    EXPECT_FALSE(io::VolumeReader(volume).complete());
    fs::remove(io::part_path(volume, {3, 6}));
  }
}

TEST(VolumeParts, AreOfOneGridAndType) {
  const TemporaryFolder folder;
  write_part(folder / "v.h5", {0, 3});
  write_part(folder / "v.h5", {3, 6}, {.type = io::VoxelType::float16});
  EXPECT_TRUE(says(refusal([&] { joined(folder / "v.h5"); }),
                   {"v_00003-00006.h5: does not fit to v_00000-00003.h5", "float16", "float32"}));
  write_part(folder / "w.h5", {0, 3});
  write_part(folder / "w.h5", {3, 6}, {}, 0.25f);
  EXPECT_TRUE(says(refusal([&] { joined(folder / "w.h5"); }), {"w_00003-00006.h5: does not fit"}));
  EXPECT_TRUE(says(refusal([&] { joined(folder / "x.h5"); }), {"x.h5: no part of it is there"}));
}

}  // namespace tandem::test
