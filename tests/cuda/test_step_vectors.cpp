// Preprocessing steps on a GPU against results of other programs, element by element. Skipped where no GPU
// is.

#include "../../counts/steps/median_fill.hpp"
#include "../../kernels/frames.hpp"
#include "../support/normalized.hpp"
#include "../support/npy.hpp"
#include "../support/outliers.hpp"
#include "../support/phase_of_others.hpp"
#include "../support/stripe_vectors.hpp"
#include "../support/tolerances.hpp"
#include "step_fixture.hpp"

namespace tandem::test {
namespace {

/// Tolerances are those of the README of the vectors.
class CudaStepVectors : public CudaSteps {
 protected:
  void SetUp() override {
    CudaSteps::SetUp();
    if (!exists(vectors_folder())) GTEST_SKIP() << vectors_folder() << " is not there";
  }

  Dezinger dezinger() const {
    return [this](const std::vector<float>& frames, Shape n, const std::string& window,
                  const std::string& sign, Index size,
                  double threshold) { return stepped(frames, n, zingers(size, window, sign, threshold)); };
  }
};

class CudaStripeVectors : public CudaStepVectors, public ::testing::WithParamInterface<StripeVector> {};

/// By fits, the bound is for numbers near 1; here they reach 3.2.
TEST_P(CudaStripeVectors, AreWhatTomopyMakes) {
  const StripeVector& of = GetParam();
  StepValues values = of.values;
  values["remove-stripe-method"] = of.method;
  expect_vector(of.output, of.sinograms(), of.shape, values,
                of.method == "vo-fitting" ? 3.2 * tolerance::steps_with_fits : of.tolerance);
}

INSTANTIATE_TEST_SUITE_P(Gpu, CudaStripeVectors, ::testing::ValuesIn(stripe_vectors()),
                         [](const auto& of) { return of.param.output; });

TEST_F(CudaStepVectors, MediansOfCubes) { expect_tomopys_medians(dezinger()); }

TEST_F(CudaStepVectors, OutliersOfViewsAndRows) { expect_tomopys_outliers(dezinger()); }

TEST_F(CudaStepVectors, Transmissions) {
  const auto transmissions = [this](const io::FramesView& counts, const Reference& reference,
                                    const Preprocessing& how, const Space& space) {
    Findings findings;
    const auto lines = preprocess_on_gpu(on_gpu(counts, gpu), reference, how, space.on(gpu), findings);
    return on_device(lines.value().y, cpu);
  };
  expect_tomopys_normalize(transmissions);
  expect_tomopys_normalize_bg(transmissions);
}

TEST_F(CudaStepVectors, PhaseOfOthers) {
  const Npy input = read_npy(vectors_folder() / "phase_input.npy");
  const Shape n = shape_of(input);
  for (const PhaseOfOthers& phase : phases_of_others()) {
    Array frames(Space(n, Blocks::rows));
    std::ranges::copy(input.floats(), frames.data());
    frames = on_device(frames, gpu);
    const kernels::FrameBlocks in_the_middle{0, n[1], 1, (phase.filter.rows - n[1]) / 2,
                                             (phase.filter.bins - n[2]) / 2};
    kernels::image_filters(gpu)->filter_frames(phase.filter, in_the_middle, {0, n[1]},
                                               image(VectorView(frames)), default_stream(gpu));
    const Array found = on_device(frames, cpu);
    const Npy due = read_npy(vectors_folder() / phase.output);
    for (Index i = 0; i < found.size(); ++i)
      ASSERT_NEAR(found.data()[i], due.values[static_cast<std::size_t>(i)], phase.tolerance)
          << phase.output << ' ' << i;
  }
}

/// The cells of each frame that are not finite, in windows of 3 x 3 and then of 5 x 5.
TEST_F(CudaStepVectors, MediansOfGoodCells) {
  const Npy input = read_npy(vectors_folder() / "median_nonfinite_input.npy");
  const std::vector<float> in = input.floats(), out = vector_of("median_nonfinite_output");
  const Index rows = input.shape[2], bins = input.shape[3], cells = rows * bins;
  Index filled = 0;
  for (Index f = 0; f < input.shape[0] * input.shape[1]; ++f) {
    Array frame(Space({1, rows, bins}, Blocks::rows));
    std::copy_n(in.data() + f * cells, cells, frame.data());
    std::vector<Pixel> marks;
    for (Index i = 0; i < cells; ++i)
      marks.push_back(std::isfinite(frame.data()[i]) ? Pixel::good : Pixel::bad);
    std::vector<kernels::MendedCell> mended;
    std::vector<int> good;
    for_each_fill({rows, bins}, marks, {.first = f < input.shape[1] ? 3 : 5},
                  [&](Index row, Index bin, const std::vector<Index>& from) {
                    mended.push_back({static_cast<int>(row), static_cast<int>(bin),
                                      static_cast<int>(good.size()), static_cast<int>(from.size())});
                    good.insert(good.end(), from.begin(), from.end());
                  });
    frame = on_device(frame, gpu);
    kernels::frames(gpu)->fill_medians(mended, good, image(VectorView(frame)), default_stream(gpu));
    const Array found = on_device(frame, cpu);
    EXPECT_TRUE(std::equal(found.data(), found.data() + cells, out.data() + f * cells)) << f;
    filled += static_cast<Index>(mended.size());
  }
  EXPECT_GT(filled, 20);
}

}  // namespace
}  // namespace tandem::test
