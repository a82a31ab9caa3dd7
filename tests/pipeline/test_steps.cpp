// What the steps from counts to line integrals say of themselves.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "../../pipeline/steps/step.hpp"

namespace tandem::pipeline {
namespace {

TEST(Steps, HaveNamesAndOptionsOfTheirOwn) {
  std::set<std::string_view> names, options;
  for (const Step& step : steps()) {
    EXPECT_TRUE(names.insert(step.name).second) << step.name;
    EXPECT_FALSE(step.help.empty()) << step.name;
    for (const StepOption& option : step.options) {
      EXPECT_TRUE(option.name.starts_with("--")) << option.name;
      EXPECT_TRUE(options.insert(option.name).second) << option.name;
      EXPECT_FALSE(option.help.empty()) << option.name;
    }
  }
}

/// Rows before binning, rows after it, sinograms: preprocessing does them in these three rounds.
TEST(Steps, StandInTheOrderInWhichTheyAreDone) {
  const auto round = [](const Step& step) { return step.before_binning ? 0 : step.on_row ? 1 : 2; };
  EXPECT_TRUE(std::ranges::is_sorted(steps(), {}, round));
  for (const Step& step : steps()) {
    EXPECT_NE(step.on_row == nullptr, step.on_sinogram == nullptr) << step.name;
    EXPECT_FALSE(step.before_binning && step.on_sinogram) << step.name;
  }
}

TEST(Steps, ThatNobodyAsksForAreNotDone) {
  std::set<std::string_view> plain, all;
  const auto ask = [](const Preprocessing& how, std::set<std::string_view>& names) {
    for (const Step& step : steps())
      if (step.asked_for(how)) names.insert(step.name);
  };
  ask(preprocessing_of({{"--minus-log", false}}, {0, 16}, 0), plain);
  EXPECT_EQ(plain, (std::set<std::string_view>{"not-finite", "dark-flat", "dead-cells", "lost-rows"}));
  ask(preprocessing_of({{"--air-columns", Range{4, 8}}}, {0, 16}, 1), all);
  plain.insert({"air", "minus-log"});
  EXPECT_EQ(all, plain);
}

}  // namespace
}  // namespace tandem::pipeline
