#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <sstream>
#include <string>
#include <vector>

#include "../../options/help.hpp"
#include "../../options/texts.hpp"
#include "sample_tables.hpp"

namespace tandem::options {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  for (const std::string& line : lines_of(text)) most = std::max(most, line.size());
  return most;
}

std::size_t lines_with(const std::string& start, const std::string& text) {
  return std::ranges::count_if(lines_of(text),
                               [&](const std::string& line) { return line.starts_with(start); });
}

/// How many lines begin with the name of a row.
std::size_t named(const Option& row, const std::string& text) {
  return lines_with("  " + row.spelled() + " ", text) +
         std::ranges::count(lines_of(text), "  " + row.spelled());
}

std::string repeated(const std::string& text, int times) {
  return times == 0 ? "" : text + repeated(text, times - 1);
}

/// A table of many rows, every fourth of which is common, with long helps.
struct Long {
  std::deque<std::string> members;
  Table table{"recon", "Scan to volume"};

  Long() {
    for (int k = 0; k < 60; ++k) {
      table.heading("Group " + std::to_string(k / 8));
      Option& row = table.add("--option-" + std::to_string(k), On::result, members.emplace_back(),
                              repeated("a help of many words, ", 3 + k % 7) + "and its end");
      row.of_kind(repeated("choice|", k % 20) + "FILE").is_common = k % 4 == 0;
    }
    for (int k = 0; k < 5; ++k) table.footer += (k == 0 ? "Examples:" : "") + repeated("\n  tandem recon", 1);
  }
};

TEST(Help, IsAtMost100ColumnsWide) {
  EXPECT_LE(widest(short_help(Sample().table)), 100u);
  EXPECT_LE(widest(full_help(Sample().table)), 100u);
  EXPECT_LE(widest(short_help(Long().table)), 100u);
  EXPECT_LE(widest(full_help(Long().table)), 100u);
  EXPECT_LE(widest(program_help({{"recon", repeated("many words ", 30)}})), 100u);
}

TEST(Help, HasEachRowThatIsNotHiddenOnce) {
  const Sample sample;
  const std::string full = full_help(sample.table);
  for (const std::string name :
       {"scan NAME ... (required)", "--flats FILE", "--filter ramp|", "--initial zero|", "--size N",
        "-o,--output NAME (required)", "-f,--flag ", "--follow[=views=N,seconds=S]"})
    EXPECT_EQ(lines_with("  " + name, full), 1u) << name << '\n' << full;
  EXPECT_EQ(full.find("secret"), std::string::npos);
  EXPECT_EQ(short_help(sample.table).find("secret"), std::string::npos);
  const Long many;
  for (const Option& row : many.table.rows()) EXPECT_EQ(named(row, full_help(many.table)), 1u) << row.name;
}

TEST(Help, OfManyRowsIsShortAndHasWhatIsCommonOrRequired) {
  Long many;
  many.table.at("--option-1").required();
  const std::string text = short_help(many.table);
  EXPECT_LE(lines_of(text).size(), 40u) << text;
  for (const Option& row : many.table.rows())
    EXPECT_EQ(named(row, text), row.is_common || row.is_required ? 1u : 0u) << row.name;
  EXPECT_EQ(lines_of(text).back(), "All options: tandem recon --help-all");
}

TEST(Help, OfFewRowsIsShortWithAllOfThem) {
  const Sample sample;
  const std::string text = short_help(sample.table);
  for (const Group& group : groups_of(sample.table))
    for (const Option* row : group.rows) EXPECT_NE(text.find(row->spelled()), std::string::npos) << row->name;
  EXPECT_TRUE(text.starts_with("Usage: tandem recon [options] scan...\nScan to volume\n")) << text;
  EXPECT_NE(text.find("\n  tandem recon a.h5 -o b.h5\n"), std::string::npos);
  EXPECT_EQ(text.find("Methods:"), std::string::npos);
}

TEST(Help, HasTheWholeFooterAndItsExamplesFirst) {
  const std::string text = full_help(Sample().table);
  EXPECT_TRUE(text.starts_with("Scan to volume\n\nExamples:\n  tandem recon a.h5 -o b.h5\n")) << text;
  EXPECT_TRUE(text.ends_with("\n  'sirt: another\n\nBehind the value:\n  x: y\n")) << text;
}

TEST(Help, SaysUnitAndDefaultOnce) {
  const std::string text = full_help(Sample().table);
  EXPECT_NE(text.find("voxels along x (default 256)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("of a voxel, mm (default: the pitch)\n"), std::string::npos);
  Option row;
  row.help = "width, mm; default 3", row.unit = "mm", row.usual = "3";
  EXPECT_EQ(words_of(row), row.help);
}

TEST(Help, IsCutWhereAClauseEnds) {
  const auto summary = [](const std::string& help) {
    Option row;
    row.help = help;
    return summary_of(row, 1);
  };
  const std::string more = repeated(" and more", 10);
  EXPECT_EQ(summary("cone: a few words"), "cone: a few words");
  EXPECT_EQ(summary("replace zingers and hot pixels: size" + more), "replace zingers and hot pixels");
  EXPECT_EQ(summary("rows A to B of the detector, from 0; A: to" + more),
            "rows A to B of the detector, from 0");
  EXPECT_EQ(summary("at most this many steps (default: sirt 20; or fewer:" + more + ")"),
            "at most this many steps");
  EXPECT_EQ(summary("sirt, os-sirt, sart, mltr, tv: no voxel below and none above these" + more),
            "sirt, os-sirt, sart, mltr, tv: no voxel below and none above ...");
  EXPECT_EQ(summary("a list (of some), and others" + more),
            "a list (of some), and others and more and more and more and ...");
}

TEST(Help, KeepsWordsWholeAndDividesLongOnesAfterABar) {
  EXPECT_EQ(wrapped("aaa bbb  ccc", 7), (Values{"aaa bbb", "ccc"}));
  EXPECT_EQ(wrapped("x aaa|bbb|ccc", 9), (Values{"x", "aaa|bbb|", "ccc"}));
  EXPECT_EQ(wrapped("aaaaaaaaa", 3), Values{"aaaaaaaaa"});
  EXPECT_TRUE(wrapped("", 3).empty());
}

TEST(Help, EndsLinesOfLongExamplesBeforeAnOption) {
  EXPECT_EQ(in_lines("tandem a --bb c --dd e", 17), "tandem a --bb c \\\n    --dd e");
  EXPECT_EQ(in_lines("tandem a --bb c", 5), "tandem a \\\n    --bb c");
  EXPECT_EQ(in_lines("tandem 'a word' b", 5), "tandem 'a word' b");
}

}  // namespace
}  // namespace tandem::options
