// A TIFF volume is one thing: whole by its manifest, and careful with slices of others.

#include <fstream>

#include "io_checks.hpp"
#include "tandem/io/checksum.hpp"
#include "tandem/io/tiff_manifest.hpp"
#include "tandem/io/volume_file.hpp"

namespace tandem::test {

using io::Replace;

namespace {

void write_slices(const fs::path& path, Range slices, Replace replace = Replace::own, double pitch = 1) {
  io::VolumePlace place{.grid = {.size = {2, 2, slices.size()}, .pitch = {pitch, pitch, 1}, .centre = {}},
                        .in_mm = true,
                        .full_size = {2, 2, 9},
                        .first = {0, 0, slices.first}};
  place.grid.centre[2] = static_cast<double>(slices.first) + 0.5 * static_cast<double>(slices.size()) - 4.5;
  const io::VolumeFormat format{.place = place};
  const auto writer = io::create_volume(path, {slices.size(), 2, 2}, format, "{}", replace);
  for (Index k = 0; k < slices.size(); ++k) {
    const std::vector<float> slice(4, static_cast<float>(slices.first + k));
    writer->write({k, k + 1}, slice.data());
  }
  writer->finish("{}");
}

std::string slice(int number) { return "v_0000" + std::to_string(number) + ".tif"; }

io::TiffManifest manifest_in(const TemporaryFolder& folder) {
  return io::read_manifest(folder / "v.tif").value();
}

bool is_complete(const TemporaryFolder& folder) { return io::VolumeReader(folder / "v.tif").complete(); }

void write_manifest(const TemporaryFolder& folder, const io::TiffManifest& manifest) {
  std::ofstream(folder / "v.tif.manifest") << io::text_of(manifest);
}

}  // namespace

TEST(TiffVolume, HasAManifestOfSizesAndChecksums) {
  const TemporaryFolder folder;
  write_slices(folder / "v.tif", {0, 2});
  const io::TiffManifest manifest = manifest_in(folder);
  EXPECT_TRUE(manifest.complete());
  ASSERT_EQ(manifest.slices.size(), 2u);
  EXPECT_EQ(manifest.slices.at(1).bytes, fs::file_size(folder / slice(1)));
  const std::vector<float> ones(4, 1);
  EXPECT_EQ(manifest.slices.at(1).checksum, io::checksum(ones.data(), 16));
}

TEST(TiffVolume, CountsInTheFullVolumeAndKeepsSlicesOfAnotherRun) {
  const TemporaryFolder folder;
  write_slices(folder / "v.tif", {0, 3});
  write_slices(folder / "v.tif", {3, 5});
  for (int k = 0; k < 5; ++k) EXPECT_TRUE(fs::exists(folder / slice(k))) << k;
  EXPECT_EQ(manifest_in(folder).slices.size(), 5u);
  EXPECT_TRUE(manifest_in(folder).complete());
  EXPECT_TRUE(is_complete(folder));
  write_slices(folder / "v.tif", {7, 8});
  EXPECT_FALSE(manifest_in(folder).complete());  // slices 5 and 6 are nowhere
}

TEST(TiffVolume, IsReplacedAsAWhole) {
  const TemporaryFolder folder;
  write_slices(folder / "v.tif", {1, 3});
  write_slices(folder / "v.tif", {1, 3}, Replace::own, 2);
  write_slices(folder / "v.tif", {0, 4});
  EXPECT_EQ(io::VolumeReader(folder / "v.tif").shape()[0], 4);
  EXPECT_TRUE(is_complete(folder));
}

TEST(TiffVolume, LeavesNoPartOfAnotherWithoutAWord) {
  const TemporaryFolder folder;
  write_slices(folder / "v.tif", {0, 4});
  EXPECT_TRUE(
      says(refusal([&] {
             write_slices(folder / "v.tif", {2, 6});
           }),
           {"v.tif: slices 0:4 of another run are there, of which 2:6 would leave a part", "--overwrite"}));
  EXPECT_TRUE(says(refusal([&] {
                     write_slices(folder / "v.tif", {4, 5}, Replace::own, 2);
                   }),
                   {"another grid"}));
  EXPECT_EQ(manifest_in(folder).slices.size(), 4u);
  write_slices(folder / "v.tif", {2, 6}, Replace::any);
  EXPECT_FALSE(fs::exists(folder / slice(1)));
  EXPECT_EQ(manifest_in(folder).slices.begin()->first, 2);
  EXPECT_TRUE(is_complete(folder));
}

TEST(TiffVolume, LeavesAloneFilesThatTandemDidNotWrite) {
  const TemporaryFolder folder;
  const std::vector<const char*> others{"v_0002.tif", "v_00002.tiff", "v_000002.tif", "vs_00002.tif"};
  for (const char* other : others) write_tiff_pages(folder / other, {frames(0, 1)});
  write_tiff_pages(folder / slice(1), {frames(0, 1)});
  EXPECT_TRUE(says(refusal([&] { write_slices(folder / "v.tif", {0, 2}); }), {slice(1), "did not write it"}));
  EXPECT_FALSE(fs::exists(folder / slice(0)));
  write_slices(folder / "v.tif", {2, 3});
  write_slices(folder / "v.tif", {0, 3}, Replace::any);
  EXPECT_TRUE(is_complete(folder));
  for (const char* other : others) EXPECT_TRUE(fs::exists(folder / other)) << other;
}

TEST(TiffVolume, IsIncompleteBetweenTheRenames) {  // as a run leaves it that is killed there
  const TemporaryFolder folder;
  write_slices(folder / "v.tif", {0, 3});
  io::TiffManifest marked = manifest_in(folder);
  marked.slices.clear();
  for (Index k = 0; k < 5; ++k) marked.due.insert(k);
  write_manifest(folder, marked);
  EXPECT_FALSE(is_complete(folder));
  write_slices(folder / "v.tif", {0, 2});  // clears what the dead run left
  EXPECT_FALSE(fs::exists(folder / slice(2)));
  EXPECT_TRUE(is_complete(folder));
  fs::remove(folder / "v.tif.manifest");
  EXPECT_FALSE(is_complete(folder));
}

TEST(TiffVolume, RemembersWhatAnotherRunOwes) {
  const TemporaryFolder folder;
  write_slices(folder / "v.tif", {0, 2});
  io::TiffManifest marked = manifest_in(folder);
  marked.due.insert(2);
  write_manifest(folder, marked);
  write_slices(folder / "v.tif", {3, 4});
  EXPECT_FALSE(is_complete(folder));
  write_slices(folder / "v.tif", {2, 3});
  EXPECT_TRUE(is_complete(folder));
}

TEST(TiffVolume, IsReadOnlyAsItWasWritten) {
  const TemporaryFolder folder;
  write_slices(folder / "v.tif", {0, 2});
  std::vector<float> voxels(8);
  io::VolumeReader(folder / "v.tif").read({0, 2}, voxels.data());
  EXPECT_EQ(voxels[4], 1);
  std::fstream file(folder / slice(1), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(9);  // within the pixels, which come first
  file.put('\x55');
  file.close();
  EXPECT_TRUE(says(refusal([&] {
                     io::VolumeReader(folder / "v.tif").read({0, 2}, voxels.data());
                   }),
                   {slice(1), "checksum", "v.tif.manifest"}));
}

TEST(TiffVolume, RefusesADamagedManifest) {
  const TemporaryFolder folder;
  for (const char* text :
       {"hello", "tandem 1 TIFF volume\nslice: x", "tandem 1 TIFF volume\nslice: 1 2 3\ndue: -1"}) {
    std::ofstream(folder / "v.tif.manifest") << text;
    EXPECT_TRUE(says(refusal([&] { io::read_manifest(folder / "v.tif"); }), {"v.tif.manifest"})) << text;
  }
}

}  // namespace tandem::test
