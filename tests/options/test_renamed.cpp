#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

#include "../../core/spelled.hpp"
#include "../../options/renamed.hpp"

namespace tandem::options {
namespace {

constexpr std::size_t longest = 120;  // letters of a message

std::string letters_of(std::string_view name) {
  std::string kept;
  for (const unsigned char c : name)
    if (std::isalnum(c)) kept += static_cast<char>(std::tolower(c));
  return kept;
}

TEST(Renamed, AnOptionOfAnotherProgramIsToldByItsNameHere) {
  EXPECT_EQ(successor_of_option("--center"), "; tomopy's center is --rotation-axis here, less 0.5");
  EXPECT_EQ(successor_of_option("fbp_filter_type"), "; nabu's fbp_filter_type is --fbp-filter here");
  EXPECT_EQ(successor_of_option("nproc"), "; --nproc is --threads here");
}

TEST(Renamed, AnOptionOfAnOlderTandemIsToldByItsNameNow) {
  EXPECT_EQ(successor_of_option("--start-row"), "; --start-row is --detector-rows A:B now");
  EXPECT_EQ(successor_of_option("--fw-level"), "; --fw-level is --remove-stripe-method fw:level=X now");
  EXPECT_EQ(successor_of_option("vo_large_drop_ratio"),
            "; --vo-large-drop-ratio is --remove-stripe-method vo-large:drop-ratio=X now");
}

TEST(Renamed, CaseDashesAndUnderscoresDoNotCount) {
  const std::string one = successor_of_option("--num-iter");
  EXPECT_EQ(one, "; tomopy's num_iter is --iterations here");
  for (const char* name : {"num_iter", "numIter", "NUM-ITER", "--num_iter", "-numiter"})
    EXPECT_EQ(successor_of_option(name), one) << name;
  const std::string value = successor_of_value("fbp-filter", "ram-lak");
  for (const char* name : {"Ram-Lak", "RAMLAK", "ram_lak"})
    EXPECT_EQ(successor_of_value("--fbp-filter", name), value) << name;
}

TEST(Renamed, AValueIsToldByItsNameHereAndWhatGoesWithIt) {
  EXPECT_EQ(successor_of_value("reconstruction-algorithm", "FBP_CUDA"),
            "; ASTRA's FBP_CUDA is fbp here, with --device cuda");
  EXPECT_EQ(successor_of_value("fbp_filter", "shepp-logan"), "; ASTRA's shepp-logan is shepp here");
  EXPECT_EQ(successor_of_value("device", "gpu:0"), "; gpu is cuda here");
}

TEST(Renamed, AValueBelongsToItsOption) {
  EXPECT_EQ(successor_of_value("phantom", "shepp-logan"), "");
  EXPECT_EQ(successor_of_value("remove-stripe-method", "FBP_CUDA"), "");
  EXPECT_NE(successor_of_value("rotation-axis", "find_center_vo"),
            successor_of_value("rotation-axis-method", "find_center_vo"));
}

TEST(Renamed, WhatNobodyKnowsIsEmpty) {
  for (const char* name : {"", "-", "--", "centre-of-the-world", "start", "fw"})
    EXPECT_EQ(successor_of_option(name), "") << name;
  for (const char* value : {"", ":", "fbp", "cuda", "FBP_CUDA_"})
    EXPECT_EQ(successor_of_value("padding", value), "") << value;
  EXPECT_EQ(successor_of_value("", ""), "");
  EXPECT_EQ(successor_of_option(std::string(100'000, 'x')), "");
}

TEST(Renamed, NoNameStandsTwice) {
  std::set<std::string> options;
  for (const Renamed& row : renamed_options())
    EXPECT_TRUE(options.insert(letters_of(row.name)).second) << row.name;
  for (const std::string_view behind : renamed_stripe_options())
    EXPECT_TRUE(options.insert(letters_of(behind)).second) << behind;
  std::set<std::string> values;
  for (const auto& [option, value] : renamed_values())
    EXPECT_TRUE(values.insert(letters_of(option) + " " + letters_of(value.name)).second) << value.name;
}

TEST(Renamed, NoRowNamesItself) {
  for (const Renamed& row : renamed_options())
    EXPECT_NE('{' + letters_of(row.name) + '}', row.here.substr(0, row.here.find('}') + 1)) << row.name;
  for (const auto& [option, value] : renamed_values()) EXPECT_NE(value.name, value.here) << value.name;
}

TEST(Renamed, EveryMessageIsOneShortClauseWithItsBracesFilled) {
  const auto expect_clause = [](const std::string& text) {
    EXPECT_TRUE(text.starts_with("; ")) << text;
    EXPECT_LE(text.size(), longest) << text;
    EXPECT_EQ(text.find_first_of("{}\n"), std::string::npos) << text;
    EXPECT_NE(text.back(), '.') << text;
  };
  for (const Renamed& row : renamed_options()) expect_clause(successor_of_option(row.name));
  for (const auto& [option, value] : renamed_values()) expect_clause(successor_of_value(option, value.name));
  for (std::string was : {"ti-beta", "vo-all-la-size"}) expect_clause(successor_of_option(was));
}

TEST(Renamed, OptionsAreSpelledAsTheFrontEndHasThem) {
  spell_options_with(Spelling::keywords);
  EXPECT_EQ(successor_of_option("start_row"), "; start_row is detector_rows A:B now");
  EXPECT_EQ(successor_of_value("reconstruction_algorithm", "gridrec"),
            "; tomopy's gridrec is fbp here, with model fourier");
  spell_options_with(Spelling::dashes);
}

}  // namespace
}  // namespace tandem::options
