// What the steps from counts to line integrals say of themselves.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/error.hpp"
#include "../../counts/preprocess.hpp"
#include "../../counts/steps/chain.hpp"
#include "../support/own_steps.hpp"

namespace tandem::pipeline {
namespace {

std::vector<std::string_view> names_of(const Chain& chain) {
  std::vector<std::string_view> names;
  for (const Step* step : chain.steps) names.push_back(step->name);
  return names;
}

std::string fault_of(const StepValues& values) {
  try {
    preprocessing_of(values, {0, 16}, 0);
  } catch (const GeometryError& error) {
    return error.what();
  }
  return "";
}

TEST(Steps, RefuseOptionsThatNoneHas) {
  EXPECT_EQ(fault_of({{"dezinger", 3}}), "");
  EXPECT_EQ(fault_of({{"dezingr", 3}}), "steps: no step has an option 'dezingr'; did you mean dezinger?");
  EXPECT_EQ(fault_of({{"size", 3}}).find("steps: no step has an option 'size'"), 0u);
}

TEST(Steps, TakeWholeNumbersWhereNumbersAreDue) {
  const StepValues whole{{"saturation", 500}};
  EXPECT_EQ(fault_of(whole), "");
  EXPECT_EQ(option::saturation.of(whole), 500.0);
  EXPECT_EQ(fault_of({{"saturation", (Index{1} << 53) + 1}}),
            "saturation: takes a number, and a whole number is given");
  EXPECT_EQ(fault_of({{"saturation", std::string("high")}}),
            "saturation: takes a number, and a word or the name of a file is given");
  EXPECT_EQ(fault_of({{"dezinger", 2.5}}), "dezinger: takes a whole number, and a number is given");
}

TEST(Steps, HaveNamesAndOptionsOfTheirOwn) {
  std::set<std::string_view> names, options;
  for (const Step& step : steps()) {
    EXPECT_TRUE(names.insert(step.name).second) << step.name;
    EXPECT_FALSE(step.help.empty()) << step.name;
    for (const StepOption& option : step.options) {
      EXPECT_FALSE(option.name.empty() || option.name.starts_with("-")) << option.name;
      EXPECT_TRUE(options.insert(option.name).second) << option.name;
      EXPECT_FALSE(option.help.empty()) << option.name;
      for (const StepOption& one : option.behind) {
        EXPECT_NE(one.name.find(':'), std::string_view::npos) << one.name;
        EXPECT_TRUE(options.insert(one.name).second) << one.name;
        EXPECT_FALSE(one.help.empty()) << one.name;
        EXPECT_TRUE(one.behind.empty()) << one.name;
      }
    }
  }
}

TEST(Steps, StandInTheOrderInWhichTheyAreDone) {
  const auto after_binning = [](const Step& step) { return !step.before_binning; };
  EXPECT_TRUE(std::ranges::is_sorted(steps(), {}, after_binning));
  for (const Step& step : steps()) {
    EXPECT_EQ((step.on_row != nullptr) + (step.on_sinogram != nullptr) + (step.on_projection != nullptr), 1)
        << step.name;
    EXPECT_FALSE(step.before_binning && step.on_sinogram) << step.name;
    EXPECT_FALSE(step.before_binning && step.can_wait) << step.name;
  }
}

/// One pass over rows, and lost rows: nothing goes through the data twice.
TEST(Steps, ThatCanWaitComeLastUnlessSinogramsAreNeeded) {
  const Chain plain = chain_of(preprocessing_of({}, {0, 16}, 0));
  EXPECT_EQ(names_of(plain), (std::vector<std::string_view>{"saturation", "not-finite", "dark-flat",
                                                            "minus-log", "dead-cells", "lost-rows"}));
  EXPECT_EQ(plain.before_binning.size(), 1u);
  EXPECT_EQ(plain.after_binning.size(), 2u);
  const Chain with = chain_of({.table = test::with_doubled_rows});
  EXPECT_EQ(names_of(with),
            (std::vector<std::string_view>{"saturation", "not-finite", "dark-flat", "dead-cells", "lost-rows",
                                           "doubled", "minus-log"}));
  EXPECT_EQ(with.after_binning.size(), 3u);  // lost rows and the doubled ones make one pass
}

TEST(Steps, ThatNobodyAsksForAreNotDone) {
  std::set<std::string_view> plain, all;
  const auto ask = [](const Preprocessing& how, std::set<std::string_view>& names) {
    for (const Step& step : steps())
      if (step.asked_for(how)) names.insert(step.name);
  };
  ask(preprocessing_of({{"minus-log", false}}, {0, 16}, 0), plain);
  EXPECT_EQ(plain,
            (std::set<std::string_view>{"saturation", "not-finite", "dark-flat", "dead-cells", "lost-rows"}));
  ask(preprocessing_of({{"air-columns", std::vector<Range>{{4, 8}}}}, {0, 16}, 1), all);
  plain.insert({"air", "minus-log"});
  EXPECT_EQ(all, plain);
}

/// The whole chain in one place: else counts and line integrals go to and fro.
TEST(Steps, AreDoneByAGpuIfItCanDoAllOfThem) {
  const auto by_gpu = [](StepValues values) {
    Preprocessing how = preprocessing_of(values, {0, 200}, 0);
    how.optics = Optics{.bin_mm = 1e-3, .row_mm = 1e-3};
    return gpu_does_all(how);
  };
  StepValues chain{{"dezinger", Index{3}},
                   {"remove-stripe-method", "vo-all"},
                   {"retrieve-phase-method", "paganin"},
                   {"retrieve-phase-method:energy", 20.0},
                   {"retrieve-phase-method:distance", 50.0},
                   {"retrieve-phase-method:delta-beta", 100.0}};
  EXPECT_TRUE(by_gpu({}));
  EXPECT_TRUE(by_gpu({{"minus-log", false}}));
  for (const char* window : {"row", "projection", "cube"}) {
    chain["dezinger:window"] = window;
    EXPECT_TRUE(by_gpu(chain)) << window;
  }
  for (const char* method : {"auto", "fw", "ti", "sf", "raven", "vo-sorting", "vo-filtering", "vo-fitting",
                             "vo-large", "vo-dead", "vo-all"})
    EXPECT_TRUE(by_gpu({{"remove-stripe-method", method}})) << method;
  EXPECT_TRUE(by_gpu({{"remove-stripe-method", "ti"}, {"ti:nblock", Index{4}}}));
  EXPECT_TRUE(by_gpu({{"flat-sets", "each"}, {"air-columns", std::vector<Range>{{0, 9}, {190, 200}}}}));
  chain["dezinger"] = Index{51};  // a cube of that size is no repair
  EXPECT_FALSE(by_gpu(chain));
  Preprocessing of_solvers = preprocessing_of({}, {0, 200}, 0);
  of_solvers.noise = of_solvers.weights = true;
  of_solvers.pose = DetectorPose{0.01, 0.02, {{200, 100, 1, 1, 99}, {}, 300, 400, 50}, 0};
  EXPECT_TRUE(gpu_does_all(of_solvers));
}

}  // namespace
}  // namespace tandem::pipeline
