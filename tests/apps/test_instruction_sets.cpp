// TANDEM_SIMD: the set of instructions that kernels on the CPU run with.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "../../core/instruction_set.hpp"
#include "program.hpp"

namespace tandem::test {
namespace {

using nlohmann::json;

constexpr const char* simulate = "simulate -o scan.h5 --size 24 --rows 2 --views 20";

TEST(InstructionSet, IsTheOneThatIsAskedForAndStandsInReports) {
  Program run;
  ASSERT_EQ(run(simulate).code, 0);
  for (const std::string& name : instruction_sets()) {
    const std::string with = "TANDEM_SIMD='" + name + "'";
    const std::string cpu = "cpu (" + name + ")";
    EXPECT_NE(run("--version", with).out.find(", " + name + "\n"), std::string::npos) << name;
    const Ended recon = run("recon scan.h5 -o v.h5 --device cpu --overwrite --json r.json", with);
    EXPECT_EQ(recon.code, 0) << recon.err;
    EXPECT_NE(recon.out.find(cpu), std::string::npos) << recon.out;
    EXPECT_EQ(run.json("r.json")["instructions"], name);
    EXPECT_NE(run("info scan.h5", with).out.find(cpu), std::string::npos);
    EXPECT_EQ(
        json::parse(run("info scan.h5 --json -", with).out)["reconstruction"]["devices"][0]["instructions"],
        name);
    const Ended bench = run("bench parallel --size 16 --views 8 --slices 1 --repeat 1 --json b.json", with);
    EXPECT_NE(bench.out.find(", " + name + "\n"), std::string::npos) << bench.out << bench.err;
    EXPECT_EQ(run.json("b.json")["instructions"], name);
  }
}

TEST(InstructionSet, StandsInWhatChecksSay) {
  Program run;
  const std::string least = instruction_sets().back();
  const Ended check = run("check --size 24 --quiet --pair filter --json c.json", "TANDEM_SIMD=" + least);
  EXPECT_EQ(check.code, 0) << check.err;
  EXPECT_NE(check.out.find(", " + least + "\n"), std::string::npos) << check.out;
  EXPECT_EQ(run.json("c.json")["instructions"], least);
}

TEST(InstructionSet, ThatIsNotThereIsRefusedWithThoseThatAre) {
  Program run;
  for (const std::string name : {"MMX", "avx2", "AVX2 "}) {
    const Ended ended = run("check", "TANDEM_SIMD='" + name + "'");
    EXPECT_EQ(ended.code, 2) << name;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
    for (const std::string& word : {std::string("TANDEM_SIMD"), name, instruction_sets().front()})
      EXPECT_NE(ended.err.find(word), std::string::npos) << ended.err;
  }
  EXPECT_EQ(run("--version", "TANDEM_SIMD=").code, 0);
}

}  // namespace
}  // namespace tandem::test
