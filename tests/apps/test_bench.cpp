// What `check` and `bench` say of the kernels.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "../../core/device.hpp"
#include "../../operators/filter.hpp"
#include "check_report.hpp"
#include "program.hpp"

namespace tandem::test {
namespace {

TEST(Program, ChecksItsPairsWithEveryKernel) {
  const nlohmann::json report = check_report(Device::cpu());
  expect_every_kernel_reached(report, Device::cpu());
  for (const auto& pair : report["pairs"]) {
    const bool matched = pair["name"].get<std::string>().find("unmatched") == std::string::npos;
    EXPECT_EQ(pair["mu"] < 1e-5, matched) << pair;
  }
}

TEST(Program, MeasuresEveryCase) {
  Program run;
  for (const std::string name : {"parallel", "fourier", "filter", "fbp", "solvers", "pipeline"}) {
    const Ended bench = run("bench " + name + " --size 32 --views 16 --slices 3,1 --repeat 1 --json b.json");
    ASSERT_EQ(bench.code, 0) << bench.err;
    const auto report = run.json("b.json");
    EXPECT_EQ(report["case"], name);
    EXPECT_GE(report["rows"].size(), 2u);
    for (const auto& row : report["rows"]) {
      EXPECT_LE(row.value("relative_error", 0.0), row.value("accuracy", 3e-6));
      EXPECT_EQ(row.contains("gups"), name != "filter");
      EXPECT_FALSE(row.contains("limit"));  // a CPU has none
    }
    EXPECT_EQ(bench.out.find("        -        -  ") != std::string::npos, name == "filter") << bench.out;
  }
}

TEST(Program, ShowsPicturesByWindowsAndModels) {
  Program run;
  for (const auto& [geometry, models] : {std::pair<std::string, std::size_t>{"parallel", 3}, {"fan", 2}}) {
    const Ended bench = run("bench pictures --size 32 --repeat 1 --json b.json --geometry " + geometry);
    ASSERT_EQ(bench.code, 0) << bench.err;
    const auto report = run.json("b.json");
    EXPECT_EQ(report["rows"].size(), models * (window_names().size() - 1));
    for (const auto& row : report["rows"]) {
      EXPECT_GT(row["psnr"], 10) << row;
      EXPECT_GT(row["noise"], 0) << row;
    }
  }
}

TEST(Program, MeasuresConeBeamsByTheirModels) {
  Program run;
  const auto variants = [&](const std::string& options) {
    const Ended bench = run("bench cone --size 12 --views 8 --repeat 1 --json b.json " + options);
    EXPECT_EQ(bench.code, 0) << bench.err;
    std::vector<std::string> names;
    const auto report = run.json("b.json");
    for (const auto& row : report["rows"]) {
      names.push_back(row["variant"].get<std::string>() + " " + row["direction"].get<std::string>());
      EXPECT_TRUE(!row.contains("mu_bound") || row["mu"] <= row["mu_bound"]) << row;
    }
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(variants(""), (Names{"separable_footprint back", "separable_footprint forward",
                                 "separable_footprint FDK", "pixel_driven back", "joseph forward"}));
  EXPECT_EQ(variants("--variant joseph"), (Names{"joseph back", "joseph forward"}));
  EXPECT_EQ(variants("--variant all --precision all").size(), 7u);
  for (const auto& [options, word] : {std::pair{"--slices 3", "--size"},
                                      {"--precision float16", "float16"},
                                      {"--variant standard", "standard"},
                                      {"--streamed --variant joseph", "separable_footprint"}}) {
    const Ended bench = run(std::string("bench cone --size 12 --views 8 ") + options);
    EXPECT_EQ(bench.code, 2) << options;
    EXPECT_NE(bench.err.find(word), std::string::npos) << bench.err;
  }
}

}  // namespace
}  // namespace tandem::test
