// What `recon --dry-run` foretells, and the rates that it keeps.

#include <gtest/gtest.h>

#include <fstream>

#include "program.hpp"

namespace tandem::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A scan, and a cache folder of this test alone.
class ForecastProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    const Ended made = run_("simulate -o scan.h5 --size 24 --bins 24 --rows 3 --views 20 --quiet");
    ASSERT_EQ(made.code, 0) << made.err;
  }
  Ended with_cache(const std::string& arguments, const std::string& cache = "cache") const {
    return run_(arguments, "export TANDEM_CACHE=" + cache + ";");
  }
  /// The report of a dry run.
  json planned(const std::string& options = "", const std::string& cache = "cache") const {
    const Ended ended = with_cache("recon scan.h5 -o v.h5 --dry-run --json - " + options, cache);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return json::parse(ended.out);
  }
  json rates() const { return run_.json("cache/rates.json"); }
  void write_rates(const std::string& text) const { std::ofstream(run_ / "cache/rates.json") << text; }
  /// Makes all rates that are kept so many times as fast.
  void change_rates(double times) const {
    json all = rates();
    for (auto& [kind, rate] : all["rates"].items()) rate = times * rate.get<double>();
    write_rates(all.dump());
  }
  /// The seconds of a run, from its first file to its last.
  double seconds_of_a_run(const std::string& options = "") const {
    EXPECT_EQ(with_cache("recon scan.h5 -o v.h5 --overwrite --json r.json" + options).code, 0);
    return run_.json("r.json")["seconds"]["run"];
  }

  Program run_;
};

/// How often a text has some words.
int count_of(const std::string& text, const std::string& words) {
  int count = 0;
  for (std::size_t at = text.find(words); at != text.npos; at = text.find(words, at + 1)) ++count;
  return count;
}

TEST_F(ForecastProgram, IsMeasuredOnce) {
  const Ended first = with_cache("recon scan.h5 -o v.h5 --dry-run");
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(count_of(first.err, "note: "), 1) << first.err;
  EXPECT_NE(first.err.find("a small part is tried for the forecast"), std::string::npos) << first.err;
  EXPECT_NE(first.out.find("forecast"), std::string::npos) << first.out;
  const std::string kept = text_of(run_ / "cache/rates.json");
  const Ended second = with_cache("recon scan.h5 -o v.h5 --dry-run");
  EXPECT_EQ(second.err.find("is tried"), std::string::npos) << second.err;
  EXPECT_EQ(text_of(run_ / "cache/rates.json"), kept);
  EXPECT_FALSE(run_.has("v.h5"));
  EXPECT_EQ(run_.left_of(".trial"), 0);
}

TEST_F(ForecastProgram, TellsOfMeasuringOnceForSeveralScans) {
  for (const char* more : {"a.h5 --size 48 --bins 48", "b.h5 --size 96 --bins 96"})
    ASSERT_EQ(run_("simulate --rows 3 --views 20 --quiet -o " + std::string(more)).code, 0);
  const Ended ended = with_cache("recon scan.h5 a.h5 b.h5 -o '{name}-v.h5' --dry-run");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(count_of(ended.err, "is tried"), 1) << ended.err;
  EXPECT_EQ(count_of(ended.out, "forecast  about"), 3) << ended.out;
}

/// A forecast that was measured while others used the machine is right again after one run, be it short.
TEST_F(ForecastProgram, OfABusyMachineDoesNotStay) {
  for (const std::string options : {"", " --reconstruction-algorithm sirt --iterations 2000"}) {
    planned(options);
    seconds_of_a_run(options);
    change_rates(1e-3);
    const double wrong = planned(options)["forecast"]["seconds"];
    const double took = seconds_of_a_run(options);
    EXPECT_GT(wrong, 10 * took) << options;
    EXPECT_LT(planned(options)["forecast"]["seconds"], 2 * took) << options;
  }
}

/// Nor does one that was too short.
TEST_F(ForecastProgram, OfAFasterMachineDoesNotStay) {
  const std::string options = " --reconstruction-algorithm sirt --iterations 10000";
  planned(options);
  change_rates(100);
  const double took = seconds_of_a_run(options);
  EXPECT_GT(took, 0.3);
  EXPECT_GT(planned(options)["forecast"]["seconds"], 0.5 * took);
}

/// What a run says that it took is the time from its first file to its last, not that of its stations.
TEST_F(ForecastProgram, IsBesideTheTimeOnTheClock) {
  planned();
  const Ended ended = with_cache("recon scan.h5 -o v.h5 --json r.json");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const json seconds = run_.json("r.json")["seconds"];
  EXPECT_GT(seconds["run"], seconds["total"]);
  for (const char* word : {"\ntime      ", " s, took "}) {
    const std::size_t at = ended.out.find(word);
    ASSERT_NE(at, std::string::npos) << ended.out;
    const double said = std::stod(ended.out.substr(at + std::string(word).size()));
    EXPECT_NEAR(said, seconds["run"], 0.005 * seconds["run"].get<double>());  // three digits
  }
}

