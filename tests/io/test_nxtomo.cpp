#include <numbers>

#include "io_checks.hpp"

namespace tandem::test {

using io::FrameKind;

namespace {

void expect_sample(io::ScanReader& reader) {
  EXPECT_EQ(reader.info().format, "NXtomo");
  EXPECT_EQ(angles_of(reader.info().scan).size(), 4u);
  EXPECT_DOUBLE_EQ(angles_of(reader.info().scan)[2], std::numbers::pi / 2);
  EXPECT_EQ(all_of(reader, FrameKind::projection), frames(0, views));
}

}  // namespace

TEST(NXtomo, SortsInterleavedFramesByTheirKeys) {
  const TemporaryFolder folder;
  write_nxtomo(folder / "scan.nxs");
  const auto reader = io::open_scan(folder / "scan.nxs");
  expect_sample(*reader);
  std::vector<double> flats = frames(9, 1);
  flats.insert(flats.end(), flats.begin(), flats.end());
  EXPECT_EQ(all_of(*reader, FrameKind::flat), flats);
  EXPECT_EQ(all_of(*reader, FrameKind::dark), frames(8, 1));
  // across the gap between views 1 and 2
  EXPECT_EQ(values(reader->read(FrameKind::projection, {1, 3}, {0, 3}, {0, 5})), frames(1, 2));
}

TEST(NXtomo, LeavesOutInvalidAndAlignmentFramesAndSaysSo) {
  const TemporaryFolder folder;
  write_nxtomo(folder / "scan.nxs");
  const std::vector<std::string> notes = io::open_scan(folder / "scan.nxs")->info().notes;
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_TRUE(says(notes[0], {"1 invalid"}));
  EXPECT_TRUE(says(notes[1], {"1 alignment"}));
}

TEST(NXtomo, TellsPixelSizeAndAxis) {
  const TemporaryFolder folder;
  write_nxtomo(folder / "scan.nxs", "/entry0000");
  const io::ScanInfo info = io::open_scan(folder / "scan.nxs")->info();
  EXPECT_DOUBLE_EQ(info.pixel_size_mm.value(), 0.002);
  EXPECT_DOUBLE_EQ(detector_of(info.scan).row_pitch, 0.004);
  EXPECT_DOUBLE_EQ(info.axis_bin.value(), 2 - 0.75);
  EXPECT_DOUBLE_EQ(detector_of(info.scan).axis_bin, 2 - 0.75);
}

TEST(NXtomo, IsFoundWhereverItsDefinitionStands) {
  const TemporaryFolder folder;
  for (const char* entry : {"/entry", "/entry1/tomo_entry", "/entry0000", "/a/b/c", "/a/b/c/d"}) {
    write_nxtomo(folder / "scan.nxs", entry);
    expect_sample(*io::open_scan(folder / "scan.nxs"));
  }
}

TEST(NXtomo, ReadsTheFirstOfSeveralEntriesAndSaysSo) {
  const TemporaryFolder folder;
  write_nxtomo(folder / "one.nxs", "/entry0000");
  Hdf5Maker(folder / "all.nxs")
      .external_link("/entry0000", "one.nxs", "/entry0000")
      .external_link("/entry0001", "one.nxs", "/entry0000");
  const auto reader = io::open_scan(folder / "all.nxs");
  expect_sample(*reader);
  EXPECT_TRUE(says(reader->info().notes.at(0), {"2 NXtomo entries", "/entry0000"}));
}

TEST(NXtomo, TakesTheVariantsOfDiamond) {
  const TemporaryFolder folder;
  const std::string entry = "/entry1/tomo_entry";
  Hdf5Maker(folder / "scan.nxs")
      .text(entry + "/definition", "NXtomo", true)
      .numbers(entry + "/data/data", "u16", {views, rows, bins}, frames(0, views))
      .numbers(entry + "/data/rotation_angle", "f32", {views},
               {0, std::numbers::pi / 4, std::numbers::pi / 2, 3})
      .attribute(entry + "/data/rotation_angle", "units", "rad")
      .numbers(entry + "/instrument/pco4000/image_key", "f32", {views}, {0, 0, 0, 0});
  const auto reader = io::open_scan(folder / "scan.nxs");
  EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, views));
  EXPECT_DOUBLE_EQ(angles_of(reader->info().scan)[3], 3);
}

