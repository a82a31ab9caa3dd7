// From file to volume on a GPU, against the CPU. Skipped where no GPU is.

#include <algorithm>
#include <limits>

#include "../../core/error.hpp"
#include "../../operators/adjointness.hpp"
#include "../../pipeline/plan/make_problem.hpp"
#include "../../pipeline/plan/route.hpp"
#include "recon_fixture.hpp"

namespace tandem::test {
namespace {

using enum Precision;
using pipeline::Initial;
using pipeline::Plan;
using pipeline::Recipe;

const std::string methods[] = {"fbp", "cgls", "sirt"};

/// The bound for a reconstruction against the CPU's.
double bound_of(const Execution& how, const std::string& method) {
  const double steps = method == "cgls" ? tolerance::cgls_magnifies : 1;
  if (how.variant == "tensor" && how.precision == float16) return steps * tolerance::fbp_tensor_float16;
  if (how.variant == "alu" || how.variant == "tensor") return steps * tolerance::fbp_devices;
  return steps * tolerance::fbp_texture * (how.precision == float16 ? tolerance::texture_float16 : 1);
}

pipeline::Simulation tall_simulation(Index rows) {
  pipeline::Simulation s = small_simulation(1e4);
  detector_of(s.scan).rows = rows;
  s.grid = fitting_grid(s.scan);
  return s;
}

class CudaReconstruct : public CudaRecipes {
 protected:
  void SetUp() override {
    CudaRecipes::SetUp();
    if (!IsSkipped()) simulate(small_simulation(1e4));
  }

