// What plans make of the options of solvers, and refuse.

#include <gtest/gtest.h>

#include <string>

#include "../../core/error.hpp"
#include "../../pipeline/methods/method.hpp"
#include "../../pipeline/plan/route.hpp"
#include "../support/scans.hpp"

namespace tandem::test {
namespace {

constexpr Index rows = 3, views = 23;

io::ScanInfo scan_info() {
  io::ScanInfo info;
  info.scan = scan_of(views, rows, 64);
  return info;
}

pipeline::Recipe recipe_of(const std::string& method) {
  pipeline::Recipe recipe;
  recipe.method = method;
  return recipe;
}

pipeline::Plan plan_of(const pipeline::Recipe& recipe) { return make_plan(scan_info(), recipe); }

/// Expects that a recipe is refused, in words that name what would do.
void expect_refused(const pipeline::Recipe& recipe, const std::string& words) {
  try {
    plan_of(recipe);
    ADD_FAILURE() << "accepted: " << words;
  } catch (const GeometryError& e) {
    EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
  }
}

TEST(SolverOptions, SubsetsAreFromOneToTheNumberOfViews) {
  pipeline::Recipe recipe = recipe_of("os-sirt");
  EXPECT_EQ(plan_of(recipe).job.options.subsets, 10);
  EXPECT_EQ(plan_of(recipe_of("sart")).job.options.subsets, views);
  EXPECT_FALSE(plan_of(recipe_of("sirt")).job.options.subsets);
  for (const Index count : {Index{1}, Index{7}, views}) {
    recipe.subsets = count;
    EXPECT_EQ(plan_of(recipe).job.options.subsets, count);
  }
  for (const Index count : {Index{-1}, Index{0}, views + 1}) {
    recipe.subsets = count;
    expect_refused(recipe, "give a number from 1 to 23");
  }
  recipe.subsets.reset();
  recipe.views = Range{0, 4};
  EXPECT_EQ(plan_of(recipe).job.options.subsets, 4);
}

TEST(SolverOptions, TheFourierModelHasNoSubsets) {
  pipeline::Recipe recipe = recipe_of("os-sirt");
  recipe.model = Model::fourier;
  expect_refused(recipe, "--model pixel_driven or joseph");
}

TEST(SolverOptions, RulesGoWithSolversThatTellWhatTheyLookAt) {
  pipeline::Recipe gcv = recipe_of("tv"), ncp = recipe_of("tv");
  gcv.tv_weight = ncp.tv_weight = 1;
  gcv.stop_by_gcv = ncp.stop_by_ncp = true;
  expect_refused(gcv, "--stop gcv goes with sirt, cgls");
  expect_refused(ncp, "--stop ncp goes with sirt, os-sirt");
  pipeline::Recipe gap = recipe_of("sirt");
  gap.stop_gap = 1e-3;
  expect_refused(gap, "--stop gap goes with tv, not with sirt");
  gcv.method = "sart";
  expect_refused(gcv, "not with sart");
  for (const char* method : {"cgls", "lsqr", "lsmr", "ba-gmres", "sirt"}) {
    gcv.method = ncp.method = method;
    EXPECT_NO_THROW(plan_of(gcv)) << method;
    EXPECT_NO_THROW(plan_of(ncp)) << method;
  }
}

TEST(SolverOptions, TikhonovLeavesNoNoiseForRulesToFind) {
  pipeline::Recipe recipe = recipe_of("cgls");
  recipe.tikhonov_weight = 2.0f;
  EXPECT_NO_THROW(plan_of(recipe));
  recipe.stop_by_ncp = true;
  expect_refused(recipe, "give one of the two");
}

/// The vectors that BA-GMRES keeps, and the volumes below the data of Tikhonov.
TEST(SolverOptions, MemoryKnowsWhatOptionsAdd) {
  const double volume = 4.0 * rows * 64 * 64;
  const auto bytes = [](const pipeline::Recipe& recipe) { return device_bytes(plan_of(recipe), rows); };
  pipeline::Recipe recipe = recipe_of("ba-gmres");
  recipe.iterations = 5;
  const double five = bytes(recipe);
  recipe.iterations = 25;
  EXPECT_EQ(bytes(recipe) - five, 20 * volume);
  for (const char* method : {"cgls", "lsqr", "lsmr", "ba-gmres"}) {
    pipeline::Recipe damped = recipe_of(method);
    const double plain = bytes(damped);
    damped.tikhonov_weight = 1.0f;
    EXPECT_EQ(bytes(damped) - plain, pipeline::method_named(method).kind.cost.projections * volume) << method;
  }
}

}  // namespace
}  // namespace tandem::test
