// Files of beamline 8.3.2 of the ALS: one group for a scan, a data set for each image.

#include <cmath>
#include <numbers>

#include "../io_checks.hpp"

namespace tandem::test {

using io::FrameKind;
using Maker = Hdf5Maker;

namespace {

const std::string group = "/bone";

/// "/bone/bonebak_0001_0003.tif"
std::string image(const std::string& prefix, int count, int view) {
  const auto digits = [](int number) { return "_000" + std::to_string(number); };
  return group + "/" + prefix + digits(count) + digits(view) + ".tif";
}

void add(Maker& file, const std::string& path, std::size_t pixels, const std::string& type = "u16") {
  file.numbers(path, type, {1, rows, bins}, frames(pixels, 1));
}

void write_views(Maker& file) {
  for (const int view : {2, 0, 3, 1}) add(file, image("bone", 0, view), static_cast<std::size_t>(view));
}

/// The sample scan with what a test says of it: flats before views 0 and 2 and after the last one, two darks.
class AlsScan {
 public:
  explicit AlsScan(
      const std::function<void(Maker&)>& say = [](Maker&) {},
      const std::function<void(Maker&)>& write = write_views)
      : path_(folder_ / "bone.h5") {
    Maker file(path_);
    file.group(group);
    file.attribute(group, "nangles", std::to_string(views));
    write(file);
    for (const auto& [count, view, pixels] :
         {std::tuple{0, 3, 8}, {0, 0, 4}, {1, 0, 5}, {0, 2, 6}, {1, 3, 9}})
      add(file, image("bonebak", count, view), static_cast<std::size_t>(pixels));
    for (const int count : {1, 0}) add(file, image("bonedrk", count, 3), static_cast<std::size_t>(count));
    say(file);
  }
  const fs::path& path() const { return path_; }
  std::unique_ptr<io::ScanReader> open(const io::OpenOptions& options = {}) const {
    return io::open_scan(path_, options);
  }
  io::ScanInfo info(const io::OpenOptions& options = {}) const { return open(options)->info(); }
  std::string refusal(const io::OpenOptions& options = {}) const { return refusal_of(path_, options); }

