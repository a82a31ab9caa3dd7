// `mpirun tandem recon` of a solver of a cone or fan beam, whose vectors lie on all ranks: what one process
// finds, with all options.

#include <gtest/gtest.h>

#include "ranks.hpp"

namespace tandem::test {
namespace {

std::string by(const std::string& method, int iterations) {
  return " --reconstruction-algorithm " + method + " --iterations " + std::to_string(iterations);
}

/// A scan, and the size of its volume. Rays see no more than three lines where voxels are so large.
struct Small {
  std::string scan, volume;
};

const Small odd{"--size 33 --bins 37 --rows 29 --views 41 --axis-bin 17.2", " --size 33"},
    few_lines{"--size 3 --bins 19 --rows 15 --views 20", " --size 3 --voxel-size 2.2"},
    few_views{"--size 17 --rows 5 --views 3", " --size 17"};

class RanksOfCones : public RanksOfPrograms {
 protected:
  void SetUp() override {
    if (!Comm::is_built_in()) GTEST_SKIP() << "this build has no MPI";
  }
  void simulate(const Small& small, const std::string& more = "") {
    const Ended ended = run(cone(small.scan + more));
    ASSERT_EQ(ended.code, 0) << ended.err;
    volume_ = small.volume;
  }

  /// The volume of so many ranks against that of one process; reports are one.json and all.json.
  void expect_same(const std::string& asked, std::initializer_list<int> counts, double within = 1e-6) {
    const std::string options = volume_ + asked;
    const Ended alone = run("recon cone.h5 -o one.h5 --quiet --overwrite --json one.json" + options);
    ASSERT_EQ(alone.code, 0) << options << alone.err;
    for (const int ranks : counts) {
      const Ended ended = on(ranks, "recon cone.h5 -o all.h5 --overwrite --json all.json" + options);
      ASSERT_EQ(ended.code, 0) << ranks << options << ended.err;
      EXPECT_LE(error_of("all.h5", "one.h5"), within) << ranks << options;
      const nlohmann::json one = run.json("one.json"), all = run.json("all.json");
      for (const char* same : {"iterations", "stopped_by", "slice_iterations"})
        EXPECT_EQ(all.at(same), one.at(same)) << same << ", " << ranks << options;
    }
  }

