// The forecast of a run from rates that are given by hand, and what runs tell of rates.

#include "../../forecast/forecast.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <numbers>
#include <vector>

#include "../../forecast/trial.hpp"
#include "../../pipeline/plan/chunks_due.hpp"
#include "../support/memory_reader.hpp"
#include "../support/temporary_folder.hpp"

namespace tandem::test {
namespace {

using pipeline::Rates;
using pipeline::StationWork;

constexpr Index views = 6, rows = 5, bins = 7;

io::ScanInfo scan() {
  io::ScanInfo info;
  ParallelBeam beam{{bins, rows, 1, 1, 3.0}};
  for (Index v = 0; v < views; ++v)
    beam.angles.push_back(std::numbers::pi * static_cast<double>(v) / static_cast<double>(views));
  info.scan = beam;
  info.flats = 2, info.darks = 1;
  info.axis_bin = 3.0;
  return info;
}

pipeline::Plan plan_for(const std::string& method, Index slices_at_once = rows) {
  pipeline::Recipe recipe;
  recipe.method = method;
  recipe.model = Model::pixel_driven;
  recipe.iterations = 3;
  recipe.size = 4;
  pipeline::Plan plan = make_plan(scan(), recipe);
  plan.flow.chunk_slices = slices_at_once;
  return plan;
}

std::vector<StationWork> works_of(const pipeline::Plan& plan) {
  return work_of(plan, scan(), {"here", "there", 2}, chunks_due(plan, {}));
}

double amount(const std::vector<StationWork>& works, std::string_view name) {
  for (const StationWork& work : works)
    if (work.name == name) return work.amount;
  return 0;
}

TEST(RatesTest, GoHalfTheWayToThoseOfAnotherRun) {
  Rates kept{{"read", 4}, {"write", 1}};
  pipeline::correct(kept, {{"read", 6}, {"iterate", 3}}, false);
  EXPECT_EQ(kept, (Rates{{"read", 5}, {"write", 1}, {"iterate", 3}}));
}

/// A rate that was measured under load, or beside a cache that is now cold, is gone after one run.
TEST(RatesTest, OfARunReplaceThoseThatMissed) {
  Rates kept{{"read", 4}, {"iterate", 0.1}};
  pipeline::correct(kept, {{"read", 3}, {"iterate", 2}}, true);
  EXPECT_EQ(kept, (Rates{{"read", 3}, {"iterate", 2}}));
}

TEST(ForecastTest, CountsWhatStationsMove) {
  const auto works = works_of(plan_for("fbp", 2));
  EXPECT_EQ(amount(works, "read"), (views + 2 + 1) * rows * bins * 2);
  EXPECT_EQ(amount(works, "preprocess"), views * rows * bins * 2);
  EXPECT_EQ(amount(works, "transfer"), 0);
  EXPECT_EQ(amount(works, "filter"), views * rows * bins * 4);
  EXPECT_EQ(amount(works, "backproject"), rows * 4 * 4 * views);
  EXPECT_EQ(amount(works, "iterate"), 0);
  EXPECT_EQ(amount(works, "write"), rows * 4 * 4 * 2);
}

TEST(ForecastTest, CountsTheSlicesThatAreDueOnly) {
  const pipeline::Plan plan = plan_for("fbp", 2);
  const auto works = work_of(plan, scan(), {"here", "there", 4}, chunks_due(plan, {{0, 2}}));
  EXPECT_EQ(amount(works, "read"), (views + 2 + 1) * 3 * bins * 2);
  EXPECT_EQ(amount(works, "write"), 3 * 4 * 4 * 4);
}

TEST(ForecastTest, TakesTheIterationsThatWereMade) {
  const auto works = works_of(plan_for("sirt"));
  const double updates = rows * 4 * 4 * views;
  EXPECT_EQ(amount(works, "backproject"), 0);
  EXPECT_GE(amount(works, "iterate"), 3 * 2 * updates);
  pipeline::Outcome outcome;
  outcome.updates = 17;
  EXPECT_EQ(amount(work_done(works, outcome), "iterate"), 17);
}

TEST(ForecastTest, AddsUpWhatSharesTheCores) {
  const pipeline::Plan plan = plan_for("fbp", 2);
  const auto works = works_of(plan);
  Rates rates;
  double seconds = 0;
  for (const StationWork& work : works) {
    EXPECT_FALSE(forecast(plan, 3, works, rates).has_value()) << work.name;
    const double own = work.name == "write" ? 8 : 2;
    rates[work.kind] = work.amount / own;
    seconds += own;
  }
  const auto ahead = forecast(plan, 3, works, rates);
  ASSERT_TRUE(ahead.has_value());
  EXPECT_DOUBLE_EQ(ahead->seconds, seconds);
  EXPECT_EQ(slowest_of(ahead->times), "write");
}

TEST(ForecastTest, LetsStationsWorkBesideADevice) {
  pipeline::Plan plan = plan_for("fbp", 1);
  const auto works = works_of(plan);
  plan.flow.active_devices = {Device::cuda(0)};
  plan.flow.workers.front().device = Device::cuda(0);
  Rates rates;
  for (const StationWork& work : works) {
    const double own = work.name == "read" ? 10 : work.name == "write" ? 5 : 1;  // the worker: 3
    rates[work.kind] = work.amount / own;
  }
  const auto ahead = forecast(plan, 5, works, rates);
  ASSERT_TRUE(ahead.has_value());
  EXPECT_DOUBLE_EQ(ahead->seconds, 10 + 3.0 / 5 + 5.0 / 5 + 1);  // what the last chunk needs, and the end
  EXPECT_EQ(slowest_of(ahead->times), "read");
}

TEST(ForecastTest, OfNoWorkIsNoTime) {
  pipeline::Plan plan = plan_for("fbp", 1);
  plan.flow.active_devices = {Device::cuda(0)};
  EXPECT_EQ(forecast(plan, 0, {}, {})->seconds, 0);
  EXPECT_EQ(pipeline::slowest_of({}), "");
}

TEST(ForecastTest, TheSlowestStationOfThreeWorkersIsFoundByTheSecondsOfOne) {
  pipeline::Plan plan = plan_for("fbp", 1);
  const auto works = works_of(plan);
  plan.flow.active_devices = {Device::cuda(0)};
  plan.flow.workers.assign(3, {Device::cuda(0), plan.flow.execution()});
  pipeline::Seconds seconds;
  seconds.read = 6, seconds.preprocess = 3, seconds.filter = 6, seconds.backproject = 21, seconds.write = 2;
  seconds.total = 10, seconds.finish = 1;
  EXPECT_EQ(slowest_of(times_of(plan, works, seconds)), "backproject");
  seconds.read = 8;
  EXPECT_EQ(slowest_of(times_of(plan, works, seconds)), "read");
}

TEST(ForecastTest, TellsOfTheNextRunWhatTheLastOneTook) {
  const pipeline::Plan plan = plan_for("fbp", 2);
  const auto works = works_of(plan);
  pipeline::Seconds seconds;
  seconds.read = 1, seconds.preprocess = 2, seconds.filter = 1, seconds.backproject = 6, seconds.write = 5;
  seconds.total = 10, seconds.finish = 0.5;  // stations slowed each other down by half
  const auto ahead = forecast(plan, 3, works, rates_of(plan, works, seconds));
  ASSERT_TRUE(ahead.has_value());
  EXPECT_NEAR(ahead->seconds, 10.5, 1e-12);
  EXPECT_NEAR(ahead->times.front().seconds, 10.0 / 15, 1e-12);
  EXPECT_EQ(slowest_of(ahead->times), "backproject");
}

/// A scan whose counts are the same everywhere: half of the flats.
class EvenScan final : public io::ScanReader {
 public:
  explicit EvenScan(const io::ScanInfo& info) { info_ = info; }
  using ScanReader::read;
  void read(io::FrameKind kind, Range frames, Range row, Range bin, io::Frames& into) override {
    const auto count = static_cast<std::size_t>(frames.size() * row.size() * bin.size());
    const std::uint16_t value = kind == io::FrameKind::dark ? 0 : kind == io::FrameKind::flat ? 200 : 100;
    into = frames_of(info_.type, {frames.size(), row.size(), bin.size()},
                     std::vector<std::uint16_t>(count, value));
  }
};

TEST(TrialTest, MeasuresAllStations) {
  const TemporaryFolder folder;
  for (const char* method : {"fbp", "cgls", "tv"})
    for (const char* volume : {"v.h5", "v.tif"}) {
      const pipeline::Plan plan = plan_for(method);
      const auto works = works_of(plan);
      EvenScan reader(scan());
      const Rates rates = try_part(reader, plan, works, folder / volume, {});
      for (const StationWork& work : works) EXPECT_TRUE(rates.contains(work.kind)) << method << work.name;
      EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
    }
}

TEST(TrialTest, OfSomeViewsHasTheirShifts) {
  io::ScanInfo info = scan();
  auto& beam = std::get<ParallelBeam>(info.scan);
  beam.view_shift_bins.assign(beam.angles.size(), 0.25);
  pipeline::Recipe recipe;
  recipe.model = Model::pixel_driven;
  recipe.size = 4;
  const pipeline::Plan plan = make_plan(info, recipe);
  const TemporaryFolder folder;
  EvenScan reader(info);
  EXPECT_NO_THROW(try_part(reader, plan, works_of(plan), folder / "v.h5", {}));
}

}  // namespace
}  // namespace tandem::test
