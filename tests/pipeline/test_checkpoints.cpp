// A run that ends anywhere goes on from its check-point, with the same bits.

#include "../../pipeline/checkpoints.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "../../core/error.hpp"
#include "../../pipeline/methods/method.hpp"
#include "../support/reconstructions.hpp"
#include "../support/small_disk.hpp"
#include "../support/temporary_folder.hpp"

namespace tandem::pipeline {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

const io::Identity identity{{"the scan", "12 bytes"}, {"--iterations", "9"}};

/// Thrown at the place where a run is to end.
struct Killed {};

struct Made {
  std::vector<float> volume;
  Outcome outcome;
};

class CheckpointsOfRuns : public ::testing::Test {
 protected:
  void simulate(const Simulation& s) {
    test::write_scan(scan_, SimulatedScan(s));
    size_ = s.grid.size;
  }
  Plan plan_for(const std::string& method) {
    Recipe recipe;
    recipe.method = method;
    recipe.iterations = 9;
    const Method& named = method_named(method);
    recipe.stop_by_ncp = stop_by_ncp_ && named.kind.tells.residual;
    recipe.stop_by_gcv = stop_by_gcv_;
    recipe.stop_by_discrepancy = !recipe.stop_by_ncp && !stop_by_gcv_ && !named.weighs_data &&
                                 !named.subsets &&  // these would be done too soon
                                 !named.kind.takes_blank;
    if (named.weighs_data) recipe.tv_weight = 0.3f;
    if (method == "sirt") recipe.nonnegative = true;
    reader_ = io::open_scan(scan_);
    Plan plan = make_plan(reader_->info(), recipe);
    if (rows_are_slices(plan.job.scan)) plan.flow.chunk_slices = 4;  // three chunks
    return plan;
  }
  Checkpoints::Request request(bool resume, const io::Identity& same = identity) const {
    return {.file = file_, .identity = same, .every = every_, .resume = resume};
  }
  /// Ends before so many further steps of all chunks are seen; -1: never.
  Made make(Plan plan, Checkpoints* checkpoints, int steps = -1) {
    Options options{.curves = true, .checkpoints = checkpoints};
    if (checkpoints) checkpoints->suit(plan.flow);
    std::string seen;  // stations that go on at the same time tell the same again
    options.progress = [&](const Stage& at) {
      if (at.name != "iterate" || at.detail.empty() || std::exchange(seen, at.detail) == at.detail) return;
      if (steps >= 0 && steps-- == 0) throw Killed();
    };
    test::MemoryWriter writer(plan.job.grid.shape());
    Outcome outcome = reconstruct(*reader_, plan, writer, options);
    return {writer.volume, std::move(outcome)};
  }
  /// Kills runs after each number of steps, and compares what they become with a run that nobody killed.
  void expect_goes_on(const std::string& method, const std::vector<int>& kills = {3, 5, 8, 14}) {
    const Plan plan = plan_for(method);
    const Made whole = make(plan, nullptr);
    for (const int steps : kills) {
      {
        Checkpoints first(request(false));
        EXPECT_THROW(make(plan, &first, steps), Killed) << method << steps;
      }
      Checkpoints second(request(true));
      ASSERT_FALSE(second.found().empty()) << method << steps;
      const Made rest = make(plan, &second);
      EXPECT_TRUE(test::same_bits(rest.volume, whole.volume)) << method << steps;
      EXPECT_EQ(rest.outcome.residuals, whole.outcome.residuals) << method << steps;
      EXPECT_EQ(rest.outcome.slice_iterations, whole.outcome.slice_iterations) << method << steps;
      EXPECT_EQ(rest.outcome.stopped_by, whole.outcome.stopped_by) << method << steps;
      EXPECT_EQ(rest.outcome.curves.change.values, whole.outcome.curves.change.values) << method << steps;
      EXPECT_EQ(rest.outcome.curves.objective.values, whole.outcome.curves.objective.values)
          << method << steps;
      EXPECT_LT(rest.outcome.updates, whole.outcome.updates) << method << steps << ": begun anew";
      second.finish();
      EXPECT_FALSE(fs::exists(file_)) << method << steps;
    }
  }