TEST(NXtomo, FollowsExternalLinksAndPassesOverDanglingOnes) {
  const TemporaryFolder folder;
  Hdf5Maker(folder / "raw.h5")
      .numbers("/stack", "u16", {views, rows, bins}, frames(0, views), {1, rows, bins}, true);
  Hdf5Maker(folder / "scan.nxs")
      .text("/entry/definition", "NXtomo")
      .external_link("/entry/instrument/detector/data", "raw.h5", "/stack")
      .external_link("/entry/instrument/other/data", "lost.h5", "/stack")
      .external_link("/aaa", "lost.h5", "/")
      .soft_link("/bbb", "/nowhere")
      .numbers("/entry/instrument/detector/image_key", "i32", {views}, {0, 0, 0, 0})
      .numbers("/entry/sample/rotation_angle", "f64", {views}, {0, 45, 90, 135});
  expect_sample(*io::open_scan(folder / "scan.nxs"));
}

TEST(NXtomo, NamesTheFileBehindADanglingLink) {
  const TemporaryFolder folder;
  Hdf5Maker(folder / "scan.nxs")
      .text("/entry/definition", "NXtomo")
      .external_link("/entry/instrument/detector/data", "lost.h5", "/stack");
  EXPECT_TRUE(
      says(refusal_of(folder / "scan.nxs"), {"scan.nxs: /entry/instrument/detector/data", "lost.h5"}));
}

TEST(NXtomo, IsRecognisedByContentAlone) {
  const TemporaryFolder folder;
  Hdf5Maker(folder / "scan.nxs")
      .numbers("/entry/instrument/AAA/image_key", "i32", {views}, {0, 0, 0, 0})
      .external_link("/entry/instrument/AAA/data", "lost.h5", "/stack")
      .numbers("/entry/instrument/imaging/image_key", "i32", {views}, {0, 0, 0, 0})
      .numbers("/entry/imaging/data", "u16", {views, rows, bins}, frames(0, views))
      .external_link("/entry/imaging/a_theta", "lost.h5", "/theta")
      .numbers("/entry/imaging/gts_theta_value", "f64", {views}, {0, 45, 90, 135});
  expect_sample(*io::open_scan(folder / "scan.nxs"));
}

TEST(NXtomo, TakesEveryFrameForAProjectionWithoutKeys) {
  const TemporaryFolder folder;
  Hdf5Maker(folder / "scan.nxs")
      .text("/entry/definition", "NXtomo")
      .numbers("/entry/instrument/detector/data", "u16", {views, rows, bins}, frames(0, views))
      .numbers("/entry/sample/rotation_angle", "f64", {views}, {0, 45, 90, 135});
  const auto reader = io::open_scan(folder / "scan.nxs");
  expect_sample(*reader);
  EXPECT_TRUE(says(reader->info().notes.at(0), {"no image_key"}));
}

TEST(NXtomo, RefusesKeysThatFitNoFrames) {
  const TemporaryFolder folder;
  const auto with_keys = [&](const std::vector<double>& keys) {
    Hdf5Maker(folder / "scan.nxs")
        .text("/entry/definition", "NXtomo")
        .numbers("/entry/instrument/detector/data", "u16", {views, rows, bins}, frames(0, views))
        .numbers("/entry/instrument/detector/image_key", "i32", {keys.size()}, keys)
        .numbers("/entry/sample/rotation_angle", "f64", {views}, {0, 45, 90, 135});
    return refusal_of(folder / "scan.nxs");
  };
  EXPECT_TRUE(says(with_keys({0, 0, 0}), {"image_key: 3 keys for 4 frames", "one a frame"}));
  EXPECT_TRUE(says(with_keys({0, 7, 0, 0}), {"image_key: frame 1 has key 7"}));
  EXPECT_TRUE(says(with_keys({1, 1, 2, 3}), {"scan.nxs: has 0 views"}));
}

TEST(NXtomo, RefusesAnEntryWithoutDataOrAngles) {
  const TemporaryFolder folder;
  Hdf5Maker(folder / "empty.nxs").text("/entry/definition", "NXtomo");
  EXPECT_TRUE(
      says(refusal_of(folder / "empty.nxs"), {"empty.nxs: /entry/instrument/detector/data: missing"}));
  Hdf5Maker(folder / "scan.nxs")
      .text("/entry/definition", "NXtomo")
      .numbers("/entry/instrument/detector/data", "u16", {views, rows, bins}, frames(0, views));
  EXPECT_TRUE(says(refusal_of(folder / "scan.nxs"),
                   {"scan.nxs: /entry/sample/rotation_angle: missing; give --angles FILE or --arc DEG"}));
}

}  // namespace tandem::test
