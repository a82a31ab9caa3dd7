// The CPU as the helper of a GPU, and a GPU that fails in the middle of a run. Skipped where no GPU is.

#include <atomic>
#include <chrono>
#include <thread>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../pipeline/plan/make_problem.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"
#include "../support/tolerances.hpp"
#include "../support/watched_method.hpp"
#include "cuda_fixture.hpp"

namespace tandem::test {
namespace {

using pipeline::Plan;
using pipeline::Recipe;

constexpr Index slices = 403;  // for fewer a helper does nothing

class CudaHelper : public Cuda {
 protected:
  void SetUp() override {
    Cuda::SetUp();
    if (IsSkipped()) return;
    if (thread_count() < 6) GTEST_SKIP() << "the CPU has too few threads to help";
    pipeline::Simulation s = small_simulation(1e4);
    detector_of(s.scan).rows = slices;
    s.grid = fitting_grid(s.scan);
    write_scan(folder_ / "scan.h5", pipeline::SimulatedScan(s));
    reader_ = io::open_scan(folder_ / "scan.h5");
  }

  Recipe recipe_for(const std::string& method, Model model, std::vector<Device> devices) const {
    Recipe recipe;
    recipe.method = method;
    recipe.iterations = 4;
    recipe.model = model;
    recipe.devices = std::move(devices);
    recipe.streams = 1;
    recipe.most_slices = 4;  // enough chunks for a helper
    return recipe;
  }
  Plan plan_for(const Recipe& recipe) const { return make_plan(reader_->info(), recipe); }

  const TemporaryFolder folder_;
  std::unique_ptr<io::ScanReader> reader_;
};

bool same_slice(const std::vector<float>& a, const std::vector<float>& b, Index z) {
  const std::size_t area = a.size() / static_cast<std::size_t>(slices);
  const auto first = static_cast<std::ptrdiff_t>(area) * z, last = first + static_cast<std::ptrdiff_t>(area);
  return same_bits({a.begin() + first, a.begin() + last}, {b.begin() + first, b.begin() + last});
}

TEST_F(CudaHelper, EverySliceIsThatOfTheGpuOrOfTheCpu) {
  for (const std::string method : {"fbp", "cgls"})
    for (const Model model : {Model::pixel_driven, Model::fourier}) {
      const auto plan_on = [&](std::vector<Device> devices) {
        return plan_for(recipe_for(method, model, std::move(devices)));
      };
      std::atomic<bool> helped = false, gave_up = false;
      std::atomic<int> theirs_begun = 0;
      const Watched waiting(method, [&](const pipeline::Work& work, Range) {  // the GPU for its helper
        if (work.worker == 1)
          helped = true;
        else
          ++theirs_begun;
        if (theirs_begun == 2) std::this_thread::sleep_for(std::chrono::seconds(1));  // the next are read
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (theirs_begun > 2 && !helped && !gave_up) gave_up = std::chrono::steady_clock::now() > until;
      });
      pipeline::Outcome outcome;
      Plan shared = plan_on({gpu, cpu});
      shared.job.method = waiting.method();
      const std::vector<float> theirs = reconstructed(*reader_, plan_on({gpu})),
                               own = reconstructed(*reader_, plan_on({cpu})),
                               both = reconstructed(*reader_, shared, &outcome);
      const std::string where = method + ", model " + std::string(name_of(model));
      ASSERT_TRUE(outcome.helped.has_value()) << where;
      EXPECT_GE(outcome.helped->slices, 1) << where;
      EXPECT_EQ(outcome.slices, slices) << where;
      EXPECT_TRUE(same_slice(both, own, 12)) << where;
      for (Index z = 0; z < slices; ++z)
        EXPECT_TRUE(same_slice(both, own, z) || same_slice(both, theirs, z)) << where << ", slice " << z;
      const double steps = method == "cgls" ? tolerance::cgls_magnifies : 1;
      EXPECT_LE(relative_error(both, own), steps * tolerance::fbp_devices) << where;
    }
}

TEST_F(CudaHelper, APlanForBothIsThatOfTheGpuWithOneWorkerMore) {
  for (const Execution& how : {Execution{}, {"automatic", Precision::float16}, {"alu"}}) {
    Recipe recipe = recipe_for("fbp", Model::pixel_driven, {gpu});
    recipe.execution = how;
    const Plan alone = make_plan(reader_->info(), recipe);
    recipe.devices = {cpu, gpu};
    recipe.most_slices = 20;  // so that there are chunks to share
    const Plan both = make_plan(reader_->info(), recipe);
    ASSERT_NE(both.flow.helper(), nullptr) << name_of(how);
    EXPECT_EQ(both.flow.helper()->device, cpu);
    EXPECT_EQ(both.flow.helper()->execution, (Execution{"standard"}));
    EXPECT_EQ(both.flow.execution(), alone.flow.execution());
    EXPECT_EQ(both.flow.active_devices, (std::vector<Device>{gpu, cpu}));
    EXPECT_GT(both.flow.memory.host, 0u);
  }
  Recipe nearest = recipe_for("fbp", Model::pixel_driven, {gpu, cpu});
  nearest.execution.variant = "nearest";
  EXPECT_THROW(make_plan(reader_->info(), nearest), GeometryError);  // the CPU has nothing like it
}

/// Pixels of 1e-4 bins, as in CudaReconstruct: a launch that cannot start, on one of two workers of a GPU.
TEST_F(CudaHelper, AFaultOnOneWorkerEndsTheRunAndLeavesTheGpuUsable) {
  Recipe recipe = recipe_for("cgls", Model::pixel_driven, {gpu, cpu});
  recipe.streams = 2;
  recipe.execution = {"alu"};  // its launch is too large then
  recipe.rows = Range{0, 200};
  const Plan plan = plan_for(recipe);
  ASSERT_EQ(plan.flow.workers.size(), 2u);  // too few slices for a helper
  const std::vector<float> before = reconstructed(*reader_, plan);
  std::atomic<int> chunks = 0;
  const Watched faulty("cgls", [&](const pipeline::Work& work, Range some) {
    if (work.worker != 1 || ++chunks < 2) return;
    Plan tiny = plan;
    tiny.job.grid.pitch[0] = tiny.job.grid.pitch[1] = 1e-4;
    tiny.job.solved = tiny.job.grid;
    const auto A = problem_of(tiny, some, plan.flow.workers[1]).A;
    A* Array(A.domain());
  });
  Plan planted = plan;
  planted.job.method = faulty.method();
  try {
    reconstructed(*reader_, planted);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const DeviceError& e) {
    for (const char* word : {"CUDA: ", "forward_by"})
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
  }
  EXPECT_EQ(chunks, 2);
  EXPECT_TRUE(same_bits(reconstructed(*reader_, plan), before));
}

}  // namespace
}  // namespace tandem::test