 private:
  TemporaryFolder folder_;
  fs::path path_;
};

void half_turn(Maker& file) { file.attribute(group, "arange", "180.000000"); }

std::vector<double> degrees_of(const io::ScanInfo& info) {
  std::vector<double> degrees;
  for (const double angle : angles_of(info.scan))
    degrees.push_back(std::round(angle * 180 / std::numbers::pi) + 0.0);
  return degrees;
}

std::vector<double> pixels_of(std::initializer_list<std::size_t> images) {
  std::vector<double> all;
  for (const std::size_t one : images)
    for (const double value : frames(one, 1)) all.push_back(value);
  return all;
}

}  // namespace

TEST(Als, HasImagesInTheOrderOfTheirNumbers) {
  const AlsScan scan(half_turn);
  const auto reader = scan.open();
  EXPECT_EQ(reader->info().format, "ALS 8.3.2");
  EXPECT_EQ(reader->info().type, io::PixelType::uint16);
  EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, views));
  EXPECT_EQ(all_of(*reader, FrameKind::flat), pixels_of({4, 5, 6, 8, 9}));
  EXPECT_EQ(all_of(*reader, FrameKind::dark), frames(0, 2));
  EXPECT_EQ(values(reader->read(FrameKind::projection, {1, 3}, {1, 2}, {2, 4})),
            (std::vector<double>{pixel(1, 1, 2), pixel(1, 1, 3), pixel(2, 1, 2), pixel(2, 1, 3)}));
  EXPECT_EQ(reader->info().times.views, (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(reader->info().times.flats, (std::vector<double>{-0.5, -0.5, 1.5, 3.5, 3.5}));
  EXPECT_TRUE(reader->info().notes.empty()) << notes_of(reader->info());
}

TEST(Als, TakesImagesOfTwoAxesAndShortNamesOfFlats) {
  const AlsScan scan([](Maker& f) {
    half_turn(f);
    f.numbers(image("bak", 0, 1), "u16", {rows, bins}, frames(7, 1));
  });
  EXPECT_EQ(all_of(*scan.open(), FrameKind::flat), pixels_of({4, 5, 7, 6, 8, 9}));
}

/// The beamline's programs turn by the opposite of its angles, both ends of the arc included.
TEST(Als, TurnsTheOtherWayOverTheWholeArc) {
  EXPECT_EQ(degrees_of(AlsScan(half_turn).info()), (std::vector<double>{0, -60, -120, -180}));
  EXPECT_EQ(degrees_of(AlsScan([](Maker& f) { f.number_attribute(group, "arange", 90); }).info()),
            (std::vector<double>{0, -30, -60, -90}));
  const AlsScan none;
  EXPECT_TRUE(says(none.refusal(), {"bone.h5: /bone@arange: missing; give --angles FILE or --arc DEG"}));
  EXPECT_EQ(degrees_of(none.info({.arc_deg = 180})), (std::vector<double>{0, 45, 90, 135}));
  EXPECT_TRUE(
      says(AlsScan([](Maker& f) { f.attribute(group, "arange", "half"); }).refusal(), {"@arange: missing"}));
}

TEST(Als, ObeysTheAnglesOfItsImagesIfTheyChange) {
  const auto with = [](double step) {
    return AlsScan([step](Maker& f) {
      half_turn(f);
      for (int view = 0; view < static_cast<int>(views); ++view)
        f.number_attribute(image("bone", 0, view), "rot_angle", step * view);
    });
  };
  EXPECT_EQ(degrees_of(with(7).info()), (std::vector<double>{0, -7, -14, -21}));
  EXPECT_EQ(degrees_of(with(0).info()), (std::vector<double>{0, -60, -120, -180}));
  EXPECT_TRUE(
      says(with(NAN).refusal(), {"/bone/bone_0000_0000.tif@rot_angle: the angle of view 0 is", "nan"}));
}

TEST(Als, HasItsAnglesByNumbersWhereViewsAreMissing) {
  const AlsScan scan(half_turn, [](Maker& f) {
    for (const int view : {0, 1, 3}) add(f, image("bone", 0, view), static_cast<std::size_t>(view));
  });
  EXPECT_EQ(degrees_of(scan.info()), (std::vector<double>{0, -60, -180}));
  EXPECT_TRUE(says(notes_of(scan.info()),
                   {"/bone: the number 2 is missing", "/bone: 3 views are there, of 4 that were planned"}));
  EXPECT_EQ(scan.info().times.views, (std::vector<double>{0, 1, 3}));
}

TEST(Als, LeavesOutOtherTilesAndOtherImagesWithANote) {
  const AlsScan scan([](Maker& f) {
    half_turn(f);
    add(f, image("bone", 1, 0), 9);
    add(f, group + "/thumb.tif", 9);
    f.attribute(group, "tile_xnumimg", "2").attribute(group, "tile_ynumimg", "0");
  });
  EXPECT_EQ(all_of(*scan.open(), FrameKind::projection), frames(0, views));
  EXPECT_TRUE(says(notes_of(scan.info()),
                   {"/bone: left out beside bone_0000_0000.tif: bone_0001_0000.tif, thumb.tif",
                    "/bone: tile_xnumimg = 2 is left out: the scan is one of several side by side"}));
  EXPECT_EQ(notes_of(scan.info()).find("tile_ynumimg"), std::string::npos);
}

TEST(Als, ASampleMayBeCalledLikeFlats) {
  const TemporaryFolder folder;
  {
    Maker file(folder / "a.h5");
    file.group("/outbak").attribute("/outbak", "nangles", "1").attribute("/outbak", "arange", "180");
    add(file, "/outbak/outbak_0000_0000.tif", 0);
    add(file, "/outbak/outbakbak_0000_0000.tif", 1);
  }
  const io::ScanInfo info = io::open_scan(folder / "a.h5")->info();
  EXPECT_EQ(angles_of(info.scan).size(), 1u);
  EXPECT_EQ(info.flats, 1);
}

TEST(Als, SaysPitchAndEnergyInTextsOrNumbers) {
  const AlsScan texts([](Maker& f) {
    half_turn(f);
    f.attribute(group, "pxsize", "0.001303 ", true).attribute(group, "senergy", "25000.000000");
    f.attribute(group, "nrays", "5")
        .attribute(group, "nslices", "3")
        .attribute(group, "pgeometry", "PARALLEL");
    f.attribute(group, "i0cycle", "2").attribute(group, "xbin", "1");
  });
  EXPECT_DOUBLE_EQ(texts.info().pixel_size_mm.value(), 0.001303);
  EXPECT_DOUBLE_EQ(texts.info().energy_kev.value(), 25);
  EXPECT_TRUE(texts.info().notes.empty()) << notes_of(texts.info());
  const AlsScan numbers([](Maker& f) {
    half_turn(f);
    f.number_attribute(group, "pxsize", 0.00065).attribute(group, "senergy", "Inf");
  });
  EXPECT_DOUBLE_EQ(numbers.info().pixel_size_mm.value(), 0.00065);
  EXPECT_FALSE(numbers.info().energy_kev);
  EXPECT_TRUE(numbers.info().notes.empty()) << notes_of(numbers.info());
  const AlsScan none([](Maker& f) {
    half_turn(f);
    f.attribute(group, "pxsize", "-1").attribute(group, "xbin", "2").attribute(group, "usebrightexpose", "1");
  });
  EXPECT_FALSE(none.info().pixel_size_mm);
  EXPECT_TRUE(
      says(notes_of(none.info()), {"/bone: pxsize = -1 is left out", "xbin = 2 is left out", "--pixel-size",
                                   "usebrightexpose = 1 is left out", "--air-columns"}));
}

TEST(Als, FlatsAndDarksOfOneFileServeAnother) {
  const AlsScan other(half_turn, [](Maker&) {});
  const AlsScan scan(half_turn);
  const io::ScanInfo info = scan.info({.flats = {other.path()}, .darks = {other.path()}});
  EXPECT_EQ(info.flats, 5 + 5);
  EXPECT_EQ(info.darks, 2 + 2);
  EXPECT_TRUE(
      says(other.refusal(), {"bone.h5: /bone: has no views; images named NAME_0000_0000.tif are needed"}));
}

TEST(BadAls, NamesTheImageThatIsNotAlike) {
  const auto refused = [](const std::function<void(Maker&)>& spoil) {
    return AlsScan([&](Maker& f) { half_turn(f), f.remove(image("bone", 0, 2)), spoil(f); }).refusal();
  };
  const std::string where = "bone.h5: /bone/bone_0000_0002.tif: ", path = image("bone", 0, 2);
  EXPECT_TRUE(says(refused([&](Maker& f) { f.numbers(path, "u16", {1, 4, bins}, {}); }), {where}));
  EXPECT_TRUE(says(refused([&](Maker& f) {
                     f.numbers(path, "u16", {1, 4, bins}, std::vector<double>(4 * bins, 1));
                   }),
                   {where,
                    "has 1 x 4 x 5, uint16 (image, row, bin); 1 x 3 x 5, uint16 is needed as in "
                    "bone_0000_0000.tif"}));
  EXPECT_TRUE(says(refused([&](Maker& f) { add(f, path, 2, "u8"); }), {where, "uint8", "uint16 is needed"}));
  EXPECT_TRUE(says(refused([&](Maker& f) {
                     f.numbers(path, "u16", {2, rows, bins}, frames(2, 2));
                   }),
                   {where, "has 2 x 3 x 5, uint16"}));
  EXPECT_TRUE(says(refused([&](Maker& f) {
                     f.numbers(path, "u16", {bins}, {1, 2, 3, 4, 5});
                   }),
                   {where, "has 1 axis; 3 are needed"}));
  EXPECT_TRUE(says(refused([&](Maker& f) {
                     f.numbers(path, "u16", {1, rows, bins}, {}, {1, rows, bins});
                   }),
                   {where, "holds no data; it was never written"}));
  EXPECT_TRUE(says(refused([&](Maker& f) { f.text(path, "no image"); }), {where}));
  EXPECT_TRUE(says(refused([&](Maker& f) { f.soft_link(path, "/nowhere"); }), {where}));
  EXPECT_TRUE(says(refused([&](Maker& f) { f.external_link(path, "lost.h5", "/a"); }),
                   {where, "links to lost.h5, which cannot be opened"}));
}

TEST(BadAls, RefusesWhatItsHeaderDoesNotMean) {
  const auto refused = [](const char* key, const char* value) {
    return AlsScan([&](Maker& f) { half_turn(f), f.attribute(group, key, value); }).refusal();
  };
  EXPECT_TRUE(
      says(refused("nrays", "6"), {"/bone/bone_0000_0000.tif: has 3 x 5 pixels (rows x bins); nslices x "
                                   "nrays, 3 x 6, are needed"}));
  EXPECT_TRUE(says(refused("nslices", "many"), {"bone.h5: /bone: nslices = many; a whole number from 1 on"}));
  EXPECT_TRUE(says(refused("nrays", "2.5"), {"nrays = 2.5"}));
  EXPECT_TRUE(says(refused("pgeometry", "CONE"), {"bone.h5: /bone: pgeometry = CONE: only parallel beams"}));
  const AlsScan flats_differ([](Maker& f) {
    half_turn(f);
    f.numbers(image("bonedrk", 0, 0), "u16", {1, bins, rows}, frames(0, 1));
  });
  EXPECT_TRUE(says(flats_differ.refusal(), {"bone.h5: /bone/bonedrk_000", "is needed"}));
}

TEST(BadAls, CutAnywhereIsRefused) {
  const AlsScan scan(half_turn);
  for (const double share : {0.9, 0.5, 0.2, 0.05}) {
    fs::resize_file(scan.path(),
                    static_cast<std::uintmax_t>(static_cast<double>(fs::file_size(scan.path())) * share));
    EXPECT_TRUE(says(scan.refusal(), {"bone.h5: "})) << share;
  }
}

}  // namespace tandem::test