  /// Work after a call that fails goes on as if it had not been.
  template <class Call>
  void fails_and_leaves_no_trace(const Call& call, std::initializer_list<const char*> words) const {
    const Recipe recipe = recipe_for("cgls", gpu);
    const std::vector<float> before = volume(recipe);
    expect_device_error(call, words);
    EXPECT_TRUE(same_bits(volume(recipe), before));
  }
};

TEST_F(CudaReconstruct, VolumesAgreeWithTheCpu) {
  for (const std::string& method : methods) {
    const std::vector<float> truth = volume(recipe_for(method, cpu));
    for (const Execution& how : executions_of_hats(gpu)) {
      if (how.precision == uint8) continue;
      EXPECT_LE(relative_error(volume(recipe_for(method, gpu, how)), truth), bound_of(how, method))
          << name_of(how) << ", method " << method;
    }
  }
}

/// If somebody looks at the voxels, they come as floats, and the writer makes the numbers.
TEST_F(CudaReconstruct, StoresTheNumbersThatTheWriterMakes) {
  const Plan plan = plan_for(recipe_for("fbp", gpu));
  for (const io::VoxelType type : {io::VoxelType::float16, io::VoxelType::uint16, io::VoxelType::uint8}) {
    std::vector<float> numbers[2];
    io::Clipped clipped[2];
    for (const bool looked_at : {false, true}) {
      const std::filesystem::path path = folder_ / (looked_at ? "looked.h5" : "stored.h5");
      const auto writer = io::create_volume(path, plan.job.grid.shape(),
                                            {.type = type, .min = 0, .max = 0.02f}, "{}", io::Replace::any);
      pipeline::Options options;
      options.pictures = looked_at;
      reconstruct(*io::open_scan(scan_), plan, *writer, options);
      clipped[looked_at] = writer->clipped();
      writer->finish("{}");
      numbers[looked_at].resize(static_cast<std::size_t>(Space(plan.job.grid.shape()).size()));
      io::VolumeReader(path).read({0, plan.job.grid.size[2]}, numbers[looked_at].data());
    }
    EXPECT_TRUE(same_bits(numbers[0], numbers[1]));
    EXPECT_EQ(clipped[0].below, clipped[1].below);
    EXPECT_EQ(clipped[0].above, clipped[1].above);
  }
}

/// More slices than a kernel takes at once, in chunks of which the last is short.
TEST_F(CudaReconstruct, ManySlicesAgreeWithTheCpu) {
  simulate(tall_simulation(200));
  for (const std::string& method : methods) {
    const std::vector<float> truth = volume(recipe_for(method, cpu));
    for (const Precision precision : {float32, float16}) {
      const Execution how{"automatic", precision};
      for (const Index at_once : {0, 128})
        EXPECT_LE(relative_error(volume(recipe_for(method, gpu, how), at_once), truth),
                  bound_of({"tensor", precision}, method))
            << name_of(how) << ", method " << method << ", chunks of " << at_once;
    }
  }
}

TEST_F(CudaReconstruct, RowsWithAxesOfTheirOwnAgreeWithTheCpu) {
  for (const std::string& method : methods) {
    const auto wobbling = [&](Device device) {
      Plan plan = plan_for(recipe_for(method, device));
      for (Index row = 0; row < small::rows; ++row)
        std::get<ParallelBeam>(plan.job.scan)
            .row_axis_bins.push_back(detector_of(plan.job.scan).axis_bin +
                                     0.37 * static_cast<double>(row - 5));
      plan.flow.chunk_slices = 4;
      return volume(plan);
    };
    expect_the_cpus_volume(wobbling, bound_of({"alu", float32}, method));
  }
}

TEST_F(CudaReconstruct, ShiftedViewsAgreeWithTheCpu) {
  for (const std::string& method : methods)
    for (const Model model : {Model::pixel_driven, Model::fourier}) {
      const auto shifted = [&](Device device) {
        Recipe recipe = recipe_for(method, device);
        recipe.model = model;
        const auto reader = io::open_scan(scan_);
        io::ScanInfo info = reader->info();
        info.scan = with_shifted_views(std::get<ParallelBeam>(info.scan));
        return reconstructed(*reader, make_plan(info, recipe));
      };
      expect_the_cpus_volume(shifted, bound_of({"alu", float32}, method),
                             method + ", model " + std::string(name_of(model)));
    }
}

/// Fewer bins than the sample is wide, so that rows end in it.
TEST_F(CudaReconstruct, ContinuesRowsByDefaultLikeTheCpu) {
  for (const Model model : {Model::pixel_driven, Model::fourier}) {
    const auto of = [&](Device device, std::optional<Padding> padding) {
      Recipe recipe = recipe_for("fbp", device);
      recipe.model = model;
      recipe.bins = Range{14, 48};
      recipe.padding = padding;
      EXPECT_EQ(plan_for(recipe).job.options.fbp_filter.padding, padding.value_or(Padding::cosine));
      return volume(recipe);
    };
    const std::vector<float> continued = of(gpu, {});
    EXPECT_LE(relative_error(continued, of(cpu, {})), bound_of({"alu", float32}, "fbp")) << name_of(model);
    EXPECT_GT(relative_error(of(gpu, Padding::none), continued), 0.1) << name_of(model);
  }
}

TEST_F(CudaReconstruct, GoesOnWithCirclesLikeTheCpu) {
  for (const Model model : {Model::pixel_driven, Model::fourier}) {
    Recipe recipe = recipe_for("fbp", gpu);
    recipe.model = model, recipe.bins = Range{14, 48};
    const std::vector<float> usual = volume(recipe);
    recipe.padding = Padding::circle, recipe.fbp_filter.attenuation = 0.01;
    const std::vector<float> there = volume(recipe), in_chunks = volume(recipe, 4);
    recipe.devices = {cpu};
    EXPECT_LE(relative_error(there, volume(recipe)), bound_of({"alu", float32}, "fbp")) << name_of(model);
    EXPECT_TRUE(same_bits(in_chunks, there)) << name_of(model);
    EXPECT_GT(relative_error(usual, there), 0.01) << name_of(model);
  }
}

TEST_F(CudaReconstruct, StartsFromFbpOrAFileLikeTheCpu) {
  const auto from_fbp = [&](Device device) {
    Recipe recipe = recipe_for("sirt", device);
    recipe.initial = Initial::fbp;
    recipe.nonnegative = true;
    return volume(recipe);
  };
  expect_the_cpus_volume(from_fbp, tolerance::fbp_devices);
  const std::vector<float> start = volume(recipe_for("fbp", gpu));
  const auto writer =
      io::create_volume(folder_ / "start.h5", {small::rows, small::bins, small::bins}, {}, "{}");
  writer->write({0, small::rows}, start.data());
  writer->finish("{}");
  Recipe recipe = recipe_for("cgls", gpu);
  recipe.iterations = 0;
  recipe.initial = Initial::file;
  recipe.initial_file = folder_ / "start.h5";
  EXPECT_TRUE(same_bits(volume(recipe, 4), start));
}

TEST_F(CudaReconstruct, NoiseStopsEverySliceAsOnTheCpu) {
  EXPECT_EQ(expect_noise_to_stop(4), static_cast<std::size_t>(small::rows));
}

TEST_F(CudaReconstruct, WeighsDataLikeTheCpu) {
  const auto recipe_on = [&](Device device) {
    Recipe recipe = recipe_for("tv", device);
    recipe.tv_weight = 1;
    return recipe;
  };
  const Plan plan = plan_for(recipe_on(gpu));
  EXPECT_TRUE(plan.job.preprocessing.weights);
  EXPECT_TRUE(gpus_prepare(plan.job, plan.flow));
  EXPECT_LE(relative_error(volume(plan), volume(recipe_on(cpu))), bound_of(recipe_on(gpu).execution, "cgls"));
}

/// A row of a view without a finite pixel takes its chunk to the CPU, and no other.
TEST_F(CudaReconstruct, SaysOfHowManySlicesTheCpuPreparedTheData) {
  write_scan(scan_, pipeline::SimulatedScan(small_simulation({})), [](io::Frames& frames) {
    std::fill_n(reinterpret_cast<float*>(frames.bytes.data()) + (9 * small::rows + 5) * small::bins,
                small::bins, std::numeric_limits<float>::quiet_NaN());
  });
  pipeline::Outcome here, there;
  const std::vector<float> truth = reconstructed(scan_, recipe_for("fbp", cpu), 4, &here);
  const Recipe recipe = recipe_for("fbp", gpu);
  EXPECT_LE(relative_error(reconstructed(scan_, recipe, 4, &there), truth),
            bound_of(recipe.execution, "fbp"));
  EXPECT_EQ(here.left_to_cpu, 0);
  EXPECT_EQ(there.left_to_cpu, 4);  // the chunk of row 5: slices 4 to 7
  EXPECT_EQ(there.findings.replaced_by("lost-rows"), small::bins);
}

TEST_F(CudaReconstruct, BitsDoNotDependOnChunks) {
  for (const std::string& method : methods)
    for (const Execution& how : executions(gpu)) {
      const Recipe recipe = recipe_for(method, gpu, how);
      const std::vector<float> whole = volume(recipe, small::rows);
      for (const Index at_once : {1, 4, 7})
        EXPECT_TRUE(same_bits(volume(recipe, at_once), whole)) << name_of(how) << ", " << at_once << " rows";
    }
}

/// Counts of large chunks go up a few views at a time, while others are read.
TEST_F(CudaReconstruct, BitsDoNotDependOnPiecesOfCounts) {
  Recipe recipe = recipe_for("fbp", gpu);
  recipe.views = Range{2, small::views};
  recipe.streams = 2;
  Plan plan = plan_for(recipe);
  plan.flow.chunk_slices = 4;
  ASSERT_EQ(pipeline::piece_bytes(plan.flow), 0);
  const std::vector<float> whole = volume(plan);
  for (const Index lines : {Index{1}, Index{9}, 4 * Index{13}, 4 * small::views}) {
    std::get<pipeline::SliceSizes>(plan.flow.sizes).piece_bytes = lines * 2 * small::bins;
    EXPECT_TRUE(same_bits(volume(plan), whole)) << lines;
  }
}

TEST_F(CudaReconstruct, LittleMemoryMakesSmallChunksOfTheSameBits) {
  for (const std::string& method : methods) {
    Recipe recipe = recipe_for(method, gpu);
    const Plan whole = plan_for(recipe);
    ASSERT_EQ(whole.flow.chunk_slices, small::rows);
    recipe.device_bytes = whole.flow.memory.device - 1;
    const Plan part = plan_for(recipe);
    EXPECT_EQ(part.flow.chunk_slices, 8);
    EXPECT_LE(part.flow.memory.device, recipe.device_bytes);
    EXPECT_TRUE(same_bits(volume(part), volume(whole)));
  }
}

/// There are too few slices at once for the variant that is fastest for all slices.
TEST_F(CudaReconstruct, LittleMemoryKeepsTheExecutionOfAllSlices) {
  simulate(tall_simulation(40));
  for (const std::string& method : methods)
    for (const Precision precision : {float32, float16}) {
      Recipe recipe = recipe_for(method, gpu, {"automatic", precision});
      const Plan whole = plan_for(recipe);
      ASSERT_EQ(whole.flow.execution(), (Execution{"tensor", precision}));
      ASSERT_EQ(whole.flow.chunk_slices, 40);
      recipe.device_bytes = static_cast<std::size_t>(device_bytes(whole, 4)) + 1;
      const Plan part = plan_for(recipe);
      EXPECT_EQ(part.flow.chunk_slices, 4);
      EXPECT_EQ(part.flow.execution(), whole.flow.execution());
      EXPECT_LE(part.flow.memory.device, recipe.device_bytes);
      EXPECT_TRUE(same_bits(volume(part), volume(whole))) << name_of(precision) << ", method " << method;
    }
}

TEST_F(CudaReconstruct, SolversGetMatchedPairs) {
  const auto plan_of = [&](const std::string& method, Execution how, bool allow) {
    Recipe recipe = recipe_for(method, gpu, how);
    recipe.rows = Range{0, 4};  // so few that textures are faster in float16
    recipe.allow_unmatched = allow;
    return plan_for(recipe);
  };
  const auto mismatch = [](const Plan& plan) {
    return adjointness(problem_of(plan, {0, 4}, plan.flow.workers.front()).A).mismatch;
  };
  EXPECT_EQ(plan_of("fbp", {"automatic", float16}, false).flow.execution(), (Execution{"texture", float16}));
  for (const std::string method : {"cgls", "sirt"}) {
    for (const Precision precision : {float32, float16}) {
      const Plan plan = plan_of(method, {"automatic", precision}, false);
      EXPECT_EQ(plan.flow.execution().precision, precision);
      EXPECT_TRUE(plan.flow.pair.matched);
      EXPECT_LE(mismatch(plan), tolerance::tensor_mismatch) << name_of(plan.flow.execution());
    }
    for (const Execution& how : {Execution{"automatic", uint8},
                                 {"texture", uint8},
                                 {"texture", float16},
                                 {"texture", float32},
                                 {"standard", float32},
                                 {"hybrid", float32}}) {
      try {
        plan_of(method, how, false);
        ADD_FAILURE() << name_of(how) << " was taken";
      } catch (const GeometryError& e) {
        for (const char* word : {"--variant tensor --precision float16", "--variant alu --precision float32",
                                 "--allow-unmatched"})
          EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
        EXPECT_EQ(std::string(e.what()).find("give --variant texture"), std::string::npos) << e.what();
      }
      const Plan allowed = plan_of(method, how, true);
      EXPECT_FALSE(allowed.flow.pair.matched);
      EXPECT_FALSE(allowed.warnings.empty());
      EXPECT_GT(mismatch(allowed), tolerance::unmatched / 4) << name_of(how);
    }
  }
}

TEST_F(CudaReconstruct, TheTablesSayWhatMatches) {
  for (const Execution& how : executions(gpu))
    for (const Index slices : {3, 40}) {
      const double mu = adjointness(odd_projector(slices, how)).mismatch;
      EXPECT_EQ(is_matched(how, gpu), mu <= tolerance::tensor_mismatch) << name_of(how) << ": " << mu;
    }
}

TEST_F(CudaReconstruct, TooLittleMemorySaysWhatIsNeeded) {
  fails_and_leaves_no_trace(
      [&] {
        Recipe recipe = recipe_for("fbp", gpu);
        recipe.device_bytes = 1 << 20;
        plan_for(recipe);
      },
      {"memory of cuda:0", "one slice needs", "GiB", "--device-memory"});
}

TEST_F(CudaReconstruct, MemoryThatCannotBeHadIsADeviceErrorAndNothingElse) {
  fails_and_leaves_no_trace(
      [&] {
        Plan plan = plan_for(recipe_for("fbp", gpu));
        plan.job.grid.size[0] = plan.job.grid.size[1] = 1 << 20;
        plan.job.solved = plan.job.grid;
        MemoryWriter writer({small::rows, small::bins, small::bins});  // it gets nothing
        const auto reader = io::open_scan(scan_);
        pipeline::reconstruct(*reader, plan, writer);
      },
      {"bytes are wanted", "are free"});
}

/// Pixels of 1e-4 bins: a block of the projection asks for more shared memory than there is.
TEST_F(CudaReconstruct, LaunchesThatCannotStartAreDeviceErrorsAndNothingElse) {
  fails_and_leaves_no_trace(
      [&] {
        Plan plan = plan_for(recipe_for("cgls", gpu));
        plan.job.grid.pitch[0] = plan.job.grid.pitch[1] = 1e-4;
        plan.job.solved = plan.job.grid;
        MemoryWriter writer(plan.job.grid.shape());
        const auto reader = io::open_scan(scan_);
        pipeline::reconstruct(*reader, plan, writer);
      },
      {"CUDA: ", "forward_by"});
}

}  // namespace
}  // namespace tandem::test
