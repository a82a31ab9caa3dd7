// The forecast of a run from rates that are given by hand, and what runs tell of rates.

#include "../../forecast/forecast.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "../../forecast/trial.hpp"
#include "../../pipeline/plan/chunks_due.hpp"

namespace tandem::test {
namespace {

using pipeline::ChunkSeconds;
using pipeline::Rates;
using pipeline::StationWork;
using From = Rates::From;

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

TEST(RatesTest, AreTheMedianOfTheLatest) {
  Rates rates;
  EXPECT_FALSE(rates.rate("read").has_value());
  for (const double rate : {1000.0, 1.0, 5.0, 2.0, 3.0, 9.0}) rates.add("read", rate, From::run);
  EXPECT_EQ(rates.rate("read"), 3.0);  // the first of six is forgotten
  rates.add("write", 2, From::run);
  rates.add("write", 4, From::run);
  EXPECT_EQ(rates.rate("write"), 3.0);
}

TEST(RatesTest, OfRunsTakeThePlaceOfThoseOfTrials) {
  Rates rates;
  rates.add("read", 1, From::trial);
  EXPECT_EQ(rates.rate("read"), 1.0);
  rates.add("read", 7, From::run);
  EXPECT_EQ(rates.rate("read"), 7.0);
  rates.add("read", 1, From::trial);
  EXPECT_EQ(rates.rate("read"), 7.0);
}

TEST(RatesTest, ArePositiveAndFinite) {
  Rates rates;
  for (const double rate : {0.0, -1.0, HUGE_VAL, std::numeric_limits<double>::quiet_NaN()})
    rates.add("read", rate, From::run);
  EXPECT_TRUE(rates.all().empty());
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
  EXPECT_EQ(amount(work_done(works, 17), "iterate"), 17);
}

TEST(ForecastTest, AddsUpWhatSharesTheCores) {
  const pipeline::Plan plan = plan_for("fbp", 2);
  const auto works = works_of(plan);
  Rates rates;
  double seconds = 0;
  for (const StationWork& work : works)
    if (work.name != "finish") {
      EXPECT_FALSE(forecast(plan, chunks_due(plan, {}), works, rates).has_value()) << work.name;
      EXPECT_EQ(without_rate(works, rates).front(), work.name);
      const double own = work.name == "write" ? 8 : 2;
      rates.add(work.kind, work.amount / own, From::run);
      seconds += own;
    }
  const auto ahead = forecast(plan, chunks_due(plan, {}), works, rates);
  ASSERT_TRUE(ahead.has_value());
  EXPECT_DOUBLE_EQ(ahead->seconds, seconds);
  EXPECT_EQ(ahead->slowest, "write");
  rates.add(works.back().kind, works.back().amount / 100, From::run);  // finish
  EXPECT_DOUBLE_EQ(forecast(plan, chunks_due(plan, {}), works, rates)->seconds, seconds + 100);
}

TEST(ForecastTest, LetsStationsWorkBesideADevice) {
  pipeline::Plan plan = plan_for("fbp", 1);  // five chunks
  const auto works = works_of(plan);
  plan.flow.active_devices = {Device::cuda(0)};
  plan.flow.workers.front().device = Device::cuda(0);
  Rates rates;
  for (const StationWork& work : works) {
    const double own = work.name == "read" ? 10 : work.name == "write" ? 5 : 1;  // the worker: 3
    if (work.name != "finish") rates.add(work.kind, work.amount / own, From::run);
  }
  const auto ahead = forecast(plan, chunks_due(plan, {}), works, rates);
  ASSERT_TRUE(ahead.has_value());
  EXPECT_DOUBLE_EQ(ahead->seconds, 10 + 3.0 / 5 + 5.0 / 5);  // reading, then what the last chunk still needs
  EXPECT_EQ(ahead->slowest, "read");
}

/// A helper makes the others faster, and its work is in their rates.
TEST(ForecastTest, OfACrewWithAHelperIsThatOfTheOthersByTheirSeconds) {
  pipeline::Plan plan = plan_for("fbp", 1);
  const auto works = works_of(plan);
  plan.flow.active_devices = {Device::cuda(0)};
  plan.flow.workers.assign(3, {Device::cuda(0), plan.flow.execution()});
  pipeline::Seconds seconds;
  seconds.read = 1, seconds.preprocess = 3, seconds.filter = 6, seconds.backproject = 21, seconds.write = 2;
  seconds.total = 10;
  const auto ahead = [&] {
    return forecast(plan, chunks_due(plan, {}), works, rates_of(plan, works, seconds, From::run))->seconds;
  };
  const double alone = ahead();
  plan.flow.active_devices.push_back(Device::cpu());
  plan.flow.workers.push_back({Device::cpu(), {}, 2});
  EXPECT_DOUBLE_EQ(ahead(), alone);
  EXPECT_EQ(slowest_of(plan, seconds), "backproject");
  EXPECT_FALSE(shares_cores(plan));
}

TEST(ForecastTest, FollowsTheConveyor) {
  const std::vector<ChunkSeconds> even(4, {1, 3, 2});
  EXPECT_EQ(pipeline::conveyor_seconds(even, 1), 1 + 4 * 3 + 2);
  EXPECT_EQ(pipeline::conveyor_seconds(even, 2), 1 + 3 + 4 * 2);
  EXPECT_EQ(pipeline::conveyor_seconds(std::vector<ChunkSeconds>{{1, 1, 10}, {1, 1, 10}}, 1), 22);
  // a fast reader waits for a place: three are on their way with one worker
  EXPECT_EQ(
      pipeline::conveyor_seconds(std::vector<ChunkSeconds>{{0, 0, 5}, {0, 0, 5}, {0, 0, 5}, {9, 0, 0}}, 1),
      15);
  EXPECT_EQ(pipeline::conveyor_seconds({}, 1), 0);
}

TEST(ForecastTest, TellsOfTheNextRunWhatTheLastOneTook) {
  const pipeline::Plan plan = plan_for("fbp", 2);
  const auto works = works_of(plan);
  pipeline::Seconds seconds;
  seconds.read = 1, seconds.preprocess = 2, seconds.filter = 1, seconds.backproject = 6, seconds.write = 5;
  seconds.total = 10, seconds.finish = 0.5;  // stations slowed each other down by half
  const Rates rates = rates_of(plan, works, seconds, From::run);
  const auto ahead = forecast(plan, chunks_due(plan, {}), works, rates);
  ASSERT_TRUE(ahead.has_value());
  EXPECT_NEAR(ahead->seconds, 10.5, 1e-12);
  EXPECT_NEAR(ahead->parts.front().seconds, 10.0 / 15, 1e-12);
  EXPECT_EQ(ahead->slowest, "backproject");
  EXPECT_EQ(slowest_of(plan, seconds), "backproject");
}

TEST(TrialTest, MeasuresAllThatComputes) {
  for (const char* method : {"fbp", "cgls"}) {
    const pipeline::Plan plan = plan_for(method);
    const auto works = works_of(plan);
    const Rates rates = try_computing(scan(), plan, works);
    for (const StationWork& work : works) {
      const bool moves = work.name == "read" || work.name == "write" || work.name == "finish";
      EXPECT_EQ(rates.rate(work.kind).has_value(), !moves) << method << ' ' << work.name;
    }
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
  const auto works = work_of(plan, info, {"here", "there", 2}, chunks_due(plan, {}));
  EXPECT_NO_THROW(try_computing(info, plan, works));
}

}  // namespace
}  // namespace tandem::test
