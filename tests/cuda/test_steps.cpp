// Preprocessing steps on a GPU, each and all together, against the CPU. Skipped where no GPU is.

#include "../../core/units.hpp"
#include "../../kernels/frames.hpp"
#include "../support/tolerances.hpp"
#include "step_fixture.hpp"

namespace tandem::test {
namespace {

TEST_F(CudaSteps, ReplaceZingersOfEveryWindow) {
  for (const char* window : {"row", "projection", "cube"})
    for (const char* sign : {"bright", "both"})
      for (const Index size : {2, 3, 4, 5, 7}) {
        if (std::string(window) == "cube" && size % 2 == 0) continue;
        const StepValues values = as_transmissions(zingers(size, window, sign));
        for (const Shape& shape : odd_shapes)
          if (size <= shape[2]) expect_the_same({.file = shape}, values);
      }
}

TEST_F(CudaSteps, ReplaceZingersInCountsOfEveryType) {
  for (const PixelType type : {PixelType::uint8, PixelType::uint16, PixelType::uint32, PixelType::float32})
    for (const int binning : {0, 1}) {
      const float brightest = type == PixelType::uint8 ? 200 : type == PixelType::uint32 ? 4e9f : 40000;
      const StepValues values = as_transmissions(zingers(3, "cube", "both", 0.1 * brightest));
      expect_the_same({.file = {13, 8, 39},
                       .type = type,
                       .binning = binning,
                       .above = 1,
                       .below = 1,
                       .brightest = brightest},
                      values);
    }
}

/// A low threshold takes the median of many pixels.
TEST_F(CudaSteps, TakeExactMedians) {
  expect_the_same({.file = {3, 20, 33}}, as_transmissions(zingers(5, "projection", "both", 1e-3)));
}

/// 20 keV, 50 mm behind the sample, pixels of 1 micrometre.
StepValues phase(const std::string& method, double delta_beta) {
  return {{"retrieve-phase-method", method},
          {"retrieve-phase-method:energy", 20.0},
          {"retrieve-phase-method:distance", 50.0},
          {"retrieve-phase-method:delta-beta", delta_beta}};
}
constexpr Optics micrometres{.bin_mm = 1e-3, .row_mm = 1e-3};

TEST_F(CudaSteps, RetrievePhase) {
  for (const char* method : {"paganin", "gpaganin"})
    for (const double delta_beta : {8.0, 300.0})
      for (const Shape& shape : {Shape{3, 90, 101}, Shape{1, 1, 9}, Shape{70, 6, 1}, Shape{2, 200, 33}})
        expect_the_same({.file = shape, .mixes = true, .dead = true}, phase(method, delta_beta),
                        tolerance::steps_with_transforms, micrometres);
}

TEST_F(CudaSteps, RetrievePhaseOfAChunkAsOfTheWhole) {
  expect_the_same({.file = {3, 150, 61}, .above = 60, .below = 50, .first_row = 5}, phase("paganin", 20),
                  tolerance::steps_with_transforms, micrometres);
  expect_the_same({.file = {3, 80, 61}, .above = 0, .below = 50, .first_row = 77}, phase("paganin", 20),
                  tolerance::steps_with_transforms, micrometres);
}

/// All that a scan may need, in their order, with margins and with floors behind other steps.
TEST_F(CudaSteps, AllTogetherAreTheCpus) {
  for (const bool mixes : {false, true})
    for (const bool dead : {false, true})
      for (const int binning : {0, 1, 2}) {
        StepValues values = phase("paganin", 20);
        values.merge(zingers(3, binning == 1 ? "cube" : "row", "bright"));
        values["remove-stripe-method"] = std::string("vo-all");
        const Index file = Index{1} << binning;
        expect_the_same({.file = {45, 70 * file, 57 * file},
                         .binning = binning,
                         .mixes = mixes,
                         .dead = dead,
                         .above = 20,
                         .below = 30,
                         .first_row = 9},
                        values, tolerance::steps_with_transforms, micrometres);
      }
}

/// Each row has floors of its own then. Margins of one bin, and wider than a warp.
TEST_F(CudaSteps, DivideByAir) {
  const StepValues values{{"air-columns", std::vector<Range>{{1, 40}}}};
  for (const std::vector<Range>& margins :
       {std::vector<Range>{{1, 40}}, {{1, 40}, {44, 90}}, {{3, 4}, {87, 88}}, {{7, 8}}})
    for (const bool mixes : {false, true})
      for (const bool dead : {false, true}) {
        const StepValues air{{"air-columns", margins}};
        const Task task{.file = {19, 5, 90}, .mixes = mixes, .dead = dead, .above = 1, .below = 1};
        expect_the_same(task, air, tolerance::steps_with_logarithms);
      }
  StepValues with_stripes = values;
  with_stripes["remove-stripe-method"] = "vo-all";
  expect_the_same({.file = {39, 3, 90}, .mixes = true, .dead = true}, with_stripes,
                  tolerance::steps_with_logarithms);
}

StepValues hardened(std::vector<double> coefficients) {
  StepValues values;
  values["beam-hardening"] = std::move(coefficients);
  return values;
}

TEST_F(CudaSteps, StraightenBeamHardening) {
  expect_the_same({.file = {19, 5, 41}, .dead = true}, hardened({1, 0.2, 0.01}),
                  tolerance::steps_with_logarithms);
}

TEST_F(CudaSteps, RepairCells) {
  for (const bool wide : {false, true}) {
    const Task task{
        .file = {9, 12, 45}, .mixes = true, .dead = true, .wide_dead = wide, .above = 4, .below = 2};
    expect_the_same(task, as_transmissions({{"repair-cells", true}}));
    expect_the_same(task, {{"repair-cells", true}}, tolerance::steps_with_logarithms);
  }
}

TEST_F(CudaSteps, LevelARolledDetector) {
  for (const double degrees : {1.3, -1.3})
    for (const Shape& shape : {Shape{7, 40, 301}, Shape{2, 1, 30}, Shape{1, 9, 1}})
      expect_the_same({.file = shape, .dead = true}, as_transmissions({{"detector-roll", degrees}}));
}

TEST_F(CudaSteps, DivideEachViewByItsOwnFlats) {
  for (const Shape& shape : odd_shapes) {
    const Task task{.file = shape, .each = true, .dead = true};
    expect_the_same(task, as_transmissions({}));
    expect_the_same(task, StepValues{}, tolerance::steps_with_logarithms);
    expect_the_same(task, {{"remove-stripe-method", "ti"}}, tolerance::steps_with_logarithms);
  }
}

/// Views of the file begin at the third.
TEST_F(CudaSteps, MoveRowsOfViews) {
  for (const Shape& shape : {Shape{7, 40, 301}, Shape{2, 1, 30}, Shape{9, 9, 1}, Shape{1, 2, 9}}) {
    std::vector<double> shifts;
    for (Index view = 0; view < shape[0] + 3; ++view)
      shifts.push_back(view % 4 == 3 ? 0 : 1.7 * static_cast<double>(view % 5 - 2) + 0.25);
    const Task task{.file = shape, .dead = true};
    Preprocessing how = preprocessing_of({{"minus-log", false}}, {0, shape[2]}, 0);
    how.row_shifts = shifts;
    expect_the_same(task, how);
  }
}

/// The CPU then says what is wrong.
TEST_F(CudaSteps, ThatAreAnErrorTakeTheCpu) {
  const Task dark{.file = {5, 3, 41}, .brightest = 0}, bright{.file = {5, 3, 41}};
  const auto taken = [&](const Task& task, const StepValues& values) {
    const Preprocessing how = preprocessing_of(values, {0, 41}, 0);
    Findings found;
    Reference ref = reference_of(bright);
    return preprocess_on_gpu(on_gpu(frames_of(task), gpu), ref, how, task.space().on(gpu), found).has_value();
  };
  EXPECT_TRUE(taken(bright, {{"air-columns", std::vector<Range>{{1, 20}}}}));
  EXPECT_FALSE(taken(dark, {{"air-columns", std::vector<Range>{{1, 20}}}}));
  EXPECT_FALSE(taken(dark, {{"air-columns", std::vector<Range>{{1, 4}, {20, 30}}}}));
  EXPECT_TRUE(taken(bright, hardened({1})));
  EXPECT_FALSE(taken(bright, hardened({1, -2})));
}

TEST_F(CudaSteps, TakeLogarithmsBehindOtherSteps) {
  for (const bool mixes : {false, true})
    for (const bool dead : {false, true})
      expect_the_same({.file = {33, 4, 50}, .mixes = mixes, .dead = dead, .above = 1},
                      {{"remove-stripe-method", "vo-sorting"}}, tolerance::steps_with_logarithms);
}

/// Windows with few pixels that are finite, of every kind.
TEST_F(CudaSteps, ReplaceZingersBesideCountsThatAreNotFinite) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (const char* window : {"row", "projection", "cube"})
    for (const char* sign : {"bright", "both"})
      for (const Index size : {2, 3, 5}) {
        if (std::string(window) == "cube" && size % 2 == 0) continue;
        const Task task{.file = {9, 8, 31}, .type = PixelType::float32, .above = 2, .below = 1};
        io::Frames frames = frames_of(task);
        auto* pixels = reinterpret_cast<float*>(frames.bytes.data());
        Random random(7);
        for (Index i = 0; i < 9 * 8 * 31; ++i)
          if (random.uniform() < (i % 31 < 10 ? 0.6 : 0.05)) pixels[i] = i % 3 == 0 ? nan : INFINITY;
        expect_the_same(task, frames,
                        preprocessing_of(as_transmissions(zingers(size, window, sign, 300)), {0, 31}, 0));
      }
}

/// A cone beam whose midplane, principal point and first row are no round numbers.
TEST_F(CudaSteps, MakeFramesUpright) {
  for (const auto& [roll, tilt] : {std::pair{2.0, 0.0}, {0.0, 5.0}, {-1.3, -9.0}})
    for (const Shape& shape : {Shape{19, 40, 301}, Shape{1, 31, 45}, Shape{2, 3, 1}, Shape{35, 1, 9}})
      for (const int binning : {0, 1}) {
        const Index file = Index{1} << binning, margin = shape[1] / 4;
        const Task task{.file = {shape[0], shape[1] == 1 ? 1 : shape[1] * file, shape[2] * file},
                        .binning = binning,
                        .dead = true,
                        .above = margin,
                        .below = margin,
                        .first_row = 5};
        const StepValues values = as_transmissions({});
        Preprocessing how = preprocessing_of(values, {0, task.file[2]}, binning);
        const Detector detector{shape[2], shape[1] + 9, 0.4, 0.5, 0.4 * static_cast<double>(shape[2])};
        how.pose = DetectorPose{in_radians(roll), in_radians(tilt), {detector, {}, 80, 120, 17.3}, file};
        expect_the_same(task, how, tolerance::float_rounding);
      }
}

/// More frames than are made upright at once.
TEST_F(CudaSteps, MakeManyFramesUpright) {
  const Task task{.file = {70, 500, 510}};
  ASSERT_LT(kernels::upright_at_once(70, 500, 510), 70);
  Preprocessing how = preprocessing_of(as_transmissions({}), {0, 510}, 0);
  how.pose = DetectorPose{0.03, 0.05, {{510, 500, 0.4, 0.5, 250.3}, {}, 80, 120, 251.2}, 0};
  expect_the_same(task, how, tolerance::float_rounding);
}

}  // namespace
}  // namespace tandem::test
