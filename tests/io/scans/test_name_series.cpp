// The names of images: what they are, how they count, and in which order they come.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "../../../io/files/natural_order.hpp"
#include "../../../io/scans/images/name_counter.hpp"
#include "../../../io/scans/images/name_series.hpp"
#include "../io_checks.hpp"

namespace tandem::test {

using io::FrameKind;

namespace {

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

}  // namespace tandem::test
