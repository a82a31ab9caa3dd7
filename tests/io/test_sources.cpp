#include "../../io/sources.hpp"

#include <hdf5.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "../../io/hdf5/hdf5.hpp"
#include "../../io/volumes/volume_file.hpp"
#include "io_checks.hpp"

namespace tandem::test {

namespace {

bool has(const std::vector<fs::path>& files, const fs::path& path) {
  return std::any_of(files.begin(), files.end(), [&](const fs::path& f) { return fs::equivalent(f, path); });
}

/// A data set of 4 bytes: the first `sources` each give one, or `raw` holds all.
void write_indirect(const fs::path& path, const std::vector<const char*>& sources, const char* raw) {
  using io::hdf5::Handle;
  const Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  const hsize_t four = 4, one = 1;
  const Handle space(H5Screate_simple(1, &four, nullptr), H5Sclose);
  const Handle single(H5Screate_simple(1, &one, nullptr), H5Sclose);
  const Handle plan(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  hsize_t at = 0;
  for (const char* source : sources) {
    H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, &at, nullptr, &one, nullptr);
    H5Pset_virtual(plan.id(), space.id(), source, "/d", single.id());
    ++at;
  }
  if (raw) H5Pset_external(plan.id(), raw, 0, 4);
  const Handle set(H5Dcreate2(file.id(), "/d", H5T_STD_U8LE, space.id(), H5P_DEFAULT, plan.id(), H5P_DEFAULT),
                   H5Dclose);
  ASSERT_TRUE(set.valid());
}

}  // namespace

TEST(Sources, AreFollowedThroughEveryKindOfLink) {
  const TemporaryFolder folder;
  write_lines(folder / "pixels.raw", {"abcd"});
  write_indirect(folder / "raw.h5", {}, "pixels.raw");
  write_indirect(folder / "part.h5", {}, nullptr);
  write_indirect(folder / "block-0.h5", {}, nullptr);
  write_indirect(folder / "virtual.h5", {"part.h5", "gone.h5"}, nullptr);
  Hdf5Maker(folder / "middle.h5")
      .external_link("/r", "raw.h5", "/d")
      .external_link("/back", "scan.h5", "/")
      .external_link("/v", "virtual.h5", "/d");
  Hdf5Maker(folder / "scan.h5").group("/entry").external_link("/entry/data", "middle.h5", "/r");
  const std::vector<fs::path> files = io::files_behind(folder / "scan.h5");
  EXPECT_EQ(files.size(), 6u);
  for (const char* name : {"scan.h5", "middle.h5", "raw.h5", "pixels.raw", "virtual.h5", "part.h5"})
    EXPECT_TRUE(has(files, folder / name)) << name;
}

TEST(Sources, AreLookedForBesideALinkToTheScanToo) {  // as libhdf5 does, before it looks beside the scan
  const TemporaryFolder folder;
  for (const char* name : {"far", "near", "prefix"}) fs::create_directory(folder / name);
  write_indirect(folder / "near/part.h5", {}, nullptr);
  write_indirect(folder / "far/other.h5", {}, nullptr);
  write_indirect(folder / "prefix/third.h5", {}, nullptr);
  Hdf5Maker(folder / "far/scan.h5")
      .external_link("/a", "part.h5", "/d")
      .external_link("/b", "other.h5", "/d")
      .external_link("/c", "third.h5", "/d");
  fs::create_symlink("../far/scan.h5", folder / "near/link.h5");
  ::setenv("HDF5_EXT_PREFIX", ("/nowhere:" + (folder / "prefix").string()).c_str(), 1);
  const std::vector<fs::path> files = io::files_behind(folder / "near/link.h5");
  ::unsetenv("HDF5_EXT_PREFIX");
  for (const char* name : {"far/scan.h5", "near/part.h5", "far/other.h5", "prefix/third.h5"})
    EXPECT_TRUE(has(files, folder / name)) << name;
}

TEST(Sources, OfATiffVolumeAreItsSlicesAndItsManifest) {
  const TemporaryFolder folder;
  const std::vector<float> voxels(12, 1);
  const auto writer = io::create_volume(folder / "v.tif", {3, 2, 2}, {}, "{}");
  writer->write({0, 3}, voxels.data());
  writer->finish("{}");
  for (const char* name : {"v.tif", "v_00001.tif"}) {
    const std::vector<fs::path> files = io::files_behind(folder / name);
    EXPECT_EQ(files.size(), 4u) << name;
    for (const char* file : {"v_00000.tif", "v_00002.tif", "v.tif.manifest"})
      EXPECT_TRUE(has(files, folder / file)) << name << file;
  }
  write_tiff_pages(folder / "scan_00000.tif", {frames(0, 1)});  // an image of its own
  write_tiff_pages(folder / "scan_00001.tif", {frames(0, 1)});
  EXPECT_EQ(io::files_behind(folder / "scan_00000.tif").size(), 1u);
}

TEST(Sources, OfAFolderAreItsFiles) {
  const TemporaryFolder folder;
  write_lines(folder / "a.tif", {"a"});
  write_lines(folder / "b.tif", {"b"});
  EXPECT_EQ(io::files_behind(folder.path()).size(), 2u);
  EXPECT_TRUE(io::files_behind(folder / "none").empty());
}

TEST(Sources, AreTheSameFileUnderOtherNames) {
  const TemporaryFolder folder;
  write_lines(folder / "a", {"a"});
  write_lines(folder / "b", {"a"});
  fs::create_hard_link(folder / "a", folder / "hard");
  fs::create_symlink("a", folder / "soft");
  EXPECT_EQ(io::same_file({folder / "b", folder / "hard"}, {folder / "a"}), folder / "hard");
  EXPECT_EQ(io::same_file({folder / "soft"}, {folder / "a"}), folder / "soft");
  EXPECT_FALSE(io::same_file({folder / "b"}, {folder / "a"}));
}

TEST(Sources, AreKnownAgainAndTellAChange) {
  const TemporaryFolder folder;
  write_lines(folder / "a.txt", {"12"});
  const io::SourceIdentity before = io::identity_of({folder / "a.txt"});
  EXPECT_EQ(before.files, 1u);
  EXPECT_EQ(before.bytes, 3u);
  EXPECT_EQ(before.modified.size(), 20u);
  EXPECT_EQ(io::identity_of({folder / "a.txt"}).digest, before.digest);
  write_lines(folder / "a.txt", {"13"});
  EXPECT_NE(io::identity_of({folder / "a.txt"}).digest, before.digest);
}

}  // namespace tandem::test