  TemporaryFolder folder_;
  fs::path scan_ = folder_ / "scan.h5", file_ = folder_ / "state";
  std::array<Index, 3> size_{};
  bool stop_by_ncp_ = false, stop_by_gcv_ = false;
  int every_ = 2;
  std::unique_ptr<io::ScanReader> reader_;
};

TEST_F(CheckpointsOfRuns, GoOnWithTheSameBitsInChunks) {
  simulate(test::small_simulation(300));
  for (const Method& method : methods())
    if (method.kind.tells.state) expect_goes_on(std::string(method.name));
}

TEST_F(CheckpointsOfRuns, KeepWhatRulesCompareWith) {
  simulate(test::small_simulation(300));
  stop_by_ncp_ = true;
  every_ = 1;
  expect_goes_on("cgls", {2, 3, 4, 5, 6, 7});  // also where the next slices begin
}

TEST_F(CheckpointsOfRuns, KeepFollowers) {
  simulate(test::small_simulation(300));
  stop_by_gcv_ = true;
  every_ = 1;
  for (const char* method : {"cgls", "lsqr", "lsmr", "ba-gmres", "sirt"}) expect_goes_on(method, {2, 4, 5});
}

TEST_F(CheckpointsOfRuns, GoOnWithTheSameBitsInConeBeams) {
  simulate(test::cone_simulation(300));
  const Plan plan = plan_for("cgls");
  const Made whole = make(plan, nullptr);
  ASSERT_GE(whole.outcome.iterations, 4);
  {
    Checkpoints first(request(false));
    EXPECT_THROW(make(plan, &first, 3), Killed);
  }
  Checkpoints second(request(true));
  EXPECT_EQ(second.found(), std::vector<Range>({{0, plan.job.grid.size[2]}}));
  EXPECT_TRUE(test::same_bits(make(plan, &second).volume, whole.volume));
}

TEST_F(CheckpointsOfRuns, MakeChunksOfTheirSize) {
  simulate(test::small_simulation(300));
  Plan plan = plan_for("cgls");
  {
    Checkpoints first(request(false));
    EXPECT_THROW(make(plan, &first, 5), Killed);
  }
  Checkpoints second(request(true));
  Plan larger = plan, smaller = plan;
  larger.flow.chunk_slices = std::get<SliceSizes>(larger.flow.sizes).part_slices = 11;
  second.suit(larger.flow);
  EXPECT_EQ(larger.flow.chunk_slices, 4);
  EXPECT_EQ(part_slices(larger.flow, 12), 8);
  smaller.flow.chunk_slices = 3;
  EXPECT_THROW(second.suit(smaller.flow), DeviceError);
}

/// The message names what differs.
template <class Error = FileError>
void expect_refused(const Checkpoints::Request& request, const std::string& words) {
  try {
    const Checkpoints refused(request);
    ADD_FAILURE() << "nothing was refused: " << words;
  } catch (const Error& fault) {
    EXPECT_NE(std::string(fault.what()).find(words), std::string::npos) << fault.what();
  }
}

TEST_F(CheckpointsOfRuns, RefuseWhatIsDamagedOrOfAnotherRun) {
  simulate(test::small_simulation(300));
  const Plan plan = plan_for("cgls");
  {
    Checkpoints first(request(false));
    EXPECT_THROW(make(plan, &first, 5), Killed);
  }
  expect_refused(request(false), "is there already; give --resume");
  expect_refused(request(true, {{"the scan", "13 bytes"}, {"--iterations", "9"}}),
                 "the scan is 13 bytes, and was 12 bytes");
  expect_refused(request(true, {{"the scan", "12 bytes"}}), "--iterations is not given, and was 9");
  const auto bytes = fs::file_size(file_);
  for (const std::uintmax_t place : {bytes / 2, bytes - 1, std::uintmax_t{40}}) {
    std::fstream file(file_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(place));
    const int old = file.get();
    file.seekp(static_cast<std::streamoff>(place));
    file.put(static_cast<char>(old ^ 8));
    file.close();
    expect_refused(request(true), "is damaged");
    file.open(file_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(place));
    file.put(static_cast<char>(old));
  }
  { const Checkpoints fine(request(true)); }
  fs::resize_file(file_, bytes - 5);
  expect_refused(request(true), "is damaged");
  fs::resize_file(file_, 0);
  expect_refused(request(true), "is there already, and tandem did not write it");
  Checkpoints::Request any = request(true);
  any.replace = io::Replace::any;
  expect_refused(any, "is no check-point of tandem");
}

TEST_F(CheckpointsOfRuns, StayIfTheDiskIsFull) {
  simulate(test::small_simulation(300));
  const Plan plan = plan_for("cgls");
  const Made whole = make(plan, nullptr);
  {
    Checkpoints first(request(false));
    EXPECT_THROW(make(plan, &first, 3), Killed);
  }
  std::ifstream before(file_, std::ios::binary);
  const std::string kept{std::istreambuf_iterator<char>(before), {}};
  {
    Checkpoints second(request(true));
    const test::SmallDisk full(1 << 12);
    EXPECT_TRUE(test::same_bits(make(plan, &second).volume, whole.volume));
    const std::vector<std::string> warnings = second.take_warnings();
    ASSERT_FALSE(warnings.empty());
    EXPECT_NE(warnings.front().find("could not be written"), std::string::npos) << warnings.front();
    EXPECT_NE(warnings.front().find("the run goes on, and the check-point before stays"), std::string::npos)
        << warnings.front();
  }
  std::ifstream after(file_, std::ios::binary);
  EXPECT_TRUE(std::string(std::istreambuf_iterator<char>(after), {}) == kept) << "the check-point changed";
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 2);
}

/// A solver whose state is one number.
struct Counting {
  Array x{Space({1, 1, 1})};
  std::vector<double> norms{1};
  void step(const ActiveBlocks&) { ++norms.front(); }
  const Array& solution() const& { return x; }
  Array solution() && { return std::move(x); }
  const std::vector<double>& residual_norms() const { return norms; }
  SolverState state() { return {{"norms", norms}}; }
};

