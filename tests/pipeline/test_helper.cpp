// A crew of unlike workers. Two workers on the CPU stand for a GPU and a CPU.

#include "../../pipeline/plan/helper.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../pipeline/plan/chunks_due.hpp"
#include "../../pipeline/plan/route.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"
#include "../support/watched_method.hpp"

namespace tandem::pipeline {
namespace {

namespace fs = std::filesystem;

using test::reconstructed, test::same_bits, test::Watched;

constexpr Index slices = 403, at_once = 4;  // for fewer slices a helper does nothing

class Crew : public ::testing::Test {
 protected:
  void SetUp() override {
    if (thread_count() < 2) GTEST_SKIP() << "one thread cannot wait for another";
    Simulation s = test::small_simulation(1e4);
    detector_of(s.scan) = {13, slices, 1, 1, 6.4};
    angles_of(s.scan).resize(7);
    s.grid = fitting_grid(s.scan);
    const auto path = folder_.path() / "scan.h5";
    test::write_scan(path, SimulatedScan(s));
    reader_ = io::open_scan(path);
  }

  /// A plan with a second worker, which is a helper if it has threads.
  Plan plan_for(const std::string& method, int workers, int threads = 0) const {
    Recipe recipe;
    recipe.method = method;
    recipe.iterations = 5;
    recipe.model = Model::pixel_driven;
    Plan plan = make_plan(reader_->info(), recipe);
    plan.flow.chunk_slices = at_once;
    plan.flow.workers.resize(static_cast<std::size_t>(workers), plan.flow.workers.front());
    plan.flow.workers.back().threads = threads;
    return plan;
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<io::ScanReader> reader_;
};

/// The other worker has its second chunk until the helper has begun with one slice. For each of its chunks
/// the helper then takes as long as the other worker for five.
TEST_F(Crew, ASlowHelperChangesNothingInTheVolume) {
  for (const std::string method : {"fbp", "cgls"}) {
    Outcome alone, helped;
    const std::vector<float> expected = reconstructed(*reader_, plan_for(method, 1), &alone);
    std::array<std::atomic<Index>, 2> begun{};
    std::vector<std::atomic<int>> times(slices);
    std::atomic<bool> helper_began_first = false;
    const Watched slowed(method, [&](const Work& work, Range some) {
      const std::size_t worker = work.worker;
      for (Index z = some.first; z < some.last; ++z) ++times[static_cast<std::size_t>(z)];
      if (begun[worker] == 0 && worker == 1) helper_began_first = some == Range{3 * at_once, 3 * at_once + 1};
      begun[worker] += some.size();
      if (some.first == at_once) std::this_thread::sleep_for(std::chrono::seconds(1));  // the next are read
      const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (begun[0] > 2 * at_once && begun[1] == 0 && std::chrono::steady_clock::now() < until)
        std::this_thread::yield();
      const Index enough = begun[0] + 5 * at_once;
      while (worker == 1 && begun[0] < enough && begun[0] + begun[1] < slices) std::this_thread::yield();
    });
    Plan plan = plan_for(method, 2, 1);
    plan.job.method = slowed.method();
    EXPECT_TRUE(same_bits(reconstructed(*reader_, plan, &helped), expected)) << method;
    for (const auto& some : times) ASSERT_EQ(some, 1);
    EXPECT_TRUE(helper_began_first);
    EXPECT_EQ(helped.slices, slices);
    ASSERT_TRUE(helped.helped.has_value());
    EXPECT_EQ(helped.helped->slices, begun[1]);
    EXPECT_LT(helped.helped->slices, slices / 2);
    EXPECT_EQ(helped.updates, alone.updates);
    EXPECT_EQ(helped.helped->updates * static_cast<double>(slices),
              helped.updates * static_cast<double>(helped.helped->slices));
    EXPECT_EQ(helped.slice_iterations, alone.slice_iterations);
    EXPECT_EQ(helped.residuals, alone.residuals);
    EXPECT_FALSE(alone.helped.has_value());
  }
}

/// Too few slices to be sure that the others would not have to wait: the helper does nothing.
TEST_F(Crew, AHelperLeavesAShortRunAlone) {
  Plan plan = plan_for("fbp", 2, 1);
  const Watched watched("fbp", [](const Work& work, Range) { EXPECT_EQ(work.worker, 0u); });
  plan.job.method = watched.method();
  plan.flow.chunk_slices = 100;
  plan.job.grid = plan.job.solved = region(plan.job.grid, {0, 13}, {0, 13}, {0, 290});
  plan.job.scan = crop(plan.job.scan, {0, 7}, {0, 290}, {0, 13});
  plan.job.rows = {0, 290};
  Outcome outcome;
  reconstructed(*reader_, plan, &outcome);
  EXPECT_EQ(outcome.helped->slices, 0);
  EXPECT_EQ(outcome.slices, 290);
}

/// Waits until a writer has listed slices as safely on the disk.
void wait_for_journal(const fs::path& volume) {
  const fs::path folder = volume.parent_path() / ("." + volume.filename().string() + ".tandem");
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (std::chrono::steady_clock::now() < until) {
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".journal") return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ADD_FAILURE() << "no journal in " << folder;
}

/// One of the workers fails for good, when at least five chunks are written, while the other one works on.
TEST_F(Crew, ALostDeviceEndsTheRunAndTheRestCanBeMade) {
  const io::Identity identity{{"the scan", "this one"}};
  const std::vector<float> expected = reconstructed(*reader_, plan_for("fbp", 1));
  for (const auto& [lost, threads] : {std::pair{0, 0}, {1, 0}, {0, 1}}) {  // threads of a helper
    const fs::path path = folder_.path() / ("v" + std::to_string(lost) + std::to_string(threads) + ".h5");
    const auto writer = [&] {
      return io::create_volume(path, {slices, 13, 13}, {}, "{}", io::Replace::own, {true, identity});
    };
    std::atomic<int> begun = 0;
    std::atomic<bool> failed = false;
    const Watched faulty("fbp", [&, worker = static_cast<std::size_t>(lost)](const Work& work, Range) {
      if (++begun < 9) return;  // four of them may be on their way
      while (work.worker != worker && !failed) std::this_thread::yield();
      if (work.worker != worker) return;
      wait_for_journal(path);
      failed = true;
      throw DeviceError("cuda:7: has fallen off the bus");
    });
    Plan plan = plan_for("fbp", 2, threads);
    plan.job.method = faulty.method();
    try {
      reconstruct(*reader_, plan, *writer(), {});
      ADD_FAILURE() << "nothing was thrown";
    } catch (const DeviceError& e) {
      EXPECT_STREQ(e.what(), "cuda:7: has fallen off the bus");
    }
    const int at_the_end = begun;
    EXPECT_FALSE(fs::exists(path));
    const auto rest = writer();
    EXPECT_FALSE(rest->done().empty());
    reconstruct(*reader_, plan_for("fbp", 2, threads), *rest, {});
    rest->finish("{}");
    EXPECT_EQ(begun, at_the_end);  // nobody was left at work
    std::vector<float> voxels(expected.size());
    io::VolumeReader(path).read({0, slices}, voxels.data());
    EXPECT_TRUE(same_bits(voxels, expected));
  }
}

TEST_F(Crew, MemoryOfAHelperIsCounted) {
  for (const std::string method : {"fbp", "cgls"}) {
    const Plan alone = plan_for(method, 1), two = plan_for(method, 2), helped = plan_for(method, 2, 1);
    const auto bytes = [&](const Plan& plan) { return host_bytes(plan, reader_->info(), at_once); };
    EXPECT_EQ(bytes(helped), bytes(two));
    EXPECT_GT(bytes(helped), bytes(alone) + 4.0 * at_once * (7 * 13 + 13 * 13));  // its data and its volume
  }
}

/// A plan as one for GPUs, whose kernels this machine need not have.
Plan for_gpus(const Plan& plan, int workers) {
  Plan gpus = plan;
  gpus.flow.active_devices = {Device::cuda(0)};
  gpus.flow.workers.assign(static_cast<std::size_t>(workers), {Device::cuda(0), {"tensor"}});
  return gpus;
}

TEST_F(Crew, APlanHasAHelperWhereItCanBeOfUse) {
  const Worker cpu{Device::cpu(), {"standard"}};
  const auto yes = [] { return true; };
  const auto helped = [&](int workers, int threads, bool fits = true, Index rows_at_once = at_once) {
    Plan plan = for_gpus(plan_for("fbp", 1), workers);
    plan.flow.chunk_slices = rows_at_once;
    add_helper(plan, cpu, threads, [&] { return fits; });
    EXPECT_EQ(plan.warnings.empty(), plan.flow.helper() != nullptr);
    EXPECT_EQ(plan.flow.active_devices.size(), plan.flow.helper() ? 2u : 1u);
    EXPECT_EQ(plan.flow.workers.size(), static_cast<std::size_t>(workers) + (plan.flow.helper() ? 1 : 0));
    return plan;
  };
  EXPECT_EQ(helped(1, 16).flow.helper()->threads, 13);  // reading, writing and one GPU need three
  EXPECT_EQ(helped(1, 4).flow.helper()->threads, 1);
  EXPECT_EQ(helped(1, 3).flow.helper(), nullptr);
  EXPECT_EQ(helped(2, 16).flow.helper(), nullptr);  // twice as fast
  EXPECT_EQ(helped(1, 16, false).flow.helper(), nullptr);
  EXPECT_EQ(helped(1, 16, true, slices).flow.helper(), nullptr);  // one chunk
  Plan plan = for_gpus(plan_for("fbp", 1), 1);
  EXPECT_FALSE(without_helper(plan));
  add_helper(plan, cpu, 16, yes);
  EXPECT_EQ(without_helper(plan)->device, Device::cpu());
  EXPECT_EQ(plan.flow.helper(), nullptr);
}

TEST_F(Crew, TheFirstChunkForAHelperIsASlice) {
  const auto whole = chunks_due(plan_for("fbp", 2), {}), cut = chunks_due(plan_for("fbp", 2, 1), {});
  ASSERT_EQ(cut.size(), whole.size() + 1);
  EXPECT_TRUE(std::equal(cut.begin(), cut.begin() + 3, whole.begin()));
  EXPECT_EQ(cut[3], (Range{3 * at_once, 3 * at_once + 1}));
  EXPECT_EQ(cut[4], (Range{3 * at_once + 1, 4 * at_once}));
  EXPECT_TRUE(std::equal(cut.begin() + 5, cut.end(), whole.begin() + 4));
  const auto rest = chunks_due(plan_for("fbp", 2, 1), {{0, 9}});
  EXPECT_EQ(rest[0], (Range{8, 12}));
  EXPECT_EQ(rest[3], (Range{20, 21}));
  EXPECT_EQ(rest[4], (Range{21, 24}));
}

TEST(DevicesFor, TheCpuComesLastAndOnlyWhereSlicesAreApart) {
  const Device cpu = Device::cpu(), one = Device::cuda(0), two = Device::cuda(1);
  using Devices = std::vector<Device>;
  for (const Devices& some : {Devices{cpu}, {cpu, cpu}, {one}, {two, one}})
    for (const Scan& scan : {Scan(ParallelBeam{}), Scan(ConeBeam{}), Scan(FanBeam{})})
      EXPECT_EQ(devices_for(scan, some), some);
  EXPECT_EQ(devices_for(ParallelBeam{}, {cpu, two, one}), (Devices{two, one, cpu}));
  EXPECT_EQ(devices_for(ConeBeam{}, {cpu, two, one}), (Devices{two, one}));
  EXPECT_EQ(devices_for(FanBeam{}, {one, cpu}), Devices{one});
}

}  // namespace
}  // namespace tandem::pipeline
