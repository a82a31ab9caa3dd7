// Which files of a folder are views, and in which order; what the notes say about the others.

#include <algorithm>

#include "../io_checks.hpp"
#include "../one_directory.hpp"

namespace tandem::test {

using io::FrameKind;

namespace {

const io::OpenOptions half_turn{.arc_deg = 180};

/// A folder of small images, one row a file, of which every pixel is the number that it was given.
class Images {
 public:
  explicit Images(const std::vector<std::string>& names) {
    for (std::size_t k = 0; k < names.size(); ++k) add(names[k], static_cast<double>(k));
  }
  void add(const std::string& name, double value, TiffOptions options = {}) const {
    options.height = 1;
    write_tiff_pages(folder_ / name, {std::vector<double>(options.width, value)}, options);
  }
  fs::path operator/(const std::string& name) const { return folder_ / name; }
  const fs::path& path() const { return folder_.path(); }

  /// The numbers of the views as they come.
  std::vector<double> order(const io::OpenOptions& options = half_turn) const {
    const auto reader = io::open_scan(path(), options);
    return first_bins(*reader, FrameKind::projection);
  }
  static std::vector<double> first_bins(io::ScanReader& reader, FrameKind kind) {
    const std::vector<double> all = test::all_of(reader, kind);
    std::vector<double> first;
    for (std::size_t i = 0; i < all.size(); i += bins) first.push_back(all[i]);
    return first;
  }
  std::string notes(const io::OpenOptions& options = half_turn) const {
    std::string all;
    const auto reader = io::open_scan(path(), options);
    for (const std::string& note : reader->info().notes) {
      EXPECT_LE(note.size(), 400u) << note;
      all += note + "\n";
    }
    return all;
  }

