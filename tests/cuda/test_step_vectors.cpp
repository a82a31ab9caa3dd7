// Preprocessing steps on a GPU against results of other programs, element by element. Skipped where no GPU
// is.

#include "../../counts/steps/median_fill.hpp"
#include "../../kernels/frames.hpp"
#include "../support/axes.hpp"
#include "../support/normalized.hpp"
#include "../support/npy.hpp"
#include "../support/phase_of_others.hpp"
#include "../support/tolerances.hpp"
#include "step_fixture.hpp"

namespace tandem::test {
namespace {

const std::string method = "remove-stripe-method";
constexpr Shape wide{180, 1, 128}, narrow{180, 1, 64}, many{16, 8, 48};

/// Tolerances are those of the README of the vectors.
class CudaStepVectors : public CudaSteps {
 protected:
  void SetUp() override {
    CudaSteps::SetUp();
    if (!exists(vectors_folder())) GTEST_SKIP() << vectors_folder() << " is not there";
  }

  /// An input with a column that does not respond.
  static std::vector<float> with_dead_column(const std::string& name) {
    std::vector<float> values = vector_of(name);
    const std::vector<float> column = vector_of("stripe_dead_column55");
    for (std::size_t view = 0; view < 180; ++view) values[view * 128 + 55] = column[view];
    return values;
  }
};

TEST_F(CudaStepVectors, Smoothing) {
  const std::vector<float> input = vector_of("stripe_sf_input");
  for (const Index size : {3, 5})
    expect_vector("tomopy_stripe_sf" + std::to_string(size), input, {16, 8, 40},
                  {{method, "sf"}, {"sf:size", size}}, 1e-6);
}

TEST_F(CudaStepVectors, Titarenko) {
  const auto values = [](Index blocks) {
    return StepValues{{method, "ti"}, {"ti:nblock", blocks}, {"ti:alpha", 1.5}};
  };
  for (const Index blocks : {0, 4})
    expect_vector("tomopy_stripe_ti_nblock" + std::to_string(blocks) + "_row0",
                  vector_of("stripe_ti_input_row0"), wide, values(blocks), 3e-6);
  expect_vector("tomopy_test_remove_stripe_ti", vector_of("tomopy_test_proj"), many, values(0), 3e-4);
}

TEST_F(CudaStepVectors, FourierWavelet) {
  const auto values = [](Index level) {
    return StepValues{{method, "fw"}, {"fw:level", level}, {"fw:sigma", 2.0}, {"fw:filter", "db5"}};
  };
  expect_vector("tomopy_stripe_fw_db5_row0", vector_of("stripe_fw_input_row0"), wide, values(8), 1e-5);
  expect_vector("tomopy_test_remove_stripe_fw", vector_of("tomopy_test_proj"), many, values(6), 1e-4);
}

TEST_F(CudaStepVectors, Sorting) {
  for (const Index dim : {1, 2})
    expect_vector("tomopy_stripe_vosort_dim" + std::to_string(dim) + "_row0",
                  vector_of("stripe_vosort_input_row0"), narrow,
                  {{method, "vo-sorting"}, {"vo-sorting:size", Index{5}}, {"vo-sorting:dim", dim}}, 0);
}

TEST_F(CudaStepVectors, Filtering) {
  for (const Index dim : {1, 2})
    expect_vector("tomopy_stripe_vofilter_dim" + std::to_string(dim) + "_row0",
                  vector_of("stripe_vofilter_input_row0"), narrow,
                  {{method, "vo-filtering"},
                   {"vo-filtering:sigma", dim == 1 ? 3.0 : 5.0},
                   {"vo-filtering:size", Index{5}},
                   {"vo-filtering:dim", dim}},
                  1e-6);
}

TEST_F(CudaStepVectors, Fitting) {
  const std::vector<float> input = vector_of("stripe_vofit_input_row0");
  const double bound = 3.2 * tolerance::steps_with_fits;  // bound for numbers near 1; here they reach 3.2
  expect_vector("tomopy_stripe_vofit_def_row0", input, wide, {{method, "vo-fitting"}}, bound);
  expect_vector("tomopy_stripe_vofit_o1_row0", input, wide,
                {{method, "vo-fitting"},
                 {"vo-fitting:order", Index{1}},
                 {"vo-fitting:sigmax", 3.0},
                 {"vo-fitting:sigmay", 10.0}},
                bound);
}

TEST_F(CudaStepVectors, LargeDeadAndAll) {
  const std::vector<float> large = vector_of("stripe_fw_input_row0"),
                           dead = with_dead_column("stripe_fw_input_row0"),
                           all = with_dead_column("stripe_ti_input_row0");
  expect_vector("tomopy_stripe_volarge_norm_row0", large, wide, {{method, "vo-large"}}, 3e-6);
  expect_vector("tomopy_stripe_volarge_raw_row0", large, wide,
                {{method, "vo-large"}, {"vo-large:norm", false}}, 0);
  expect_vector("tomopy_stripe_vodead_norm_row0", dead, wide, {{method, "vo-dead"}, {"vo-dead:snr", 2.0}},
                3e-6);
  expect_vector("tomopy_stripe_vodead_raw_row0", dead, wide,
                {{method, "vo-dead"}, {"vo-dead:snr", 2.0}, {"vo-dead:norm", false}}, 1e-6);
  for (const int snr : {2, 3})
    expect_vector("tomopy_stripe_voall_snr" + std::to_string(snr) + "_row0", all, wide,
                  {{method, "vo-all"}, {"vo-all:snr", static_cast<double>(snr)}}, 5e-6);
}

TEST_F(CudaStepVectors, MediansOfCubes) {
  const std::vector<float> spikes = vector_of("rankfilter_input");
  const auto cube = [](Index size, double threshold) { return zingers(size, "cube", "both", threshold); };
  expect_vector("tomopy_median3", spikes, {12, 20, 24}, cube(3, 1e-30), 0);
  expect_vector("tomopy_median5", spikes, {12, 20, 24}, cube(5, 1e-30), 0);
  expect_vector("tomopy_dezinger_small", spikes, {12, 20, 24}, cube(3, 0.5), 0);
}

/// All of the six cases (threshold, size, axis) by views, and the cases along rows by rows.
TEST_F(CudaStepVectors, OutliersOfViewsAndRows) {
  const Npy params = read_npy(vectors_folder() / "remove_outlier_params.npy");
  const auto expect_cases = [&](const std::string& name, const char* window, auto axis_of_frames) {
    const Npy input = read_npy(vectors_folder() / (name + "_input.npy")),
              output = read_npy(vectors_folder() / (name + "_output.npy"));
    const Shape n{input.shape[1], input.shape[2], input.shape[3]};
    const std::ptrdiff_t size = n[0] * n[1] * n[2];
    const std::vector<float> in = input.floats(), out = output.floats();
    int cases = 0;
    for (std::ptrdiff_t c = 0; c < 6; ++c) {
      const double* of_case = &params.values[static_cast<std::size_t>(3 * c)];
      const std::optional<int> axis = axis_of_frames(static_cast<int>(of_case[2]));
      if (!axis) continue;
      const std::vector<float> frames = stepped(
          axis_first({in.begin() + c * size, in.begin() + (c + 1) * size}, n, *axis),
          with_axis_first(n, *axis), zingers(static_cast<Index>(of_case[1]), window, "bright", of_case[0]));
      EXPECT_EQ(axis_first(frames, n, *axis, true),
                std::vector<float>(out.begin() + c * size, out.begin() + (c + 1) * size))
          << name << c;
      ++cases;
    }
    return cases;
  };
  EXPECT_EQ(expect_cases("remove_outlier", "projection", [](int axis) { return std::optional(axis); }), 6);
  EXPECT_GT(expect_cases("remove_outlier1d", "row",
                         [](int axis) { return axis == 2 ? std::optional(0) : std::nullopt; }),
            0);
}

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
