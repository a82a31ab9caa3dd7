#include <numbers>

#include "../io_checks.hpp"

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

/// Pixels of view 0, and where the axis is then.
struct Turned {
  std::vector<double> pixels;
  double axis;
  std::vector<std::string> notes;
};

Turned turned(const std::function<void(Hdf5Maker&, const std::string& detector)>& say) {
  const TemporaryFolder folder;
  write_nxtomo(folder / "scan.nxs", "/entry0000");
  {
    Hdf5Maker file(folder / "scan.nxs", true);
    say(file, "/entry0000/instrument/detector");
  }
  const auto reader = io::open_scan(folder / "scan.nxs");
  return {values(reader->read(FrameKind::projection, {0, 1}, {0, 3}, {0, 5})),
          reader->info().axis_bin.value(), reader->info().notes};
}

/// Mirrored images of ESRF files, by the flags of older ones and by transformations.
TEST(NXtomo, TurnsMirroredImagesBackAndSaysSo) {
  std::vector<double> plain, columns, rows_flipped;
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t b = 0; b < 5; ++b) {
      plain.push_back(pixel(0, r, b));
      columns.push_back(pixel(0, r, 4 - b));
      rows_flipped.push_back(pixel(0, 2 - r, b));
    }
  using Maker = Hdf5Maker;
  const auto about = [](const std::string& axis, double angle) {
    return [=](Maker& file, const std::string& d) {
      file.numbers(d + "/transformations/" + axis, "f64", {}, {angle});
    };
  };
  EXPECT_EQ(turned([](Maker& f, const std::string& d) { f.flag(d + "/x_flipped", false); }).pixels, plain);
  for (const Turned& t :
       {turned([](Maker&f, const std::string&d) { f.flag(d + "/x_flipped", true); }),
        turned([](Maker&f, const std::string&d) { f.numbers(d + "/x_flipped", "u8", {}, {1}); }),
        turned(about("rz", 180)), turned(about("rz", -180)), turned([&](Maker&f, const std::string&d) {
          about("rx", 0)(f, d), about("ry", 180)(f, d);  // NeXus' own frame
        })}) {
    EXPECT_EQ(t.pixels, columns);
    EXPECT_DOUBLE_EQ(t.axis, 4 - (2 - 0.75));
    EXPECT_TRUE(says(t.notes.back(), {"flip-columns", "as stored"}));
  }
  for (const Turned& t : {turned([](Maker&f, const std::string&d) { f.flag(d + "/y_flipped", true); }),
                          turned(about("rx", 180)), turned([&](Maker&f, const std::string&d) {
                            about("rz", 0)(f, d), about("ry", 180)(f, d);  // the ESRF's frame
                          })}) {
    EXPECT_EQ(t.pixels, rows_flipped);
    EXPECT_DOUBLE_EQ(t.axis, 2 - 0.75);
    EXPECT_TRUE(says(t.notes.back(), {"flip-rows"}));
  }
  const Turned unknown = turned(about("ry", 180));
  EXPECT_EQ(unknown.pixels, plain);
  EXPECT_TRUE(says(unknown.notes.back(), {"ry", "--orient"}));
}

TEST(NXtomo, SaysThatItIsAHalfAcquisition) {
  const TemporaryFolder folder;
  write_nxtomo(folder / "scan.nxs", "/entry");
  EXPECT_FALSE(io::open_scan(folder / "scan.nxs")->info().field_of_view.has_value());
  Hdf5Maker(folder / "scan.nxs", true).text("/entry/instrument/detector/field_of_view", "HALF");
  EXPECT_EQ(io::open_scan(folder / "scan.nxs")->info().field_of_view, io::FieldOfView::doubled);
  EXPECT_EQ(
      io::open_scan(folder / "scan.nxs", {.field_of_view = io::FieldOfView::standard})->info().field_of_view,
      io::FieldOfView::standard);
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