/// Some steps on a chunk, and a check-point.
void step(Checkpoints& all, Range slices, double norm, int iteration) {
  AnySolver solver{Counting{.norms = {norm}}};
  ChunkState at;
  at.run.report.iterations = iteration;
  all.save(slices, at, solver);
}

TEST(Checkpoints, AreOneForEachChunkInTheMaking) {
  const TemporaryFolder folder;
  const auto request = [&](bool resume) {
    return Checkpoints::Request{.file = folder / "state", .identity = identity, .every = 1, .resume = resume};
  };
  const Range a{0, 2}, b{2, 4}, c{4, 6};
  AnySolver solver{Counting{}};
  ChunkState at;
  {
    Checkpoints all(request(false));
    Plan plan;
    plan.flow.chunk_slices = 2;
    plan.flow.workers.resize(2);
    all.suit(plan.flow);
    for (const Range chunk : {a, b}) all.begin(chunk, at, solver);
    step(all, a, 10, 1);
    step(all, b, 20, 2);
    all.end(a);
    all.begin(c, at, solver);  // takes the file of a with its first check-point
    step(all, c, 30, 3);
    step(all, b, 21, 4);
  }
  EXPECT_TRUE(fs::exists(folder / "state") && fs::exists(folder / "state.1") &&
              !fs::exists(folder / "state.2"));
  Checkpoints again(request(true));
  EXPECT_EQ(again.found(), std::vector<Range>({b, c}));
  EXPECT_EQ(again.in_order({a, b, c}), std::vector<Range>({c, b, a}));
  again.begin(b, at, solver);
  EXPECT_EQ(at.run.report.iterations, 4);
  EXPECT_EQ(solver.residual_norms(), std::vector<double>{21});
  step(again, b, 22, 5);
  again.begin(c, at, solver);
  EXPECT_EQ(solver.residual_norms(), std::vector<double>{30}) << "overwritten by another chunk";
  again.finish();
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()),
            1);  // the locked file
}

TEST(Curves, AreAddedUpAsTheyGo) {
  const Curve a{{0, 1, 2}, {1, 2, 3}}, b{{0, 2, 5}, {10, 20, 30}};
  const Curve sum = sum_of({&a, &b});
  EXPECT_EQ(sum.iterations, std::vector<int>({0, 1, 2, 5}));
  EXPECT_EQ(sum.values, std::vector<double>({11, 12, 23, 33}));
  EXPECT_EQ(sum_of({}).iterations.size(), 0u);
}

TEST(Curves, AreLookedAtLessAndLessOften) {
  Curve seen;
  std::vector<int> rare;
  for (int k = 0; k <= 1000; ++k) {
    if (is_due(k, seen)) seen.add(k, 0);
    if (is_rarely_due(k)) rare.push_back(k);
  }
  EXPECT_EQ(seen.iterations[20], 20);
  EXPECT_LT(seen.iterations.size(), 110u);
  EXPECT_EQ(rare, std::vector<int>({0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}));
}

/// For one slice, the curve of quality ends with the quality of the volume.
TEST_F(CheckpointsOfRuns, ShowCurvesOfWhatIsThere) {
  Simulation s = test::small_simulation({});
  detector_of(s.scan).rows = 1;
  s.grid = fitting_grid(s.scan);
  simulate(s);
  const fs::path truth = folder_ / "truth.h5";
  {
    std::vector<float> voxels(static_cast<std::size_t>(size_[0] * size_[1]));
    SimulatedScan(s).truth({0, 1}, voxels);
    const auto writer = io::create_volume(truth, {1, size_[1], size_[0]}, {}, "{}");
    writer->write({0, 1}, voxels.data());
    writer->finish("{}");
  }
  Recipe recipe;
  recipe.method = "tv";
  recipe.tv_weight = 0.1f;
  recipe.iterations = 23;
  const auto reader = io::open_scan(scan_);
  const Plan plan = make_plan(reader->info(), recipe);
  test::MemoryWriter writer(plan.job.grid.shape());
  const Outcome out = reconstruct(*reader, plan, writer, {.truth = truth, .curves = true});
  ASSERT_TRUE(out.quality);
  EXPECT_EQ(out.curves.slices, std::vector<Index>{0});
  EXPECT_EQ(out.curves.psnr.iterations.back(), 23);
  EXPECT_NEAR(out.curves.psnr.values.back(), out.quality->psnr, 1e-9);
  EXPECT_NEAR(out.curves.ssim.values.back(), out.quality->ssim, 1e-12);
  EXPECT_EQ(out.curves.change.iterations.size(), 23u);
  EXPECT_EQ(out.curves.objective.iterations, std::vector<int>({0, 1, 2, 5, 10, 20, 23}));
  EXPECT_LT(out.curves.objective.values.back(), out.curves.objective.values.front());
  const Outcome without = reconstruct(*reader, plan, writer, {});
  EXPECT_TRUE(without.curves.slices.empty());
  EXPECT_LT(without.updates, out.updates);
}

}  // namespace
}  // namespace tandem::pipeline
