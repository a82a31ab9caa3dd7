// Volumes and pictures that a full disk cuts off leave nothing.

#include <cmath>
#include <fstream>

#include "../../../io/png.hpp"
#include "../../../io/volumes/volume_kind.hpp"
#include "../../support/small_disk.hpp"
#include "../io_checks.hpp"

namespace tandem::test {

using io::Compression;

TEST(Volume, OnAFullDiskIsAnErrorAndLeavesNothing) {
  const std::vector<float> data(1 << 18);
  const Shape large{1, 1 << 9, 1 << 9};
  for (const char* name : {"v.h5", "v.tif", "v.btf", "v.nrrd", "v.zarr", "v.dcm"}) {
    const bool has_floats = io::volume_kind(name)->stores(io::VoxelType::float32);
    const rlim_t half = has_floats ? 1 << 19 : 1 << 18;
    const io::VolumeFormat format{.type = has_floats ? io::VoxelType::float32 : io::VoxelType::uint16,
                                  .place = io::whole_place({{1 << 9, 1 << 9, 1}, {1, 1, 1}, {}}, true)};
    const TemporaryFolder folder;
    EXPECT_TRUE(says(refusal([&] {
                       const SmallDisk full(half);
                       io::create_volume(folder / name, large, format, "{}");
                     }),
                     {"cannot be written", "File too large"}));
    EXPECT_EQ(files_in(folder), 0u);
    EXPECT_TRUE(says(refusal([&] {  // others fill the disk meanwhile
                       const auto writer = io::create_volume(folder / name, large, format, "{}");
                       const SmallDisk full(half);
                       writer->write({0, 1}, data.data());
                     }),
                     {"cannot be written", "File too large"}));
    EXPECT_EQ(files_in(folder), 0u);
  }
}

TEST(Volume, ThatIsPackedLeavesNothingOnAFullDisk) {
  std::vector<float> data(1 << 18);  // these cannot be packed
  std::uint32_t bits = 1;
  for (float& v : data) v = static_cast<float>(bits = bits * 1664525 + 1013904223);
  struct Case {
    Index slices;
    rlim_t limit;
  };
  for (const auto [slices, limit] : {Case{8, 1 << 17}, {96, 100 << 20}}) {
    const TemporaryFolder folder;
    EXPECT_TRUE(says(refusal([&] {
                       const SmallDisk full(limit);
                       const auto writer = io::create_volume(folder / "v.h5", {slices, 1 << 9, 1 << 9},
                                                             {.compression = Compression::blosc}, "{}");
                       for (Index z = 0; z < slices; ++z) writer->write({z, z + 1}, data.data());
                       writer->finish("{}");
                     }),
                     {"v.h5", "cannot be written", "File too large"}));
    EXPECT_EQ(files_in(folder), 0u);
  }
}

TEST(Volume, OnADiskThatIsFullAtTheEndIsAnErrorAndLeavesNothing) {
  const TemporaryFolder folder;
  EXPECT_TRUE(says(refusal([&] {
                     const auto writer = io::create_volume(folder / "v.h5", {3, 4, 5}, {}, "{}");
                     writer->write({0, 3}, std::vector<float>(60).data());
                     const SmallDisk full(1 << 15);
                     writer->finish("{}");
                   }),
                   {"v.h5", "cannot be written", "File too large"}));
  EXPECT_EQ(files_in(folder), 0u);
}

TEST(Png, IsWrittenWholeOrNotAtAll) {
  const TemporaryFolder folder;
  const io::Picture picture{.width = 3, .height = 2, .grey = {0, 1, 2, 3, std::nanf(""), 9}};
  io::write_png({folder / "preview.png", io::Content::picture}, {picture, picture}, {.white = 4});
  std::ifstream file(folder / "preview.png", std::ios::binary);
  std::string start(8, '\0');
  file.read(start.data(), 8);
  EXPECT_EQ(start, "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(files_in(folder), 1u);
  const auto refused = [&](const fs::path& path, const std::vector<io::Picture>& pictures) {
    return refusal([&] { io::write_png({path, io::Content::picture}, pictures, {}); });
  };
  EXPECT_TRUE(says(refused(folder / "lost/p.png", {picture}), {"does not exist"}));
  EXPECT_TRUE(says(refused(folder / "p.png", {}), {"no pictures"}));
  EXPECT_TRUE(
      says(refused(folder / "p.png", {{.width = 3, .height = 3, .grey = {1}}}), {"3 x 3 has 1 pixels"}));
  const SmallDisk full(16);
  EXPECT_TRUE(says(refused(folder / "p.png", {picture}), {"p.png: cannot be written"}));
  EXPECT_EQ(files_in(folder), 1u);
}

}  // namespace tandem::test
