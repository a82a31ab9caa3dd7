// Low doses and few views: `tv` with no number given, against FBP with the best of all windows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../counts/weights.hpp"
#include "../../forecast/forecast.hpp"
#include "../../pipeline/methods/method.hpp"
#include "../../pipeline/plan/grids.hpp"
#include "../../solvers/pdhg.hpp"
#include "../../solvers/weight_search.hpp"
#include "../support/memory_reader.hpp"
#include "../support/operators.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"
#include "../support/test_data.hpp"

namespace tandem::pipeline {
namespace {

/// A parallel beam; one row each of some height for each slice.
Simulation parallel_simulation(const char* phantom, Index bins, Index slices, Index views, double photons) {
  Simulation s;
  s.phantom = phantom;
  detector_of(s.scan) = {bins, slices, 1, 1, 0.5 * static_cast<double>(bins - 1)};
  angles_of(s.scan) = test::regular_angles(views, half_turn);
  s.grid = fitting_grid(s.scan);
  s.photons = photons;
  return s;
}

Simulation cone_simulation_of(Index rows, Index views, double photons) {
  Simulation s;
  s.phantom = "ellipsoids";
  s.scan = ConeBeam{{88, rows, 2, 2, 43.5},
                    test::regular_angles(views, whole_turn),
                    200,
                    400,
                    0.5 * static_cast<double>(rows - 1)};
  s.grid = fitting_grid(s.scan);
  s.grid.size = {64, 64, rows == 1 ? 1 : 64};
  s.photons = photons;
  return s;
}

class LowDose : public ::testing::Test {
 protected:
  void simulate(const Simulation& s) {
    const SimulatedScan scan(s);
    test::write_scan(path_, scan);
    size_ = s.grid.size;
    truth_.resize(static_cast<std::size_t>(size_[0] * size_[1] * size_[2]));
    scan.truth({0, size_[2]}, truth_);
    largest_ = *std::max_element(truth_.begin(), truth_.end());
  }
  Recipe recipe_for(const std::string& method) const {
    Recipe recipe;
    recipe.method = method;
    recipe.size = size_[0];
    if (size_[2] > 1) recipe.slices = size_[2];
    return recipe;
  }
  /// Peak signal to noise of a volume, dB.
  double psnr(const std::vector<float>& volume) const {
    double squares = 0;
    for (std::size_t i = 0; i < volume.size(); ++i)
      squares += std::pow(static_cast<double>(volume[i]) - static_cast<double>(truth_[i]), 2);
    return 10 * std::log10(std::pow(static_cast<double>(largest_), 2) * static_cast<double>(volume.size()) /
                           squares);
  }
  double psnr(const Recipe& recipe) const { return psnr(test::reconstructed(path_, recipe)); }
  double best_of_windows() const {
    double best = 0;
    for (const std::string_view name : window_names())
      for (const double cutoff : {1.0, 0.7, 0.5, 0.35}) {
        Recipe recipe = recipe_for("fbp");
        recipe.fbp_filter.window = window_named(std::string(name));
        recipe.fbp_filter.cutoff = cutoff;
        best = std::max(best, psnr(recipe));
      }
    return best;
  }
  Plan looked_ahead(const Recipe& recipe) const {
    const auto reader = io::open_scan(path_);
    Plan plan = make_plan(reader->info(), recipe);
    look_ahead(*reader, plan);
    return plan;
  }

