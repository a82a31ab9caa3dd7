// The noise of line integrals and the weights of data that a GPU makes, against the CPU. Skipped where no GPU
// is.

#include <algorithm>

#include "../../counts/weights.hpp"
#include "../support/tolerances.hpp"
#include "step_fixture.hpp"

namespace tandem::test {
namespace {

class CudaNoise : public CudaSteps {
 protected:
  /// `each`: how far transmissions may be apart, relative; all that follows from the same ones is the same.
  void expect_the_same_noise(const Task& task, StepValues values, double each = 0, float photons = 0) const {
    for (const Blocks blocks : {Blocks::rows, Blocks::whole})
      for (const bool some_bins : {false, true}) {
        Preprocessing how = preprocessing_of(values, {0, task.file[2]}, task.binning);
        how.noise = how.weights = true;
        how.photons = photons;
        how.optics = Optics{.bin_mm = 1e-3, .row_mm = 1e-3};
        std::vector<Range> counted;
        for (Index row = 0; row < task.space().shape()[1] && some_bins; ++row)
          counted.push_back({row % 3, std::max(row % 3, task.bins() - row)});
        expect_the_same_noise(task, how, Space(task.space().shape(), blocks), counted, each);
      }
  }

 private:
  void expect_the_same_noise(const Task& task, const Preprocessing& how, const Space& space,
                             const std::vector<Range>& counted, double each) const {
    const io::Frames frames = frames_of(task);
    Reference ref = reference_of(task);
    ref.photons_a_count = 1.7;
    for (FlatSet& set : ref.sets)
      for (std::size_t i = 0; i < set.span.size(); ++i)
        set.variance[i] = set.span[i] == 0 ? 0 : (set.span == ref.sets[0].span ? 1 : 3) / set.span[i];
    Findings here, there;
    const LineIntegrals truth = preprocess(frames, ref, how, space, here, counted);
    ASSERT_TRUE(gpu_prepares(frames, how));
    const auto lines = preprocess_on_gpu(on_gpu(frames, gpu), ref, how, space.on(gpu), there, counted);
    ASSERT_TRUE(lines && lines->weights);
    test::expect_the_same(there, here);
    EXPECT_LE(relative_error(on_device(lines->y, cpu), truth.y), tolerance::steps_with_logarithms + each);
    ASSERT_EQ(lines->noise_norms.size(), truth.noise_norms.size());
    for (std::size_t row = 0; row < truth.noise_norms.size(); ++row)
      EXPECT_NEAR(lines->noise_norms[row], truth.noise_norms[row],
                  (tolerance::double_rounding + each) * truth.noise_norms[row]);
    EXPECT_TRUE(lines->weights->space() == space.on(gpu));
    const Array weights = on_device(*lines->weights, cpu);
    for (Index i = 0; i < weights.size(); ++i)
      ASSERT_NEAR(weights.data()[i], truth.weights->data()[i],
                  (tolerance::float_rounding + 2 * each) * truth.weights->data()[i])
          << i;
  }
};

TEST_F(CudaNoise, OfCountsIsTheCpus) {
  for (const Shape& shape : odd_shapes) {
    expect_the_same_noise({.file = shape, .dead = true}, {});
    expect_the_same_noise({.file = shape, .mixes = true, .dead = true}, {});
    expect_the_same_noise({.file = shape, .each = true, .dead = true}, {});
  }
}

TEST_F(CudaNoise, OfBinnedRowsWithMarginsIsTheCpus) {
  for (const int binning : {0, 1, 2}) {
    const Index file = Index{1} << binning;
    expect_the_same_noise({.file = {23, 9 * file, 41 * file},
                           .binning = binning,
                           .mixes = true,
                           .dead = true,
                           .above = 2,
                           .below = 3},
                          {});
  }
}

TEST_F(CudaNoise, BesideAirIsTheCpus) {
  for (const std::vector<Range>& margins : {std::vector<Range>{{1, 40}}, {{1, 40}, {44, 90}}, {{7, 8}}})
    for (const bool mixes : {false, true})
      expect_the_same_noise({.file = {19, 5, 90}, .mixes = mixes, .dead = true, .above = 1, .below = 1},
                            {{"air-columns", margins}});
}

TEST_F(CudaNoise, BehindOtherStepsIsTheCpus) {
  const Task task{.file = {39, 12, 45}, .mixes = true, .dead = true, .above = 4, .below = 4};
  expect_the_same_noise(task, {{"repair-cells", true}});
  expect_the_same_noise(task, {{"remove-stripe-method", "vo-sorting"}});
  expect_the_same_noise({.file = {3, 90, 101}, .mixes = true},
                        {{"retrieve-phase-method", "paganin"},
                         {"retrieve-phase-method:energy", 20.0},
                         {"retrieve-phase-method:distance", 50.0},
                         {"retrieve-phase-method:delta-beta", 8.0}},
                        tolerance::steps_with_transforms);
}

TEST_F(CudaNoise, OfLineIntegralsIsTheCpus) {
  for (const float photons : {1.0F, 2e4F})
    expect_the_same_noise({.file = {19, 9, 90}, .mixes = true, .dead = true, .above = 1, .below = 1},
                          {{"minus-log", false}}, 0, photons);
}

/// Rows and chunks of more data than a median is taken of.
TEST_F(CudaNoise, OfManyDataIsTheCpus) { expect_the_same_noise({.file = {1030, 3, 1021}, .dead = true}, {}); }

/// A row of dead cells, and rows whose variances are far apart.
TEST_F(CudaNoise, MakesWeightsLikeTheCpus) {
  for (const Blocks blocks : {Blocks::rows, Blocks::whole}) {
    Array variances(Space({7, 5, 131}, blocks));
    Random random(5);
    for (Index i = 0; i < variances.size(); ++i) {
      const Index row = i / 131 % 5;
      variances.data()[i] = row == 2 || i % 11 == 0
                                ? INFINITY
                                : static_cast<float>(std::pow(10.0, row - 3) * (0.01 + random.uniform()));
    }
    Array there = on_device(variances, gpu);
    Stream& stream = default_stream(gpu);
    kernels::counts(gpu)->weigh(image(VectorView(there)), blocks == Blocks::rows, stream);
    const Array truth = weights_of(std::move(variances)), found = on_device(there, cpu);
    for (Index i = 0; i < truth.size(); ++i)
      ASSERT_NEAR(found.data()[i], truth.data()[i], tolerance::float_rounding * truth.data()[i]) << i;
  }
}

}  // namespace
}  // namespace tandem::test