 private:
  TemporaryFolder folder_;
};

std::vector<std::string> counted(const std::string& start, int first, int last, int step = 1) {
  std::vector<std::string> names;
  for (int k = first; k < last; k += step) names.push_back(start + std::to_string(k) + ".tif");
  return names;
}

}  // namespace

TEST(TiffFolder, OfAGoldenRatioIsInTheOrderInWhichItWasTaken) {
  const Images folder({"s_0.0000_05.tif", "s_111.2461_06.tif", "s_42.4922_07.tif", "s_153.7384_08.tif",
                       "s_84.9845_09.tif", "s_16.2306_10.tif"});
  EXPECT_EQ(folder.order(), (std::vector<double>{0, 1, 2, 3, 4, 5}));
  EXPECT_TRUE(
      says(folder.notes(), {"the images are in the order of the number that counts: s_0.0000_05.tif"}));
}

TEST(TiffFolder, CountsItsNamesAsPeopleDo) {
  const Images folder(counted("scan_", 0, 12));  // by their bytes scan_10 comes before scan_2
  EXPECT_EQ(folder.order(), (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(folder.notes(), "");
}

TEST(TiffFolder, TakesFlatsAndDarksForWhatTheyAre) {
  const Images folder({"scan_0.tif", "scan_1.tif", "scan_2.tif", "flat_00001.tif", "dark_1.tif",
                       "io000000.tif", "di000000.tif", "ref0_0.tif"});
  EXPECT_EQ(folder.order(), (std::vector<double>{0, 1, 2}));
  EXPECT_TRUE(
      says(folder.notes(), {"3 images taken as flats by the name: flat_00001.tif, io000000.tif, ref0_0.tif",
                            "2 images taken as darks by the name: dark_1.tif, di000000.tif"}));
  const auto own = io::open_scan(folder.path(), half_turn);
  EXPECT_EQ(Images::first_bins(*own, FrameKind::flat), (std::vector<double>{3, 5, 7}));
  EXPECT_EQ(Images::first_bins(*own, FrameKind::dark), (std::vector<double>{4, 6}));
  io::OpenOptions options = half_turn;
  options.flats = {folder / "io000000.tif"};
  EXPECT_TRUE(says(folder.notes(options), {"1 image left out", "given", "2 images left out",
                                           "flats: flat_00001.tif, ref0_0.tif; others are given"}));
  const auto mixed = io::open_scan(folder.path(), options);
  EXPECT_EQ(Images::first_bins(*mixed, FrameKind::flat), (std::vector<double>{5}));
  EXPECT_EQ(Images::first_bins(*mixed, FrameKind::dark), (std::vector<double>{4, 6}));
  options.flats = options.darks = {folder.path()};  // one folder for both, which each take their own
  const auto reader = io::open_scan(folder.path(), options);
  EXPECT_EQ(Images::first_bins(*reader, FrameKind::projection), (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(Images::first_bins(*reader, FrameKind::flat), (std::vector<double>{3, 5, 7}));
  EXPECT_EQ(Images::first_bins(*reader, FrameKind::dark), (std::vector<double>{4, 6}));
  EXPECT_TRUE(says(folder.notes(options),
                   {"5 images left out of the stack, given", "3 images of", "taken as flats"}));
}

TEST(TiffFolder, APatternTakesSomeOfItsFiles) {
  const Images folder({"a_0.tif", "a_1.tif", "a_2.tif", "b_0.tif", "b_1.tif", "b_2.tif", "flat_0.tif"});
  const auto reader = io::open_scan(folder / "b_*.tif", half_turn);
  EXPECT_EQ(Images::first_bins(*reader, FrameKind::projection), (std::vector<double>{3, 4, 5}));
  EXPECT_EQ(reader->info().flats, 0);
  io::OpenOptions options = half_turn;
  options.flats = {folder / "a_[01].tif"};
  EXPECT_EQ(Images::first_bins(*io::open_scan(folder / "b_*.tif", options), FrameKind::flat),
            (std::vector<double>{0, 1}));
}

TEST(TiffFolder, OneOfItsImagesIsNoScan) {
  const Images folder(counted("v_", 0, 9));
  const std::string said = refusal_of(folder / "v_3.tif", half_turn);
  EXPECT_TRUE(
      says(said, {"v_3.tif: is one of 9 images of a series", "tandem recon", "sinogram", "--angles"}));
  write_lines(folder / "one.txt", {"0"});
  EXPECT_EQ(io::open_scan(folder / "v_3.tif", {.angles = folder / "one.txt"})->info().format,
            "TIFF sinogram");
  const Images sinograms(counted("sino_", 0, 9));
  EXPECT_EQ(io::open_scan(sinograms / "sino_3.tif", half_turn)->info().format, "TIFF sinogram");
}

/// Names do not tell what they are; their light does.
TEST(TiffFolder, SaysThatAViewHasNoLight) {
  const TemporaryFolder folder;
  for (std::size_t k = 0; k < 30; ++k)
    write_tiff_pages(folder / ("s_" + std::to_string(k) + ".tif"),
                     {std::vector<double>(15, k < 2 ? 94 : 20000)});
  const auto notes = [&] { return notes_of(io::open_scan(folder.path(), half_turn)->info()); };
  EXPECT_TRUE(says(notes(), {"image 0, from 0, has a mean of 94, and image", "one of 20000", "--darks"}));
  fs::remove(folder / "s_0.tif"), fs::remove(folder / "s_1.tif");
  EXPECT_EQ(notes(), "");
}

TEST(TiffFolder, TakesMeansOfFlatsAndDarksAlone) {  // as they lie in folders of the ESRF
  const Images folder({"s_0.tif", "s_1.tif", "ref0000_0000.tif", "ref0001_0000.tif", "refHST0000.tif",
                       "refHST0002.tif", "darkend0000.tif", "dark.tif"});
  EXPECT_EQ(folder.order(), (std::vector<double>{0, 1}));
  EXPECT_TRUE(
      says(folder.notes(), {"2 images left out, of which refHST0000.tif, refHST0002.tif are the means",
                            "1 image left out, of which dark.tif are the means: darkend0000.tif"}));
  const auto reader = io::open_scan(folder.path(), half_turn);
  EXPECT_EQ(Images::first_bins(*reader, FrameKind::flat), (std::vector<double>{4, 5}));
  EXPECT_EQ(Images::first_bins(*reader, FrameKind::dark), (std::vector<double>{7}));
}

TEST(TiffFolder, LeavesOutFlatsOfAnotherSize) {
  const Images folder(counted("scan_", 0, 3));
  folder.add("flat_0.tif", 9, {.width = 4});
  EXPECT_TRUE(says(folder.notes(), {"1 image of another size left out, by the name flats: flat_0.tif"}));
  EXPECT_EQ(io::open_scan(folder.path(), half_turn)->info().flats, 0);
}

TEST(TiffFolder, OfFlatsAloneIsAStack) {
  const Images folder(counted("flat_", 0, 3));
  EXPECT_EQ(folder.order(), (std::vector<double>{0, 1, 2}));
}

TEST(TiffFolder, ThatIsGivenForFlatsMustNameThem) {
  const Images folder(counted("scan_", 0, 3));
  io::OpenOptions options = half_turn;
  options.flats = {folder.path()};
  EXPECT_TRUE(says(refusal_of(folder.path(), options), {"is given as flats or darks too, but no name"}));
  folder.add("dark_0.tif", 9);
  EXPECT_TRUE(says(refusal_of(folder.path(), options), {"none is one of the flats by its name"}));
}

TEST(TiffFolder, ListsWhatItLeavesOut) {
  const Images folder(counted("scan_", 0, 6));
  folder.add("preview.tif", 9);
  folder.add(".scan_6.tif", 9);
  for (int k = 0; k < 5; ++k) folder.add("thumb_" + std::to_string(k) + ".tif", 9, {.width = 2});
  write_lines(folder / "settings.txt", {"kV 60"});
  fs::create_directory(folder / "scan_7.tif");
  fs::create_symlink("nowhere.tif", folder / "scan_8.tif");
  fs::create_symlink("scan_9.tif", folder / "scan_9.tif");  // to itself
  EXPECT_EQ(folder.order(), (std::vector<double>{0, 1, 2, 3, 4, 5}));
  const std::string notes = folder.notes();
  EXPECT_TRUE(says(notes, {"5 images of another size left out: thumb_0.tif", "1 more",
                           "1 image of another name left out of the stack: preview.tif",
                           "2 links to files that are not there left out: scan_8.tif, scan_9.tif",
                           "3 entries are no image and left out: .scan_6.tif, scan_7.tif, settings.txt"}));
}

TEST(TiffFolder, TellsOfGaps) {
  const Images folder({"scan_0.tif", "scan_4.tif", "scan_8.tif", "scan_20.tif", "scan_24.tif"});
  EXPECT_EQ(folder.order().size(), 5u);
  EXPECT_TRUE(says(folder.notes(), {"the numbers 12, 16 are missing between scan_0.tif and scan_24.tif"}));
}

TEST(TiffFolder, OfTwoSeriesTakesTheLongerOneAndSaysSo) {
  const Images folder(counted("scan_", 0, 5));
  folder.add("other_1.tif", 9);
  folder.add("other_2.tif", 9);
  EXPECT_EQ(folder.order(), (std::vector<double>{0, 1, 2, 3, 4}));
  EXPECT_TRUE(says(folder.notes(), {"the 5 like scan_0.tif are taken", "the 2 like other_1.tif left out",
                                    "--flats or --darks"}));
}

TEST(TiffFolder, RefusesTwoSeriesOfEqualLength) {
  const Images folder(counted("scan_", 0, 3));
  for (int k = 0; k < 3; ++k) folder.add("other_" + std::to_string(k) + ".tif", 9);
  EXPECT_TRUE(says(refusal_of(folder.path(), half_turn),
                   {"several series", "3 like other_0.tif and 3 like scan_0.tif"}));
}

TEST(TiffFolder, RefusesAViewThatIsNotAsTheOthers) {
  const Images folder(counted("scan_", 0, 5));
  folder.add("scan_3.tif", 3, {.width = 4});
  EXPECT_TRUE(says(refusal_of(folder.path(), half_turn),
                   {"scan_3.tif: is 1 x 4 pixels", "1 x 5 pixels", "scan_0.tif"}));
  folder.add("scan_3.tif", 3, {.orientation = 4});
  EXPECT_TRUE(says(refusal_of(folder.path(), half_turn), {"scan_3.tif", "orientation 4"}));
  write_tiff_pages(folder / "scan_3.tif", {std::vector<double>(5), std::vector<double>(5)}, {.height = 1});
  EXPECT_TRUE(says(refusal_of(folder.path(), half_turn), {"scan_3.tif: holds 2 images; 1"}));
}

TEST(TiffFolder, OfOneFileIsAViewOrItsPages) {
  const TemporaryFolder folder;
  write_tiff_pages(folder / "scan.tif", {frames(0, 1)});
  const auto one = io::open_scan(folder.path(), half_turn);
  EXPECT_EQ(angles_of(one->info().scan).size(), 1u);
  EXPECT_EQ(detector_of(one->info().scan).rows, 3);
  EXPECT_TRUE(says(one->info().notes.at(0), {"holds one file, 1 view; a sinogram is given by the name"}));
  write_tiff_pages(folder / "scan.tif", {frames(0, 1), frames(1, 1)});
  const auto pages = io::open_scan(folder.path(), half_turn);
  EXPECT_EQ(all_of(*pages, FrameKind::projection), frames(0, 2));
  EXPECT_TRUE(says(pages->info().notes.at(0), {"holds one file, 2 views"}));
}

TEST(TiffFile, ThatIsALoneImageSaysThatItIsASinogram) {
  const TemporaryFolder folder;
  write_tiff_pages(folder / "s.tif", {frames(0, 1)});
  const auto sinogram = io::open_scan(folder / "s.tif", half_turn);
  EXPECT_EQ(sinogram->info().format, "TIFF sinogram");
  EXPECT_TRUE(says(sinogram->info().notes.at(0), {"a sinogram of 3 views"}));
  write_tiff_pages(folder / "s.tif", {frames(0, 1)}, {.description = "{\"shape\": [1, 3, 5]}"});
  const auto stack = io::open_scan(folder / "s.tif", half_turn);  // its writer had three axes
  EXPECT_EQ(stack->info().format, "TIFF stack");
  EXPECT_EQ(detector_of(stack->info().scan).rows, 3);
}

TEST(TiffFile, ThatClaimsMoreImagesThanItHasIsRefused) {
  const TemporaryFolder folder;
  for (const char* claim : {"ImageJ=1.53t\nimages=900\nslices=900\n", "{\"shape\": [900, 3, 5]}",
                            "{\"shape\": [30, 30, 3, 5]}"}) {
    write_tiff_pages(folder / "s.tif", {frames(0, 1)}, {.description = claim});
    EXPECT_TRUE(
        says(refusal_of(folder / "s.tif", half_turn), {"s.tif: says that it holds 900 images, but only 1"}));
  }
}

TEST(TiffFile, OfOneDirectoryHasTheImagesBehindIt) {
  const TemporaryFolder folder, two;
  for (const char* claim :
       {"ImageJ=1.53t\nimages=6\nslices=6\n", "{\"shape\": [6, 3, 5], \"truncated\": true}"}) {
    write_one_directory(folder / "s.tif", claim, 6);
    for (const fs::path& scan : {folder / "s.tif", folder.path()})
      EXPECT_EQ(all_of(*io::open_scan(scan, half_turn), FrameKind::projection), frames(0, 6)) << claim;
    for (const char* name : {"s_0.tif", "s_1.tif"}) write_one_directory(two / name, claim, 6);
    EXPECT_EQ(angles_of(io::open_scan(two.path(), half_turn)->info().scan).size(), 12u);
    write_one_directory(folder / "s.tif", claim, 4);  // cut short
    for (const fs::path& scan : {folder / "s.tif", folder.path()})
      EXPECT_TRUE(says(refusal_of(scan, half_turn), {"s.tif: says that it holds 6 images", "room for 4"}));
  }
  write_one_directory(folder / "s.tif", "ImageJ=1.53t\nimages=6\nframes=2\nslices=3\n", 6);
  EXPECT_EQ(all_of(*io::open_scan(folder / "s.tif", {.arc_deg = 180, .time = 1}), FrameKind::projection),
            frames(3, 3));
}

TEST(TiffFolder, SaysThatItsImagesClaimOthers) {  // as those that were taken out of a stack
  const TemporaryFolder folder;
  for (const char* name : {"s_0.tif", "s_1.tif"})
    write_tiff_pages(folder / name, {frames(0, 1)},
                     {.description = "ImageJ=1.53t\nimages=180\nslices=180\n"});
  const auto reader = io::open_scan(folder.path(), half_turn);
  EXPECT_EQ(angles_of(reader->info().scan).size(), 2u);
  EXPECT_TRUE(says(reader->info().notes.at(0), {"s_0.tif: says that it holds 180 images, and holds 1"}));
}

TEST(TiffFile, SaysThatTheScaleOfImageJIsNotObeyed) {  // it writes numbers of 16 bits with a sign like this
  const TemporaryFolder folder;
  write_one_directory(folder / "s.tif",
                      "ImageJ=1.53t\nimages=2\nslices=2\ncf=0\nc0=-32768.0\nc1=1.0\nvunit=Gray Value\n", 2);
  EXPECT_TRUE(says(io::open_scan(folder / "s.tif", half_turn)->info().notes.at(0),
                   {"s.tif: ImageJ shows c0 + c1 x", "c0 = -32768.0 and c1 = 1.0"}));
  write_one_directory(folder / "s.tif", "ImageJ=1.53t\nimages=2\nslices=2\ncf=0\nc0=0.0\nc1=1.0\n", 2);
  EXPECT_TRUE(io::open_scan(folder / "s.tif", half_turn)->info().notes.empty());
}

TEST(TiffFile, SaysThatItsOrientationIsNotObeyed) {
  const TemporaryFolder folder;
  write_tiff_pages(folder / "s.tif", {frames(0, 1), frames(1, 1)}, {.orientation = 4});
  const auto reader = io::open_scan(folder / "s.tif", half_turn);
  EXPECT_TRUE(says(reader->info().notes.at(0), {"s.tif: images have orientation 4", "as they are stored"}));
  EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, 2));
}

TEST(TiffFile, WithAnOrientationAmongFlatsSaysSo) {
  const TemporaryFolder folder;
  write_tiff_pages(folder / "s.tif", {frames(0, 1), frames(1, 1)});
  write_tiff_pages(folder / "flat.tif", {frames(0, 1)}, {.orientation = 2});
  io::OpenOptions options = half_turn;
  options.flats = {folder / "flat.tif"};
  EXPECT_TRUE(
      says(io::open_scan(folder / "s.tif", options)->info().notes.at(0), {"flat.tif", "orientation 2"}));
}

class SparseTiff : public ::testing::TestWithParam<TiffOptions> {};

TEST_P(SparseTiff, IsRefused) {
  const TemporaryFolder folder;
  std::vector<double> pixels(24 * 5, 7);
  write_tiff_pages(folder / "s.tif", {pixels}, GetParam());
  const auto reader = io::open_scan(folder / "s.tif", half_turn);
  EXPECT_TRUE(says(refusal([&] { all_of(*reader, FrameKind::projection); }),
                   {"s.tif: the pixels of row", "are not in the file"}));
}

INSTANTIATE_TEST_SUITE_P(
    All, SparseTiff,
    ::testing::Values(TiffOptions{.rows_per_strip = 2, .height = 24, .lines_written = 16},
                      TiffOptions{.compression = 5, .rows_per_strip = 8, .height = 24, .lines_written = 16},
                      TiffOptions{.tile = 16, .height = 24, .lines_written = 16},
                      TiffOptions{.compression = 8, .tile = 16, .height = 24, .lines_written = 16}));

TEST(TiffFolder, WithBracketsInItsNameIsAFolder) {
  const TemporaryFolder outer;
  const fs::path folder = outer / "[run1] *?{a,b}";
  fs::create_directory(folder);
  for (int k = 0; k < 3; ++k)
    write_tiff_pages(folder / ("v_" + std::to_string(k) + ".tif"), {frames(static_cast<std::size_t>(k), 1)});
  write_data_exchange(folder / "scan.h5");
  EXPECT_EQ(all_of(*io::open_scan(folder, half_turn), FrameKind::projection), frames(0, 3));
  EXPECT_EQ(all_of(*io::open_scan(folder / "scan.h5"), FrameKind::projection), frames(0, views));
}

}  // namespace tandem::test