TEST_F(ForecastProgram, FollowsFromTheRates) {
  planned();
  json all = rates();
  for (auto& [kind, rate] : all["rates"].items()) rate = kind.starts_with("write") ? 1.0 : 1e6;
  write_rates(all.dump());
  const json told = planned()["forecast"];
  double seconds = 0;
  for (const json& station : told["stations"]) {
    const double amount = station[station.contains("bytes") ? "bytes" : "updates"];
    EXPECT_DOUBLE_EQ(station["seconds"], amount / (station["name"] == "write" ? 1.0 : 1e6));
    seconds += station["seconds"].get<double>();
  }
  EXPECT_NEAR(told["seconds"], seconds, 1e-9 * seconds);
  EXPECT_EQ(told["slowest"], "write");
  const Ended ended = with_cache("recon scan.h5 -o v.h5 --json r.json");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NEAR(run_.json("r.json")["forecast"]["seconds"], seconds, 1e-9 * seconds);
  EXPECT_NE(ended.out.find("s, took "), std::string::npos) << ended.out;
}

TEST_F(ForecastProgram, RunsMeasureNothing) {
  const Ended ended = with_cache("recon scan.h5 -o v.h5 --json r.json");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.err.find("is tried"), std::string::npos) << ended.err;
  const json report = run_.json("r.json");
  EXPECT_TRUE(report["forecast"].is_null());
  double share = 0;
  std::string names;
  for (const json& station : report["stations"]) {
    names += station["name"].get<std::string>() + ' ';
    share += station["share"].get<double>();
    if (station["name"] == "finish") continue;
    EXPECT_EQ(station["seconds"], report["seconds"][station["name"].get<std::string>()]);
  }
  EXPECT_EQ(names, "read preprocess filter backproject write finish ");
  EXPECT_NEAR(share, 1, 1e-12);
}

TEST_F(ForecastProgram, WarnsOfAFullDisk) {
  const std::string cone =
      "--geometry cone --sod 60 --sdd 90 --pixel-size 0.5 --size 12 --rows 3 --views 16 --quiet";
  ASSERT_EQ(run_("simulate -o cone.h5 " + cone).code, 0);
  const auto warnings = [&](const std::string& options) {
    const Ended ended = with_cache("recon cone.h5 -o v.h5 --dry-run --json - " + options);
    EXPECT_EQ(ended.code, 0) << ended.err;
    const json report = json::parse(ended.out);
    return std::pair{report["disk_bytes"].get<double>(), report["warnings"].dump()};
  };
  const auto [small, none] = warnings("--size 12 --slices 3");
  EXPECT_EQ(small, 3 * 12 * 12 * 4);
  EXPECT_EQ(none.find("MiB free"), std::string::npos) << none;
  const auto [large, lack] = warnings("--size 2000 --voxel-size 0.01 --slices 10000000");
  EXPECT_EQ(large, 1e7 * 2000 * 2000 * 4);
  EXPECT_NE(lack.find("the volume takes 1.526e+08 MiB"), std::string::npos) << lack;
}

TEST_F(ForecastProgram, DamagedRatesAreMeasuredAgain) {
  fs::create_directories(run_ / "cache");
  const json good = planned();
  for (const std::string& damaged :
       {std::string(), std::string("{"), std::string("[1, 2]"), std::string("{\"rates\": 7}"),
        std::string("{\"rates\": {\"read\": {\"per_second\": [1e9]}}}"), std::string(100000, '['),
        std::string("\0\xff\xfe", 3)}) {
    write_rates(damaged);
    EXPECT_EQ(planned()["forecast"]["stations"].size(), good["forecast"]["stations"].size()) << damaged;
    EXPECT_FALSE(rates()["rates"].empty());
  }
  json wrong = rates();
  for (const char* rate : {"\"fast\"", "null", "-1", "0", "1e999", "[1]"}) {
    std::string text = wrong.dump();
    for (const auto& [kind, entry] : wrong["rates"].items())
      text.replace(text.find(entry.dump()), entry.dump().size(), rate);
    write_rates(text);
    EXPECT_EQ(planned()["forecast"]["stations"].size(), good["forecast"]["stations"].size()) << rate;
  }
}

TEST_F(ForecastProgram, NeedsNoPlaceForRates) {
  std::ofstream(run_ / "file") << "no folder";
  fs::create_directories(run_ / "taken/rates.json");
  for (const std::string cache : {"file", "file/below", "taken", "/proc/none"}) {
    EXPECT_FALSE(planned("", cache)["forecast"].is_null()) << cache;
    const Ended ended = with_cache("recon scan.h5 -o v.h5 --overwrite", cache);
    EXPECT_EQ(ended.code, 0) << ended.err;
  }
  EXPECT_EQ(text_of(run_ / "file"), "no folder");
  EXPECT_EQ(run_.left_of("rates"), 0);
}

TEST_F(ForecastProgram, TwoAtOnceLeaveTheRatesWhole) {
  std::string all = "export TANDEM_CACHE=cache;";
  for (int k = 0; k < 6; ++k)
    all += " '" TANDEM_PROGRAM "' recon scan.h5 -o v" + std::to_string(k) + ".h5 --dry-run --size " +
           std::to_string(4 << k) + " > /dev/null 2>&1 &";
  ASSERT_EQ(run_("--version", all + " wait;").code, 0);
  const json kept = rates();
  EXPECT_FALSE(kept["rates"].empty());
  for (const auto& [kind, rate] : kept["rates"].items()) EXPECT_GT(rate, 0) << kind;
  EXPECT_EQ(std::distance(fs::directory_iterator(run_ / "cache"), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace tandem::test
