// Which files of a folder are views, and in what order; what the notes say of the others.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>

#include "../../io/name_counter.hpp"
#include "../../io/name_series.hpp"
#include "../../io/natural_order.hpp"
#include "io_checks.hpp"

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

TEST(NaturalOrder, CountsDigitsOfAnyLength) {
  const std::string huge(40, '9');
  const std::vector<std::string> sorted{"a",       "a1",       "a2b10",     "a2b11",     "a10",
                                        "a010b",   "a" + huge, "a1" + huge, "a2" + huge, "b-1",
                                        "scan_01", "scan_1",   "scan_002",  "scan_2",    "scan_10"};
  for (std::size_t i = 0; i < sorted.size(); ++i)
    for (std::size_t j = 0; j < sorted.size(); ++j)
      EXPECT_EQ(io::natural_less(sorted[i], sorted[j]), i < j) << sorted[i] << ' ' << sorted[j];
}

TEST(KindByName, GoesByWords) {
  for (const char* name : {"flat_00001", "Flats", "flatfield12", "FlatBefore", "s1_flat_3", "io000000",
                           "ref0000_0001", "refHST0000"})
    EXPECT_EQ(io::kind_by_name(name), FrameKind::flat) << name;
  for (const char* name : {"dark_00001", "darkend0000", "DARKS", "di000000", "scan-dark-1"})
    EXPECT_EQ(io::kind_by_name(name), FrameKind::dark) << name;
  for (const char* name :
       {"scan_000004", "radio0001", "reference_bone", "disc_1", "iodine", "", "0001", "ion"})
    EXPECT_EQ(io::kind_by_name(name), FrameKind::projection) << name;
}

TEST(Numbering, FindsWhatIsMissing) {
  const auto fault = [](const std::vector<std::string>& names) { return io::numbering_fault(names); };
  EXPECT_EQ(fault(counted("s_", 0, 9)), "");
  EXPECT_EQ(fault(counted("s_", 0, 40, 4)), "");  // thinned
  EXPECT_EQ(fault({"s_7.tif"}), "");
  EXPECT_EQ(fault({"a.tif", "b.tif"}), "");
  EXPECT_EQ(fault({"s_0.tif", "s_1.tif", "s_3.tif", "s_4.tif"}), "the number 2 is missing");
  EXPECT_EQ(fault({"s_0.tif", "s_4.tif", "s_16.tif", "s_20.tif"}), "the numbers 8, 12 are missing");
  EXPECT_EQ(fault({"s_0.tif", "s_1.tif", "s_2.tif", "s_3000.tif"}),
            "the numbers 3, 4, 5, 6 and 2993 more are missing");
  EXPECT_EQ(fault({"s_0.tif", "s_4.tif", "s_8.tif", "s_9.tif"}),
            "the numbers do not rise in equal steps: 8, 9");
  EXPECT_EQ(fault({"s_1.tif", "s_2.tif", "s_03.tif", "s_3.tif"}), "two images have the number 3");
  EXPECT_EQ(fault({"s_10_a_3.tif", "s_11_a_3.tif", "s_13_a_3.tif", "s_14_a_3.tif"}),
            "the number 12 is missing");
  EXPECT_EQ(fault({"a_1.tif", "b.tif", "c_2_3.tif"}), "");                     // no series
  EXPECT_EQ(fault({"s_1_9.tif", "s_2_8.tif", "s_5_7.tif"}), "");               // two numbers: no count
  EXPECT_EQ(fault({"s_100.tif", "s_173.tif", "s_190.tif", "s_331.tif"}), "");  // times of day, say
  const std::string huge(30, '7');
  EXPECT_EQ(fault({"s_" + huge + "1.tif", "s_" + huge + "3.tif"}), "");
}

TEST(Numbering, OfDecimalsAndSignedNumbersIsInTheirUnits) {
  EXPECT_EQ(io::numbering_fault({"t_-1.5.tif", "t_-1.0.tif", "t_0.0.tif", "t_0.5.tif", "t_1.0.tif"}),
            "the number -0.5 is missing");
  EXPECT_EQ(io::numbering_fault({"t_0.9.tif", "t_1.0.tif", "t_1.1.tif"}), "");
}

TEST(NameForm, TakesASignForAPartOfItsNumber) {
  EXPECT_EQ(io::name_form("tilt_-60.5_01.tif"), "tilt_#.#_#.tif");
  EXPECT_EQ(io::name_form("tilt_+60.5_01.tif"), io::name_form("tilt_60.5_01.tif"));
  EXPECT_EQ(io::name_form("-3.tif"), io::name_form("3.tif"));
  EXPECT_EQ(io::name_form("tilt+60.tif"), io::name_form("tilt-60.tif"));
  EXPECT_NE(io::name_form("scan-1.tif"), io::name_form("scan1.tif"));  // it parts words
  EXPECT_EQ(io::name_form("2024-01-02.tif"), "#-#-#.tif");
}

namespace {

/// The names in the order of their series.
std::vector<std::string> sorted(std::vector<std::string> names) {
  io::sort_series(names);
  return names;
}
std::string words_of_order(std::vector<std::string> names) { return io::sort_series(names); }

/// Names with two numbers of each view.
std::vector<std::string> names_of_two(const std::vector<std::string>& first,
                                      const std::vector<std::string>& second) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < first.size(); ++k) names.push_back("s_" + first[k] + "_" + second[k] + ".tif");
  return names;
}

