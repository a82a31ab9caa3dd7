#include "../../pipeline/watch/station_board.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "../../solvers/run.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"

namespace tandem::test {
namespace {

using namespace pipeline;

struct Watched {
  Outcome outcome;
  StationBoard::Snapshot seen;
  const StationState& of(const std::string& name) const {
    for (const StationState& station : seen.stations)
      if (station.name == name) return station;
    throw std::out_of_range(name);
  }
};

Watched watched(const Recipe& recipe, Index rows_at_once) {
  const TemporaryFolder folder;
  write_scan(folder / "scan.h5", SimulatedScan(small_simulation(1e4)));
  const auto reader = io::open_scan(folder / "scan.h5");
  Plan plan = make_plan(reader->info(), recipe);
  plan.flow.chunk_slices = rows_at_once;
  MemoryWriter writer(plan.job.grid.shape());
  StationBoard board;
  Options options;
  options.board = &board;
  Watched run{reconstruct(*reader, plan, writer, options), {}};
  run.seen = board.snapshot();
  return run;
}

TEST(StationBoard, CountsWhatPassesEachStation) {
  Recipe recipe;
  recipe.devices = {Device::cpu(), Device::cpu()};
  const Watched run = watched(recipe, 2);
  constexpr double rows = small::rows, bins = small::bins;
  EXPECT_EQ(run.seen.slices, rows);
  EXPECT_EQ(run.seen.stations.front().name, "read");
  EXPECT_EQ(run.seen.stations.back().name, "write");
  for (const char* name : {"read", "preprocess", "filter", "back-project", "write"}) {
    const StationState& station = run.of(name);
    EXPECT_EQ(station.done.slices, rows) << name;
    EXPECT_EQ(station.working, 0) << name;
    EXPECT_EQ(station.waiting, std::string(name) == "preprocess" || std::string(name) == "write" ? 0 : -1)
        << name;
    EXPECT_GT(station.best, 0) << name;
    EXPECT_GE(station.best, station.rate) << name;
  }
  EXPECT_EQ(run.of("read").done.bytes, 2 * small::views * rows * bins);  // uint16
  EXPECT_EQ(run.of("preprocess").done.bytes, 4 * small::views * rows * bins);
  EXPECT_EQ(run.of("write").done.bytes, 4 * rows * bins * bins);
  EXPECT_EQ(run.of("back-project").done.updates, run.outcome.updates);
  const double rounding = 1e-9;  // rounding of sums of times
  EXPECT_NEAR(run.of("read").seconds, run.outcome.seconds.read, rounding);
  EXPECT_NEAR(run.of("back-project").seconds, run.outcome.seconds.backproject, rounding);
  EXPECT_TRUE(run.seen.curves.empty());
}

TEST(StationBoard, HasTheResidualsOfASolverChunkByChunk) {
  Recipe recipe;
  recipe.method = "cgls";
  recipe.iterations = 5;
  const Watched run = watched(recipe, 3);
  double squares = 0, firsts = 0;
  Index slices = 0;
  ASSERT_FALSE(run.seen.curves.empty());
  for (const ResidualCurve& curve : run.seen.curves) {
    EXPECT_EQ(curve.iterations, (std::vector<int>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(curve.residuals.front(), 1);
    slices += curve.slices.size();
    for (const Iterated& chunk : run.outcome.iterated)
      if (chunk.slices == curve.slices) {
        EXPECT_NEAR(curve.residuals.back(), std::sqrt(chunk.squares.back() / chunk.squares.front()), 1e-12);
        squares += chunk.squares.back(), firsts += chunk.squares.front();
      }
  }
  EXPECT_EQ(slices, small::rows);
  EXPECT_NEAR(run.outcome.residuals.back(), std::sqrt(squares / firsts), 1e-12);
  EXPECT_EQ(run.of("iterate").done.slices, small::rows);
  EXPECT_GT(run.of("iterate").best, 0);
}

TEST(StationBoard, KeepsFewPointsOfLongCurvesAndFewCurves) {
  StationBoard board;
  for (int k = 0; k <= 100'000; ++k) board.residual({0, 1}, k, 1.0 / (k + 1));
  const ResidualCurve curve = board.snapshot().curves.front();
  EXPECT_LE(curve.iterations.size(), 256u);
  EXPECT_GE(curve.iterations.size(), 100u);
  EXPECT_EQ(curve.iterations.front(), 0);
  EXPECT_GT(curve.iterations.back(), 99'000);
  for (std::size_t k = 0; k < curve.iterations.size(); ++k)
    EXPECT_EQ(curve.residuals[k], 1.0 / (curve.iterations[k] + 1));
  for (Index z = 1; z < 50; ++z) board.residual({z, z + 1}, 0, 1);
  EXPECT_EQ(board.snapshot().curves.size(), 8u);
  EXPECT_EQ(board.snapshot().curves.back().slices, (Range{49, 50}));
}

TEST(StationBoard, ShowsWorkThatHasNotEnded) {
  StationBoard board;
  board.queue("write", 1);
  board.queue("write", 1);
  const double start = seconds_now() - 10;
  StationBoard::Shift one = board.begin("write", start), other = board.begin("write", start + 4);
  board.queue("write", -1);
  board.reached(one, {.slices = 3, .bytes = 600}, start + 0.25);
  board.reached(one, {.slices = 2, .bytes = 400}, start + 0.5);  // came late
  const StationState now = board.snapshot().stations.at(0);
  EXPECT_EQ(now.working, 2);
  EXPECT_EQ(now.waiting, 1);
  EXPECT_EQ(now.done.slices, 3);
  EXPECT_EQ(now.done.bytes, 600);
  EXPECT_GE(now.seconds, 16);
  EXPECT_LE(now.seconds, 2 * (seconds_now() - start));
  EXPECT_EQ(now.rate, 600 / 0.5);
  EXPECT_EQ(now.best, 0);  // too early to tell
  board.reached(one, {.slices = 3, .bytes = 600}, start + 1);
  EXPECT_EQ(board.snapshot().stations.at(0).best, 600);
  board.end(one, {.slices = 4, .bytes = 800}, start + 4);
  board.end(other, {}, start + 7);
  const StationState then = board.snapshot().stations.at(0);
  EXPECT_EQ(then.working, 0);
  EXPECT_EQ(then.done.slices, 4);
  EXPECT_EQ(then.done.bytes, 800);
  EXPECT_EQ(then.rate, 200);
  EXPECT_EQ(then.best, 600);
  EXPECT_NEAR(then.seconds, 4 + 3, 1e-9);
}

}  // namespace
}  // namespace tandem::test