  test::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "scan.h5";
  std::array<Index, 3> size_{};
  std::vector<float> truth_;
  float largest_ = 0;
};

TEST_F(LowDose, OfAParallelBeamGainsMoreThan6Db) {
  simulate(parallel_simulation("shepp-logan", 256, 1, 120, 5e3));
  EXPECT_GT(psnr(recipe_for("tv")), best_of_windows() + 6);
}

TEST_F(LowDose, OfFewViewsGainsMoreThan6Db) {
  simulate(parallel_simulation("shepp-logan", 128, 1, 24, 1e5));
  EXPECT_GT(psnr(recipe_for("tv")), best_of_windows() + 6);
}

TEST_F(LowDose, OfAFanGainsMoreThan4Db) {
  simulate(cone_simulation_of(1, 60, 1e4));
  EXPECT_GT(psnr(recipe_for("tv")), best_of_windows() + 4);
}

TEST_F(LowDose, OfAConeGainsMoreThan4Db) {
  simulate(cone_simulation_of(72, 60, 3e3));
  EXPECT_GT(psnr(recipe_for("tv")), best_of_windows() + 4);
}

/// The grid is wider than the field, where FBP has no picture, and the object ends at its rim.
TEST_F(LowDose, BeginsWithAirWhereFewViewsLook) {
  Simulation s = cone_simulation_of(1, 90, 2e4);
  s.grid = fitting_grid(s.scan);
  simulate(s);
  Recipe recipe;
  recipe.method = "tv", recipe.tv_weight = 0.15f, recipe.tv_huber = 1e-4f, recipe.iterations = 300;
  const std::vector<float> end = test::reconstructed(path_, recipe);
  recipe.iterations = 10;
  const std::vector<float> soon = test::reconstructed(path_, recipe);
  double off = 0, all = 0;
  for (std::size_t i = 0; i < end.size(); ++i)
    off += std::pow(double{soon[i]} - double{end[i]}, 2), all += std::pow(double{end[i]}, 2);
  EXPECT_LE(std::sqrt(off / all), 0.03);
}

/// By default steps end when the picture does, and steps that are asked for are made.
TEST_F(LowDose, StepsEndWhenTheVolumeHasSettled) {
  simulate(cone_simulation_of(1, 60, 1e4));
  Recipe recipe = recipe_for("tv");
  recipe.tv_weight = 0.1f;
  const std::vector<float> settled = test::reconstructed(path_, recipe);
  recipe.iterations = 1000;
  const std::vector<float> end = test::reconstructed(path_, recipe);
  const std::vector<float> begin = test::reconstructed(path_, recipe_for("fbp"));
  double off = 0, way = 0;
  for (std::size_t i = 0; i < end.size(); ++i)
    off += std::pow(double{settled[i]} - double{end[i]}, 2),
        way += std::pow(double{begin[i]} - double{end[i]}, 2);
  EXPECT_LE(std::sqrt(off / way), 0.1);
  EXPECT_GT(off, 0);
}

/// Many photons and views: the weight is small, and the volume no worse than that of FBP.
TEST_F(LowDose, HighDosesAreNotSpoilt) {
  simulate(parallel_simulation("ellipsoids", 96, 1, 200, 1e6));
  EXPECT_GT(psnr(recipe_for("tv")), psnr(recipe_for("fbp")));
}

/// Applications of A to all slices that are solved, in units of what the default solver takes: its
/// preparation and 100 steps.
double share_of_solve(const Plan& plan, const Searched& searched) {
  const double steps = static_cast<double>((Pdhg::cost.preparation + 100 * Pdhg::cost.step).together());
  const auto [nx, ny, nz] = plan.job.solved.size;
  const Index slices = solved_slices(plan.job, {0, plan.job.grid.size[2]}).size();
  return searched.updates / (steps * static_cast<double>(nx * ny * slices) *
                             static_cast<double>(angles_of(plan.job.scan).size()));
}

TEST_F(LowDose, TheSearchCostsLessThanASolve) {
  Simulation fan = cone_simulation_of(1, 90, 2e3);
  fan.scan = FanBeam{{{176, 1, 2, 2, 87.5}, test::regular_angles(90, whole_turn), 400, 800, 0}};
  fan.grid.size = {128, 128, 1};
  for (const Simulation& s :
       {parallel_simulation("shepp-logan", 128, 1, 24, 1e5), parallel_simulation("foam", 128, 1, 60, 2e3),
        fan, cone_simulation_of(72, 60, 3e3)}) {
    simulate(s);
    const auto reader = io::open_scan(path_);
    Plan plan = make_plan(reader->info(), recipe_for("tv"));
    EXPECT_TRUE(plan.job.looks_ahead);
    const Searched searched = look_ahead(*reader, plan);
    EXPECT_LE(share_of_solve(plan, searched), 0.4) << s.phantom << kind_of(s.scan);
    EXPECT_GE(searched.trials, 2);
    EXPECT_GT(searched.seconds, 0);
    EXPECT_EQ(searched.slices, plan.job.grid.size[2]);
  }
}

/// The forecast and the progress tell of it before; the time tells of it afterwards.
TEST_F(LowDose, TheSearchIsToldOf) {
  simulate(parallel_simulation("ellipsoids", 64, 2, 30, 1e4));
  const auto reader = io::open_scan(path_);
  Recipe recipe = recipe_for("tv");
  const Plan plan = make_plan(reader->info(), recipe);
  const auto search = [&](const Plan& planned) {
    for (const StationWork& work : work_of(planned, reader->info(), {"", ""}, {Range{0, 2}}))
      if (work.name == "search") return work.amount;
    return 0.0;
  };
  EXPECT_EQ(search(plan), usual_applications_of_search / 2 * 64 * 64 * 2 * 30);
  Options options;
  double done = 0;
  bool tells_the_trial = false;
  options.progress = [&](const Stage& at) {
    if (at.name != "look ahead") return;
    EXPECT_GE(at.done, done);
    EXPECT_LE(at.done, at.total);
    done = at.done;
    tells_the_trial = tells_the_trial || at.detail.starts_with("trial 2, weight");
  };
  test::MemoryWriter writer(plan.job.grid.shape());
  const Outcome outcome = reconstruct(*reader, plan, writer, options);
  EXPECT_TRUE(tells_the_trial);
  EXPECT_GT(done, 1.9);
  EXPECT_EQ(outcome.seconds.search, outcome.searched.seconds);
  EXPECT_GT(outcome.seconds.search, 0);
  EXPECT_GT(outcome.seconds.total, outcome.seconds.search);
  recipe.tv_weight = 1;
  EXPECT_EQ(search(make_plan(reader->info(), recipe)), 0);
}

/// Two thirds of a half turn. A weight that is given needs no search, and no such words.
TEST_F(LowDose, AnOpenArcTellsLittleOfTheWeight) {
  Simulation open = parallel_simulation("ellipsoids", 48, 1, 40, 1e4);
  angles_of(open.scan) = test::regular_angles(40, 2 * half_turn / 3);
  simulate(open);
  const auto reader = io::open_scan(path_);
  const auto told = [&](const Recipe& recipe) {
    return std::ranges::count_if(make_plan(reader->info(), recipe).warnings, [](const std::string& warning) {
      return warning.find("tell little of the weight") != std::string::npos;
    });
  };
  Recipe recipe = recipe_for("tv");
  EXPECT_EQ(told(recipe), 1);
  recipe.tv_weight = 1;
  EXPECT_EQ(told(recipe), 0);
}

/// The halves are filtered by the ramp, whatever makes the first volume.
TEST_F(LowDose, WindowsDoNotChangeTheWeight) {
  simulate(parallel_simulation("ellipsoids", 48, 1, 60, 1e4));
  Recipe recipe = recipe_for("tv");
  const float weight = *looked_ahead(recipe).job.options.tv_weight;
  for (const Window window : {Window::hann, Window::none}) {
    recipe.fbp_filter = {.window = window, .cutoff = 0.3};
    EXPECT_EQ(*looked_ahead(recipe).job.options.tv_weight, weight);
  }
}

/// Each half has views of both sides of the axis. With one side each, the weight was 45 times too large.
TEST_F(LowDose, OfAHalfAcquisitionTheWeightIsNearTheBest) {
  Simulation s = parallel_simulation("ellipsoids", 96, 1, 240, 3e3);
  angles_of(s.scan) = test::regular_angles(240, whole_turn);
  detector_of(s.scan).axis_bin = 70;
  s.grid = fitting_grid(s.scan);
  simulate(s);
  Recipe recipe = recipe_for("tv");
  const float weight = *looked_ahead(recipe).job.options.tv_weight;
  const double found = psnr(recipe);
  for (const float factor : {0.25f, 0.5f, 2.0f, 4.0f}) {
    recipe.tv_weight = factor * weight;
    EXPECT_LT(psnr(recipe), found + 1) << factor;
  }
}

/// Rows with axes of their own are not the rows of A.
TEST_F(LowDose, TakesRowsWithAxesOfTheirOwn) {
  simulate(parallel_simulation("ellipsoids", 64, 4, 60, 1e4));
  Recipe recipe = recipe_for("tv");
  recipe.row_axis_bins = {31.5, 31.5, 31.5, 31.5001};
  EXPECT_NEAR(psnr(recipe), psnr(recipe_for("tv")), 0.5);
}

TEST_F(LowDose, OneViewHasNoHalvesAndFewTellLittle) {
  const auto plan_with = [&](Index views, std::optional<float> weight) {
    simulate(parallel_simulation("ellipsoids", 48, 1, views, 1e4));
    Recipe recipe = recipe_for("tv");
    recipe.tv_weight = weight;
    return make_plan(io::open_scan(path_)->info(), recipe);
  };
  test::expect_refused([&] { plan_with(1, {}); }, "one view is read; give --tv-weight X");
  EXPECT_NO_THROW(plan_with(1, 0.1f));
  const auto tells = [](const Plan& plan) {
    return std::ranges::any_of(plan.warnings, [](const std::string& warning) {
      return warning.find("views tell little of the weight") != std::string::npos;
    });
  };
  EXPECT_TRUE(tells(plan_with(29, {})));
  EXPECT_FALSE(tells(plan_with(29, 0.1f)));
  EXPECT_FALSE(tells(plan_with(30, {})));
}

/// Measured: every eighth of 181 views of a tooth, against what all of them make.
TEST(MeasuredLowDose, OfAToothIsNearerToAllViewsThanFbpIs) {
  const std::filesystem::path tooth = test::test_data() / "dxchange/tooth.h5";
  if (!exists(tooth)) GTEST_SKIP() << tooth << " is not there";
  Recipe recipe;
  recipe.axis_bin = 295.5;
  recipe.rows = Range{0, 1};
  recipe.bins = Range{110, 480};  // the tooth, and air on both sides
  recipe.fbp_filter.window = Window::hann;
  const std::vector<float> all = test::reconstructed(tooth, recipe);
  const auto few = io::open_scan(tooth, {.view_step = 8});
  const auto error = [&](const Recipe& how) {
    return test::relative_error(test::reconstructed(*few, make_plan(few->info(), how)), all);
  };
  double best = INFINITY;
  for (const Window window : {Window::hann, Window::parzen})
    for (const double cutoff : {1.0, 0.7, 0.5, 0.35, 0.25, 0.18}) {
      recipe.fbp_filter = {.window = window, .cutoff = cutoff};
      best = std::min(best, error(recipe));
    }
  recipe.fbp_filter = {};
  recipe.method = "tv";
  EXPECT_LT(error(recipe), 0.85 * best);
}

TEST_F(LowDose, OneWeightServesAllSlicesAndNothingElseDecidesIt) {
  simulate(parallel_simulation("ellipsoids", 48, 9, 30, 1e4));
  Recipe recipe = recipe_for("tv");
  recipe.iterations = 10;
  const Plan plan = looked_ahead(recipe);
  ASSERT_TRUE(plan.job.options.tv_weight.has_value());
  EXPECT_GT(*plan.job.options.tv_weight, 0);
  const std::vector<float> whole = test::reconstructed(path_, recipe);
  for (const Index at_once : {1, 4})
    EXPECT_TRUE(test::same_bits(whole, test::reconstructed(path_, recipe, at_once)));
  {
    const ThreadLimit one(1);
    EXPECT_TRUE(test::same_bits(whole, test::reconstructed(path_, recipe)));
  }
  recipe.tv_weight = plan.job.options.tv_weight;
  EXPECT_TRUE(test::same_bits(whole, test::reconstructed(path_, recipe)));
  recipe.tv_weight = 4 * *plan.job.options.tv_weight;
  EXPECT_FALSE(test::same_bits(whole, test::reconstructed(path_, recipe)));
}

TEST_F(LowDose, DataWeighAsTheirCountsSayWhereThereAreAny) {
  simulate(parallel_simulation("ellipsoids", 48, 2, 30, 1e4));
  const auto weighs = [&](const Recipe& recipe) {
    return make_plan(io::open_scan(path_)->info(), recipe).job.preprocessing.weights;
  };
  EXPECT_TRUE(weighs(recipe_for("tv")));
  EXPECT_FALSE(weighs(recipe_for("cgls")));
  for (const auto& [option, value] : {std::pair<std::string, StepValue>{"minus-log", false},
                                      {"beam-hardening", std::vector<double>{1, 0.1}}}) {
    Recipe recipe = recipe_for("tv");
    recipe.steps[option] = value;
    EXPECT_EQ(weighs(recipe), option == "beam-hardening") << option;
    recipe.tv_weight = 1;
    recipe.iterations = 2;
    for (const float x : test::reconstructed(path_, recipe)) ASSERT_TRUE(std::isfinite(x));
  }
  Recipe recipe = recipe_for("tv");
  recipe.photons = 1e4;
  EXPECT_THROW(weighs(recipe), GeometryError) << "counts tell their photons";
  option::minus_log.set(recipe.steps, false);
  EXPECT_TRUE(weighs(recipe));
}

/// Flats of 100, 400 and 25 counts with one dead cell; 5 flats.
TEST(DataWeights, AreOneOverTheVarianceAndItsMedian) {
  const std::vector<float> flat{100, 400, 0, 25};
  std::vector<float> flats;
  for (int k = 0; k < 5; ++k) flats.insert(flats.end(), flat.begin(), flat.end());
  test::ReferencesInMemory reader(test::floats({5, 1, 4}, flats), test::floats({1, 1, 4}, {0, 0, 0, 0}));
  Preprocessing how = preprocessing_of({}, {0, 4}, 0);
  how.weights = true;
  const Reference reference = read_reference(reader, {0, 1}, {0, 4}, how);
  Findings findings;
  const io::Frames views = test::floats({1, 1, 4}, {50, 40, 7, 20});
  const LineIntegrals lines = preprocess(views, reference, how, Space({1, 1, 4}, Blocks::rows), findings);
  ASSERT_TRUE(lines.weights.has_value());
  // counts, and five flats
  const std::array<double, 3> v{1.0 / 50 + 1.0 / 500, 1.0 / 40 + 1.0 / 2000, 1.0 / 20 + 1.0 / 125};
  const double median = v[1];
  double sum = 0;
  for (const double one : v) sum += 1 / (one + median);
  const float* w = lines.weights->data();
  for (const auto& [at, of] : {std::pair{0, 0}, {1, 1}, {3, 2}})
    EXPECT_NEAR(w[at], 4 / (v[static_cast<std::size_t>(of)] + median) / sum, 1e-5);
  EXPECT_EQ(w[2], 0);
}

/// Line integrals of air and below, of many and of hardly any photons, and beyond half a one; all finite.
TEST(DataWeights, OfLineIntegralsFollowFromThePhotonsInAir) {
  constexpr double photons = 100;
  const std::vector<float> y{0, -0.02F, 0.5F, 3, 4.9F, 12, -50};
  const Index bins = std::ssize(y);
  for (const int binning : {0, 1}) {
    const Index cells = Index{1} << binning;  // as many of the file become one, along each axis
    std::vector<float> pixels;
    for (Index row = 0; row < cells; ++row)
      for (const float one : y) pixels.insert(pixels.end(), static_cast<std::size_t>(cells), one);
    test::ReferencesInMemory reader(test::floats({0, 1, bins * cells}, {}),
                                    test::floats({0, 1, bins * cells}, {}));
    Preprocessing how = preprocessing_of({{"minus-log", false}}, {0, bins * cells}, binning);
    how.rows_together = cells;
    how.photons = photons;
    how.noise = how.weights = true;
    const Reference reference = read_reference(reader, {0, cells}, {0, bins * cells}, how);
    Findings findings;
    const LineIntegrals lines = preprocess(test::floats({1, cells, bins * cells}, pixels), reference, how,
                                           Space({1, 1, bins}, Blocks::rows), findings);
    std::vector<double> v;
    for (const float one : y)
      v.push_back(1 / (photons * std::clamp(std::exp(-double{one}), 0.5 / photons, std::exp(1.0)) *
                       static_cast<double>(cells * cells)));
    std::vector<double> sorted = v;
    std::ranges::sort(sorted);
    const double median = sorted[sorted.size() / 2];
    double sum = 0, all = 0;
    for (const double one : v) sum += 1 / (one + median), all += one;
    for (std::size_t k = 0; k < v.size(); ++k) {
      EXPECT_EQ(lines.y.data()[k], y[k]);
      EXPECT_NEAR(lines.weights->data()[k], static_cast<double>(bins) / (v[k] + median) / sum, 1e-5) << y[k];
    }
    ASSERT_EQ(lines.noise_norms.size(), 1U);
    EXPECT_NEAR(lines.noise_norms[0], std::sqrt(all), 1e-6 * std::sqrt(all));
  }
}

/// Rows with margins, and each row with a mean of its own; a row of a fan with one for all.
TEST(DataWeights, HaveTheMeanOneInEachBlock) {
  for (const Blocks blocks : {Blocks::rows, Blocks::whole}) {
    Array variances(Space({3, 4, 50}, blocks));
    Random random(3);
    for (Index i = 0; i < variances.size(); ++i)
      variances.data()[i] =
          i % 11 == 0 ? INFINITY : static_cast<float>(0.01 + random.uniform() * (1 + i / 50 % 4));
    const Array weights = weights_of(variances.clone());
    std::array<double, 4> sums{};
    for (Index i = 0; i < weights.size(); ++i) {
      EXPECT_EQ(weights.data()[i] == 0, i % 11 == 0);
      sums[static_cast<std::size_t>(i / 50 % 4)] += static_cast<double>(weights.data()[i]) / 150;
    }
    if (blocks == Blocks::rows) {
      for (const double mean : sums) EXPECT_NEAR(mean, 1, 1e-5);
    } else {
      EXPECT_GT(sums[0], 1.3 * sums[3]);
    }
    EXPECT_NEAR(sums[0] + sums[1] + sums[2] + sums[3], 4, 1e-5);
  }
}

/// The median of so many data is taken of every second one.
TEST(DataWeights, DoNotDependOnThePlaceOfARowInItsChunk) {
  constexpr Index views = 1030, bins = 1021;
  Array variances(Space({views, 2, bins}, Blocks::rows));
  Random random(3);
  for (Index view = 0; view < views; ++view)
    for (Index bin = 0; bin < bins; ++bin)
      variances.data()[2 * view * bins + bin] = variances.data()[(2 * view + 1) * bins + bin] =
          static_cast<float>(0.01 + random.uniform());
  const Array weights = weights_of(std::move(variances));
  for (Index view = 0; view < views; ++view)
    for (Index bin = 0; bin < bins; ++bin)
      ASSERT_EQ(weights.data()[2 * view * bins + bin], weights.data()[(2 * view + 1) * bins + bin]);
}

}  // namespace
}  // namespace tandem::pipeline