/// Angles of the golden ratio within half a turn, with four digits behind the point.
std::vector<std::string> golden_angles(int count) {
  std::vector<std::string> angles;
  for (int k = 0; k < count; ++k) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.4f", std::fmod(k * 180 * 0.6180339887498949, 180));
    angles.emplace_back(text.data());
  }
  return angles;
}

std::vector<std::string> three_digits(int first, int last) {
  std::vector<std::string> numbers;
  for (int k = first; k < last; ++k) numbers.push_back(std::to_string(1000 + k).substr(1));
  return numbers;
}

}  // namespace

TEST(SeriesOfNames, IsInTheOrderOfTheNumberThatCounts) {
  for (const auto& names :
       {names_of_two(golden_angles(50), three_digits(0, 50)),
        names_of_two(three_digits(0, 50), golden_angles(50)),
        names_of_two({"180.0", "179.5", "179.0", "178.5"}, {"1", "2", "3", "4"}),
        names_of_two({"1", "2", "3", "4"}, {"180.0", "179.5", "179.0", "178.5"}),  // falling angles
        names_of_two({"000", "001", "002", "003"}, {"180.0", "179.0", "178.0", "177.0"}),
        names_of_two({"0001", "0002", "0003"}, {"180", "179", "178"}),  // padded
        names_of_two({"173", "62", "131", "20"}, {"7", "8", "9", "10"}),
        names_of_two({"0", "111", "42", "154", "85"}, {"8", "9", "11", "12", "13"})})  // 10 is missing
    EXPECT_EQ(sorted(names), names);
}

TEST(SeriesOfNames, OrdersSignsAndDecimalsByTheirValues) {
  const std::vector<std::string> tilts{"t_-60.tif", "t_-30.tif", "t_0.tif", "t_+30.tif", "t_+60.tif"};
  EXPECT_EQ(sorted(tilts), tilts);
  EXPECT_TRUE(
      says(words_of_order(tilts), {"the images are in the order of the number that counts: t_-60.tif"}));
  const std::vector<std::string> quarters{"t_0.0.tif", "t_0.25.tif", "t_0.5.tif", "t_0.75.tif", "t_1.0.tif"};
  EXPECT_EQ(sorted(quarters), quarters);
  const std::vector<std::string> irregular{"t_-57.1.tif", "t_-33.25.tif", "t_-33.2.tif", "t_1.9.tif",
                                           "t_60.0.tif"};
  EXPECT_EQ(sorted(irregular), irregular);
  EXPECT_TRUE(says(words_of_order(irregular), {"the number in the names does not rise in equal steps"}));
  const std::vector<std::string> minus{"t_-1.tif", "t_-2.tif", "t_-3.tif"};  // a mark that all have
  EXPECT_EQ(sorted(minus), minus);
  const std::vector<std::string> runs{"s_1.8.tif", "s_1.9.tif", "s_1.10.tif", "s_1.11.tif"};  // no decimals
  EXPECT_EQ(sorted(runs), runs);
}

TEST(SeriesOfNames, SaysWhereNothingCounts) {
  for (const auto& names : {names_of_two({"01", "01", "02", "02"}, {"7", "8", "7", "8"}),
                            std::vector<std::string>{"front.tif", "left.tif", "right.tif"},
                            names_of_two({"0", "111", "150"}, {"5", "5", "6"})}) {
    EXPECT_EQ(sorted(names), names);
    EXPECT_TRUE(says(words_of_order(names), {"no number in the names counts the images", names.front()}));
  }
  EXPECT_EQ(words_of_order({"s_1_7.tif", "s_2_8.tif", "s_3_9.tif"}), "");  // both count, alike
  EXPECT_EQ(words_of_order({"s_1.tif"}), "");
  EXPECT_EQ(words_of_order({}), "");
  const std::vector<std::string> contrary = names_of_two({"3", "2", "1"}, {"1", "2", "3"});
  EXPECT_EQ(sorted(contrary), contrary);
  EXPECT_TRUE(says(words_of_order(contrary), {"two numbers in the names count, in different orders"}));
  const std::string huge(30, '7');
  EXPECT_TRUE(says(words_of_order({"s_" + huge + "1.tif", "s_" + huge + "3.tif"}), {"no number"}));
}

TEST(TiffFolder, OfAGoldenRatioIsInTheOrderInWhichItWasTaken) {
  const Images folder(names_of_two(golden_angles(12), three_digits(5, 17)));
  EXPECT_EQ(folder.order(), (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_TRUE(
      says(folder.notes(), {"the images are in the order of the number that counts: s_0.0000_005.tif"}));
}

TEST(TiffFolder, CountsItsNamesAsPeopleDo) {
  const Images folder(counted("scan_", 0, 12));  // whose bytes have scan_10 before scan_2
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
  options.flats = options.darks = {folder.path()};  // of one folder, each its own
  const auto reader = io::open_scan(folder.path(), options);
  EXPECT_EQ(Images::first_bins(*reader, FrameKind::projection), (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(Images::first_bins(*reader, FrameKind::flat), (std::vector<double>{3, 5, 7}));
  EXPECT_EQ(Images::first_bins(*reader, FrameKind::dark), (std::vector<double>{4, 6}));
  EXPECT_TRUE(says(folder.notes(options),
                   {"5 images left out of the stack, given", "3 images of", "taken as flats"}));
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
