// A crew of several workers, here all on the CPU.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../pipeline/plan/route.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"
#include "../support/watched_method.hpp"

namespace tandem::pipeline {
namespace {

namespace fs = std::filesystem;

using test::reconstructed, test::same_bits, test::Watched;

constexpr Index slices = 103, at_once = 4;

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

  Plan plan_for(const std::string& method, int workers) const {
    Recipe recipe;
    recipe.method = method;
    recipe.iterations = 5;
    recipe.model = Model::pixel_driven;
    Plan plan = make_plan(reader_->info(), recipe);
    plan.flow.chunk_slices = at_once;
    plan.flow.workers.resize(static_cast<std::size_t>(workers), plan.flow.workers.front());
    return plan;
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<io::ScanReader> reader_;
};

/// The second worker takes as long for each of its chunks as the other one for five.
TEST_F(Crew, ASlowWorkerChangesNothingInTheVolume) {
  for (const std::string method : {"fbp", "cgls"}) {
    Outcome alone, both;
    const std::vector<float> expected = reconstructed(*reader_, plan_for(method, 1), &alone);
    std::array<std::atomic<Index>, 2> begun{};
    std::vector<std::atomic<int>> times(slices);
    const Watched slowed(method, [&](const Work& work, Range some) {
      for (Index z = some.first; z < some.last; ++z) ++times[z];
      begun[work.worker] += some.size();
      const Index enough = begun[0] + 5 * at_once;
      while (work.worker == 1 && begun[0] < enough && begun[0] + begun[1] < slices) std::this_thread::yield();
    });
    Plan plan = plan_for(method, 2);
    plan.job.method = slowed.method();
    EXPECT_TRUE(same_bits(reconstructed(*reader_, plan, &both), expected)) << method;
    for (const auto& some : times) ASSERT_EQ(some, 1);
    EXPECT_LT(begun[1], slices / 2);
    EXPECT_EQ(both.slices, slices);
    EXPECT_EQ(both.updates, alone.updates);
    EXPECT_EQ(both.slice_iterations, alone.slice_iterations);
    EXPECT_EQ(both.residuals, alone.residuals);
  }
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
  for (const int lost : {0, 1}) {
    const fs::path path = folder_.path() / ("v" + std::to_string(lost) + ".h5");
    const auto writer = [&] {
      return io::create_volume(path, {slices, 13, 13}, {}, "{}", io::Replace::own,
                               {.wanted = true, .identity = identity});
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
    Plan plan = plan_for("fbp", 2);
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
    reconstruct(*reader_, plan_for("fbp", 2), *rest, {});
    rest->finish("{}");
    EXPECT_EQ(begun, at_the_end);  // nobody was left at work
    std::vector<float> voxels(expected.size());
    io::VolumeReader(path).read({0, slices}, voxels.data());
    EXPECT_TRUE(same_bits(voxels, expected));
  }
}

TEST_F(Crew, IsOfTheCpuOrOfGpus) {
  Recipe recipe;
  recipe.devices = {Device::cuda(0), Device::cpu()};
  EXPECT_THROW(make_plan(reader_->info(), recipe), GeometryError);
}

TEST_F(Crew, MemoryOfEachWorkerIsCounted) {
  for (const std::string method : {"fbp", "cgls"}) {
    const auto bytes = [&](int workers) {
      return host_bytes(plan_for(method, workers), reader_->info(), at_once);
    };
    EXPECT_GT(bytes(2), bytes(1) + 4.0 * at_once * (7 * 13 + 13 * 13));  // its data and its volume
  }
}

}  // namespace
}  // namespace tandem::pipeline
