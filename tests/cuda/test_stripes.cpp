// Methods that remove stripes on a GPU, against the CPU. Skipped where no GPU is.

#include "../../core/error.hpp"
#include "../support/tolerances.hpp"
#include "step_fixture.hpp"

namespace tandem::test {
namespace {

const std::vector<std::pair<std::string, StepValues>> sorting_methods{
    {"vo-all", {}},
    {"vo-all", {{"vo-all:snr", 1.1}, {"vo-all:dim", Index{2}}, {"vo-all:sm-size", Index{4}}}},
    {"vo-dead", {{"vo-dead:snr", 1.5}}},
    {"vo-dead", {{"vo-dead:snr", 1.5}, {"vo-dead:norm", false}}},
    {"vo-large", {{"vo-large:snr", 1.2}}},
    {"vo-large", {{"vo-large:snr", 1.2}, {"vo-large:norm", false}, {"vo-large:drop-ratio", 0.5}}},
    {"vo-sorting", {}},
    {"vo-sorting", {{"vo-sorting:dim", Index{2}}}}};

TEST_F(CudaSteps, RemoveStripesBySortingToTheBit) {
  for (auto [method, values] : sorting_methods)
    for (const Shape& shape : odd_shapes) {
      if (shape[2] < 4 && values.contains("vo-all:sm-size")) continue;  // the window is wider than a row
      SCOPED_TRACE(method + ' ' + std::to_string(shape[2]));
      values["remove-stripe-method"] = method;
      expect_the_same({.file = shape, .dead = true}, as_transmissions(values));
    }
}

TEST_F(CudaSteps, SortAnyNumberOfViews) {
  for (const Index views : {100, 1024, 1025, 2049, 3073, 4097, 8192})
    expect_the_same({.file = {views, 1, 33}}, {{"remove-stripe-method", "vo-all"}, {"minus-log", false}});
  for (const Index size : {1, 2, 20, 21, 22, 61, 62, 127, 128, 300})
    expect_the_same(
        {.file = {131, 2, 301}},
        {{"remove-stripe-method", "vo-sorting"}, {"vo-sorting:size", size}, {"minus-log", false}});
}

TEST_F(CudaSteps, KeepTheOrderOfEqualValues) {
  for (const char* method : {"vo-sorting", "vo-all"})
    expect_the_same({.file = {211, 2, 65}, .type = PixelType::uint8, .brightest = 12},
                    {{"remove-stripe-method", method}, {"minus-log", false}});
}

TEST_F(CudaSteps, OfMoreViewsThanTheySortTakeTheCpu) {
  const Task task{.file = {8193, 1, 5}};
  Findings found;
  EXPECT_FALSE(on_this_gpu(task, {{"remove-stripe-method", "vo-sorting"}}, found));
  EXPECT_TRUE(found.steps.empty());
}

TEST_F(CudaSteps, RemoveStripesByTheMeansOfColumnsToTheBit) {
  for (const Shape& shape : odd_shapes) {
    const StepValues sf{{"remove-stripe-method", "sf"}}, ti{{"remove-stripe-method", "ti"}},
        masked{{"remove-stripe-method", "ti"}, {"ti:beta", 0.1}, {"ti:mask", 0.6}};
    if (shape[2] >= 5) expect_the_same({.file = shape, .dead = true}, as_transmissions(sf));
    expect_the_same({.file = shape, .dead = true}, as_transmissions(ti));
    expect_the_same({.file = shape, .dead = true}, as_transmissions(masked));
  }
}

/// Sorts of what transforms leave would take other values for the smallest, if these were not the same.
TEST_F(CudaSteps, SortWhatChangesSlowlyToTheBit) {
  for (const Shape& shape : odd_shapes)
    for (const double sigma : {3.0, 11.5, 1e6}) {
      SCOPED_TRACE(std::to_string(shape[0]) + ' ' + std::to_string(sigma));
      StepValues values{{"remove-stripe-method", "vo-filtering"}, {"vo-filtering:sigma", sigma}};
      expect_the_same({.file = shape, .dead = true}, as_transmissions(values));
      values["vo-filtering:dim"] = Index{2};
      values["vo-filtering:size"] = std::min<Index>(shape[2], 4);
      expect_the_same({.file = shape, .dead = true}, as_transmissions(values));
    }
}

TEST_F(CudaSteps, DampWaveletBandsToTheBit) {
  for (const Shape& shape : {Shape{57, 3, 41}, {1, 1, 9}, {2, 1, 5}, {5, 7, 1}, {11, 2, 300}, {300, 2, 131}})
    for (const char* wavelet : {"haar", "db5", "sym16"})
      for (const Index level : {1, 2, 4})
        for (const bool pad : {false, true}) {
          SCOPED_TRACE(std::string(wavelet) + ' ' + std::to_string(shape[0]) + ' ' + std::to_string(level));
          expect_the_same({.file = shape, .dead = true},
                          as_transmissions({{"remove-stripe-method", "fw"},
                                            {"fw:filter", wavelet},
                                            {"fw:level", level},
                                            {"fw:sigma", level == 2 ? 1e6 : 1.5},
                                            {"fw:pad", pad}}));
        }
}

TEST_F(CudaSteps, RefuseMoreLevelsThanASinogramHas) {
  const Task task{.file = {20, 1, 30}};
  Findings found;
  EXPECT_THROW(on_this_gpu(task, {{"remove-stripe-method", "fw"}, {"fw:level", Index{9}}}, found),
               GeometryError);
}

/// There are a wide stripe, dead columns, and gains that differ.
TEST_F(CudaSteps, FindStripesAsTheCpuDoes) {
  const StepValues values{{"remove-stripe-method", "auto"}};
  for (const bool wide : {false, true})
    for (const Shape& shape : {Shape{57, 4, 141}, {16, 3, 32}, {300, 3, 131}, {11, 3, 300}, {40, 3, 31}}) {
      SCOPED_TRACE(std::to_string(shape[0]) + ' ' + std::to_string(wide));
      const Task task{
          .file = shape, .mixes = wide, .dead = true, .wide_stripe = wide, .above = 1, .below = 1};
      expect_the_same(task, as_transmissions(values));
      expect_the_same(task, values, tolerance::steps_with_logarithms);
    }
}

TEST_F(CudaSteps, FindStripesOfEveryKind) {
  const Task task{.file = {57, 4, 141}, .wide_stripe = true};
  Findings found;
  ASSERT_TRUE(on_this_gpu(task, {{"remove-stripe-method", "auto"}}, found));
  const auto stripes =
      std::ranges::find_if(found.steps, [](const auto& step) { return step.name == "stripes"; });
  ASSERT_NE(stripes, found.steps.end());
  for (const char* what :
       {"dead or failing columns interpolated", "wide stripes taken out", "faint stripes taken out"})
    EXPECT_GT(stripes->notes[what], 0) << what;
}

/// The axis is where it is, elsewhere, and not known.
TEST_F(CudaSteps, FindSoftStripesAsTheCpuDoes) {
  for (const Index views : {63, 64, 257, 2100})
    for (const std::optional<double> axis : {std::optional<double>(99.5), {20.0}, {}}) {
      SCOPED_TRACE(views);
      const Task task{.file = {views, 3, 200}, .soft_stripe = true, .above = 1, .below = 1};
      for (StepValues values : {StepValues{}, as_transmissions({})}) {
        values["remove-stripe-method"] = "auto";
        Preprocessing how = preprocessing_of(values, {0, 200}, 0);
        how.axis = axis;
        expect_the_same(task, how, how.minus_log ? tolerance::steps_with_logarithms : 0);
      }
    }
}

TEST_F(CudaSteps, FindStripesOfAnyNumberOfViews) {
  for (const Index views : {1024, 1025, 2049, 4097, 8192})
    expect_the_same({.file = {views, 1, 40}}, {{"remove-stripe-method", "auto"}, {"minus-log", false}});
}

TEST_F(CudaSteps, StraightenBlocksOfViewsToTheBit) {
  for (const Shape& shape : odd_shapes)
    for (const Index blocks : {0, 1, 3})
      for (const double alpha : {0.0, 1.5}) {
        if (blocks > shape[0]) continue;
        StepValues values{{"remove-stripe-method", "ti"}, {"ti:nblock", blocks}};
        if (alpha > 0) values["ti:alpha"] = alpha;
        expect_the_same({.file = shape, .dead = true}, as_transmissions(values));
      }
}

TEST_F(CudaSteps, DivideByFits) {
  for (const Shape& shape : {Shape{57, 3, 41}, {1, 1, 9}, {2, 1, 5}, {3, 2, 1}, {40, 2, 300}, {301, 2, 33}})
    for (const Index order : {1, 3}) {
      SCOPED_TRACE(std::to_string(shape[0]) + ' ' + std::to_string(order));
      expect_the_same({.file = shape, .dead = true},
                      as_transmissions({{"remove-stripe-method", "vo-fitting"}, {"vo-fitting:order", order}}),
                      tolerance::steps_with_fits);
    }
}

TEST_F(CudaSteps, DampFrequenciesOfSinograms) {
  for (const Shape& shape : odd_shapes)
    expect_the_same({.file = shape, .dead = true}, as_transmissions({{"remove-stripe-method", "raven"}}),
                    tolerance::steps_with_logarithms);
}

}  // namespace
}  // namespace tandem::test