  std::string volume_;
};

TEST_F(RanksOfCones, GoThroughSubsetsOfViews) {
  simulate(odd);
  for (const std::string& options :
       {by("os-sirt", 3), by("os-sirt", 2) + " --subsets 29 --initial fbp --nonnegative", by("osem", 3)})
    expect_same(options, {2, 3, 4});
  expect_same(by("sart", 1) + " --relaxation 0.3", {3});
}

TEST_F(RanksOfCones, GoThroughSubsetsWithLessThanOneViewOrLineEach) {
  for (const Small& small : {few_lines, few_views}) {
    simulate(small);
    for (const std::string& options :
         {by("os-sirt", 2) + " --subsets 3", by("sart", 2) + " --relaxation 0.3", by("osem", 2)})
      expect_same(options, {4});
  }
}

/// Most rays meet only air, where noise makes half of the data zero, and subsets have two views each.
TEST_F(RanksOfCones, AgreeInAirWhereOneSubsetLeavesLittleToTheNext) {
  simulate({"--size 3 --bins 19 --rows 15 --views 20", ""});
  for (const int iterations : {1, 2, 4}) expect_same(by("osem", iterations), {2, 3, 4});
}

TEST_F(RanksOfCones, BeginWithAVolumeOfAFile) {
  for (const Small& small : {odd, few_lines}) {
    simulate(small);
    for (const char* initial : {"initial.h5", "initial.tif"}) {
      const std::string file = initial;
      ASSERT_EQ(run("recon cone.h5 --quiet --overwrite -o " + file + volume_).code, 0);
      expect_same(by("cgls", 2) + " --initial " + file, {2, 3, 4});
    }
  }
  simulate(odd);
  says(on(3, "recon cone.h5 -o v.h5 --initial initial.h5" + by("cgls", 2)), 3,
       {"initial.h5", "--initial has"});
}

/// The weight lies on a curve of errors that may be flat, so it differs by up to a hundred times as much as
/// they do (tests/ranks/test_solvers.cpp), and volumes differ by less than the weight.
constexpr double of_weights = 1e-4, of_weighed_volumes = 1e-5;

TEST_F(RanksOfCones, FindTheWeightOfTotalVariation) {
  for (const Small& small : {odd, few_lines}) {
    simulate(small);
    for (const std::string& options : {by("tv", 5), by("tv", 5) + " --nonnegative"}) {
      expect_same(options, {2, 4}, of_weighed_volumes);
      const double one = run.json("one.json")["tv_weight"];
      EXPECT_GT(one, 0);
      EXPECT_NEAR(run.json("all.json")["tv_weight"].get<double>() / one, 1, of_weights) << options;
    }
  }
}

/// All ranks solve on all that the rays see, and write the slices and lines that are asked for.
TEST_F(RanksOfCones, WriteAPartOfWhatTheySolve) {
  simulate(odd);
  const std::string part = " --region 3:20,9:31,4:7";
  ASSERT_EQ(run("recon cone.h5 --quiet --overwrite -o part.h5" + volume_ + part).code, 0);
  for (const auto& [options, within] :
       std::initializer_list<std::pair<std::string, double>>{{by("cgls", 3), 1e-6},
                                                             {by("sirt", 3) + " --dtype uint16", 2e-5},
                                                             {by("os-sirt", 2) + " --initial part.h5", 1e-6},
                                                             {by("tv", 3), of_weighed_volumes}})
    expect_same(options + part, {2, 4}, within);
}

TEST_F(RanksOfCones, FindTheRangeOfIntegers) {
  for (const Small& small : {odd, few_lines}) {
    simulate(small);
    for (const std::string& options :
         {by("cgls", 3) + " --dtype uint16", by("sirt", 3) + " --dtype uint8 --slices 1"}) {
      const bool bytes = options.find("uint8") != std::string::npos;
      expect_same(options, {2, 3, 4}, bytes ? 5e-3 : 2e-5);  // in steps of the range
      const nlohmann::json one = run.json("one.json")["numbers"], all = run.json("all.json")["numbers"];
      for (const char* same : {"min", "max", "found", "type"})
        EXPECT_EQ(all.at(same), one.at(same)) << same << options;
    }
  }
}

TEST_F(RanksOfCones, StopByTheRulesOfOneProcess) {
  simulate(odd);
  for (const std::string& options :
       {by("cgls", 30) + " --stop gcv", by("sirt", 30) + " --stop ncp", by("os-sirt", 10) + " --stop ncp",
        by("tv", 40) + " --tv-weight 0.2 --stop gap=0.1", by("lsqr", 30) + " --stop relative=0.2"})
    expect_same(options, {3});
  const Ended ended = on(3, "recon cone.h5 -o v.h5 --json v.json --stop time=0.5" + by("cgls", 1000000));
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(run.json("v.json").at("stopped_by"), "time_limit");
}

/// All numbers of a part of a report.
void expect_near(const nlohmann::json& some, const nlohmann::json& expected, const std::string& options) {
  const nlohmann::json flat = some.flatten(), numbers = expected.flatten();
  EXPECT_EQ(flat.size(), numbers.size()) << options;
  for (const auto& [place, number] : numbers.items()) {
    const double value = number.get<double>();
    EXPECT_NEAR(flat.at(place).get<double>(), value, 1e-5 * std::abs(value)) << place << options;
  }
}

TEST_F(RanksOfCones, KeepTheCurvesOfOneProcess) {
  for (const std::string& solver : {by("tv", 6) + " --tv-weight 0.2", by("cgls", 4)}) {
    simulate(odd, " --truth truth.h5");
    for (const int ranks : {2, 3}) {
      expect_same(solver + " --truth truth.h5", {ranks});
      for (const char* part : {"curves", "quality"})
        expect_near(run.json("all.json").at(part), run.json("one.json").at(part), part + solver);
    }
    simulate(few_lines);
    expect_same(solver, {4});
    expect_near(run.json("all.json").at("curves"), run.json("one.json").at("curves"), solver);
  }
}

TEST_F(RanksOfCones, SolveAFan) {
  for (const Small& small : {Small{"--size 33 --bins 37 --rows 1 --views 41 --axis-bin 17.2", " --size 33"},
                             Small{"--size 3 --bins 19 --rows 1 --views 20", " --size 3 --voxel-size 2.2"},
                             Small{"--size 17 --rows 1 --views 3", " --size 17"}}) {
    simulate(small);
    for (const std::string& options :
         {by("sirt", 8), by("tv", 8) + " --tv-weight 0.2", by("mlem", 8), by("cgls", 3) + " --initial fbp",
          by("os-sirt", 3) + " --subsets 3", by("tv", 3) + " --dtype uint8"}) {
      const bool bytes = options.find("uint8") != std::string::npos;
      expect_same(options, {2, 4}, bytes ? 5e-3 : 1e-6);
    }
  }
}

TEST_F(RanksOfCones, ForetellNothingThatOneOfThemWouldHaveToTry) {
  simulate(odd);
  const Ended ended = run("recon cone.h5 -o v.h5 --dry-run" + by("cgls", 3), mpirun(2));
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("there is no forecast: several ranks do it together"), std::string::npos)
      << ended.err;
}

}  // namespace
}  // namespace tandem::test
