// A TIFF volume is one thing: whole by its manifest, and careful with slices of others.

#include <fstream>

#include "../../../io/files/checksum.hpp"
#include "../../../io/volumes/slice_manifest.hpp"
#include "../../../io/volumes/volume_file.hpp"
#include "../io_checks.hpp"

namespace tandem::test {

using io::Replace;

namespace {

/// Slices of a grid of 2 x 2 x 9 voxels.
io::VolumeFormat format_of(Range slices) {
  io::VolumePlace place{.grid = {.size = {2, 2, slices.size()}, .pitch = {1, 1, 1}, .centre = {}},
                        .in_mm = true,
                        .full_size = {2, 2, 9},
                        .first = {0, 0, slices.first}};
  place.grid.centre[2] = static_cast<double>(slices.first) + 0.5 * static_cast<double>(slices.size()) - 4.5;
  return {.place = place};
}

/// Each slice holds its number.
void write_slices(const fs::path& path, const io::VolumeFormat& format, Replace replace = Replace::own) {
  const VolumeGrid& grid = format.place->grid;
  const auto writer = io::create_volume(path, grid.shape(), format, "{}", replace);
  for (Index k = 0; k < grid.size[2]; ++k) {
    const std::vector<float> slice(static_cast<std::size_t>(grid.size[0] * grid.size[1]),
                                   static_cast<float>(format.place->first[2] + k));
    writer->write({k, k + 1}, slice.data());
  }
  writer->finish("{}");
}

void write_slices(const fs::path& path, Range slices, Replace replace = Replace::own, double pitch = 1) {
  io::VolumeFormat format = format_of(slices);
  format.place->grid.pitch = {pitch, pitch, 1};
  write_slices(path, format, replace);
}

std::string slice(int number) { return "v_0000" + std::to_string(number) + ".tif"; }

io::SliceManifest manifest_in(const TemporaryFolder& folder) {
  return io::read_manifest(folder / "v.tif").value();
}

bool is_complete(const TemporaryFolder& folder) { return io::VolumeReader(folder / "v.tif").complete(); }

void write_manifest(const TemporaryFolder& folder, const io::SliceManifest& manifest) {
  std::ofstream(folder / "v.tif.manifest") << io::text_of(manifest);
}

}  // namespace

TEST(TiffVolume, HasAManifestOfSizesAndChecksums) {
  const TemporaryFolder folder;
  write_slices(folder / "v.tif", {0, 2});
  const io::SliceManifest manifest = manifest_in(folder);
  EXPECT_TRUE(manifest.complete());
  ASSERT_EQ(manifest.slices.size(), 2u);
  EXPECT_EQ(manifest.slices.at(1).bytes, fs::file_size(folder / slice(1)));
  const std::vector<float> ones(4, 1);
  EXPECT_EQ(manifest.slices.at(1).checksum, io::checksum(ones.data(), 16));
}

/// Found by the fuzzer.
TEST(TiffVolume, NumbersInAManifestAreThoseOfSlices) {
  const TemporaryFolder folder;
  write_slices(folder / "v.tif", {0, 2});
  for (const char* line : {"slice: 9223372036854775807 40 0", "slice: -1 40 0", "due: 9223372036854775807"}) {
    write_lines(folder / "v.tif.manifest", {"tandem 0.2.0 volume of slices", "complete: yes", "grid:", line});
    EXPECT_TRUE(says(refusal([&] { io::VolumeReader(folder / "v.tif"); }), {"manifest: line 4 is damaged"}))
        << line;
  }
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

TEST(TiffVolume, IsOneWhateverRunsWroteItsParts) {
  const TemporaryFolder folder, whole;
  for (const Range part : {Range{3, 5}, {1, 3}, {5, 9}}) write_slices(folder / "v.tif", part);
  write_slices(whole / "v.tif", {1, 9});
  const io::VolumePlace expected = io::VolumeReader(whole / "v.tif").place().value();
  for (const std::string& name : {std::string("v.tif"), slice(1), slice(4), slice(8)}) {
    io::VolumeReader reader(folder / name);
    reader.require_complete();
    EXPECT_EQ(reader.shape(), (Shape{8, 2, 2}));
    EXPECT_EQ(reader.place()->first, expected.first);
    EXPECT_EQ(reader.place()->full_size, expected.full_size);
    EXPECT_EQ(reader.place()->grid.size, expected.grid.size);
    EXPECT_EQ(reader.place()->grid.centre, expected.grid.centre);  // halves, which are exact
    std::vector<float> voxels(32);
    reader.read({0, 8}, voxels.data());
    for (std::size_t i = 0; i < voxels.size(); ++i) EXPECT_EQ(voxels[i], static_cast<float>(1 + i / 4));
    reader.read({2, 5}, voxels.data());
    EXPECT_EQ(voxels[0], 3);
    EXPECT_EQ(voxels[11], 5);
  }
}

TEST(TiffVolume, WithAGapBetweenItsPartsIsIncomplete) {
  const TemporaryFolder folder;
  write_slices(folder / "v.tif", {0, 3});
  write_slices(folder / "v.tif", {5, 9});
  const io::VolumeReader reader(folder / "v.tif");
  EXPECT_TRUE(says(refusal([&] { reader.require_complete(); }),
                   {"v.tif: lacks 2 of its 9 slices, first v_00003.tif"}));
  for (int k = 5; k < 9; ++k) fs::remove(folder / slice(k));  // a whole part that the manifest lists
  EXPECT_TRUE(says(io::VolumeReader(folder / "v.tif").missing(), {"lacks 6 of its 9 slices"}));
}

/// Slices 0:3, and a second part that was written elsewhere.
TEST(TiffVolume, RefusesPartsThatAreNotOfOneGrid) {
  const auto misfit = [](const std::function<void(io::VolumeFormat&)>& change, Range slices = {3, 6}) {
    const TemporaryFolder folder, elsewhere;
    io::VolumeFormat format = format_of(slices);
    change(format);
    write_slices(folder / "v.tif", {0, 3});
    write_slices(elsewhere / "v.tif", format);
    io::SliceManifest both = manifest_in(folder);
    both.slices.merge(manifest_in(elsewhere).slices);
    for (Index k = 3; k < slices.last; ++k)
      fs::copy_file(elsewhere / slice(static_cast<int>(k)), folder / slice(static_cast<int>(k)));
    write_manifest(folder, both);
    const io::VolumeReader reader(folder / "v.tif");
    const std::string said = refusal([&] { reader.require_complete(); });
    EXPECT_TRUE(says(said, {"v.tif: its slice v_00003.tif does not fit to v_00000.tif"}));
    return said;
  };
  const auto pitch = [](io::VolumeFormat& f) { f.place->grid.pitch = {2, 2, 1}; };
  const auto height = [](io::VolumeFormat& f) { f.place->grid.pitch[2] = 1.5; };
  const auto unit = [](io::VolumeFormat& f) { f.place->in_mm = false; };
  const auto moved = [](io::VolumeFormat& f) { f.place->grid.centre = {0, 0.25, 0}; };
  const auto lines = [](io::VolumeFormat& f) { f.place->grid.size[1] = f.place->full_size[1] = 3; };
  const auto region = [](io::VolumeFormat& f) { f.place->grid.size[0] = 1; };
  const auto number = [](io::VolumeFormat& f) { f.place->full_size[2] = 10; };
  const auto type = [](io::VolumeFormat& f) { f.type = io::VoxelType::uint8, f.max = 9; };
  EXPECT_TRUE(says(misfit(pitch), {"along x its 2 voxels of 2 mm"}));
  EXPECT_TRUE(says(misfit(height), {"along z its 6 voxels of 1.5 mm"}));
  EXPECT_TRUE(says(misfit(unit), {"its unit is 1/pixel, not 1/mm"}));
  EXPECT_TRUE(says(misfit(moved), {"along y its 2 voxels of 1 mm lie around 0.25, not"}));
  EXPECT_TRUE(says(misfit(lines), {"its full_shape is 9 3 2, not 9 2 2"}));
  EXPECT_TRUE(says(misfit(region), {"it has 2 x 1 pixels, not 2 x 2"}));
  EXPECT_TRUE(says(misfit(number), {"its full_shape is 10 2 2"}));
  EXPECT_TRUE(says(misfit(type), {"its type is uint8, not float32"}));
  EXPECT_TRUE(says(misfit([](io::VolumeFormat&) {}, {2, 6}),
                   {"of a run that wrote slices 2:6, not of the one that wrote 0:3"}));
}

TEST(TiffVolume, RefusesASliceThatWasRenamed) {
  const TemporaryFolder folder;
  write_slices(folder / "v.tif", {1, 3});
  fs::rename(folder / slice(2), folder / slice(4));
  EXPECT_TRUE(says(refusal([&] { io::VolumeReader(folder / "v.tif"); }),
                   {"v_00004.tif: says that it is slice 2 of 1:3"}));
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
  io::VolumeFormat taller = format_of({4, 5});
  taller.place->full_size[2] = 10;
  EXPECT_TRUE(says(refusal([&] { write_slices(folder / "v.tif", taller); }), {"another grid"}));
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

/// A manifest tells what was there once; others may have put a file of theirs in its place.
TEST(TiffVolume, RemovesOnlyWhatIsStillOfTandem) {
  const TemporaryFolder folder;
  write_slices(folder / "v.tif", {0, 5});
  write_tiff_pages(folder / slice(3), {frames(0, 1)});
  EXPECT_TRUE(says(refusal([&] { write_slices(folder / "v.tif", {2, 4}); }), {slice(3), "did not write it"}));
  write_slices(folder / "v.tif", {0, 2}, Replace::any);
  EXPECT_FALSE(fs::exists(folder / slice(2)) || fs::exists(folder / slice(4)));
  EXPECT_TRUE(fs::exists(folder / slice(3)));
  io::SliceManifest marked = manifest_in(folder);  // as a run leaves it that is killed between the renames
  marked.slices.clear();
  for (Index k = 0; k < 5; ++k) marked.due.insert(k);
  write_manifest(folder, marked);
  write_slices(folder / "v.tif", {0, 2});
  EXPECT_TRUE(fs::exists(folder / slice(3)));
}

TEST(TiffVolume, RefusesPartsOfAnotherScanOrRecipe) {
  const TemporaryFolder folder;
  io::VolumeFormat format = format_of({0, 4});
  format.made_by = "scan 1, options 2";
  write_slices(folder / "v.tif", format);
  format = format_of({4, 9});
  format.made_by = "scan 1, options 3";
  EXPECT_TRUE(
      says(refusal([&] { write_slices(folder / "v.tif", format); }), {"another grid, scan or recipe"}));
  fs::create_directory(folder / "apart");
  write_slices(folder / "apart/v.tif", format);
  for (int k = 4; k < 9; ++k) fs::rename(folder / "apart" / slice(k), folder / slice(k));
  EXPECT_FALSE(is_complete(folder));
  EXPECT_TRUE(says(io::VolumeReader(folder / "v.tif").missing(), {"it is of another scan"}));
}

TEST(TiffVolume, IsIncompleteBetweenTheRenames) {  // as a run leaves it that is killed there
  const TemporaryFolder folder;
  write_slices(folder / "v.tif", {0, 3});
  io::SliceManifest marked = manifest_in(folder);
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
  io::SliceManifest marked = manifest_in(folder);
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
       {"hello", "tandem 1 volume of slices\nslice: x", "tandem 1 volume of slices\nslice: 1 2 3\ndue: -1"}) {
    std::ofstream(folder / "v.tif.manifest") << text;
    EXPECT_TRUE(says(refusal([&] { io::read_manifest(folder / "v.tif"); }), {"v.tif.manifest"})) << text;
  }
}

}  // namespace tandem::test
