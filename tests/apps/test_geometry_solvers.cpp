// Solvers of views of any geometry as a user types them: subsets, check-points, and where vectors lie.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "program.hpp"
#include "voxels.hpp"

namespace tandem::test {
namespace {

const std::string views =
    "--trajectory helix --pitch 8 --geometry cone --sod 60 --sdd 90 --pixel-size 0.5 --size 24 --rows 12 "
    "--bins 28 --views 45 --jitter 0.3 ";

class GeometrySolvers : public ::testing::Test {
 protected:
  void SetUp() override {
    const Ended made = run("simulate -o scan.h5 --truth truth.h5 --phantom ellipsoids --seed 2 " + views);
    ASSERT_EQ(made.code, 0) << made.err;
  }
  nlohmann::json solved(const std::string& options) const {
    const Ended ended =
        run("recon scan.h5 -o v.h5 --device cpu --overwrite --size 24 --json r.json --truth truth.h5 "
            "--reconstruction-algorithm " +
            options);
    EXPECT_EQ(ended.code, 0) << options << ended.err;
    return ended.code == 0 ? run.json("r.json") : nlohmann::json();
  }
  double error_of(const std::string& options) const {
    return solved(options)["quality"]["rmse"].get<double>();
  }
  Program run;
};

/// A step with subsets is nearly worth as many steps of SIRT as there are subsets.
TEST_F(GeometrySolvers, SubsetsOfViewsAreAheadOfAllTogether) {
  EXPECT_LT(error_of("os-sirt --iterations 4 --subsets 9"), error_of("sirt --iterations 12"));
  EXPECT_LT(error_of("osem --iterations 2 --subsets 3"), error_of("mlem --iterations 4"));
  EXPECT_LT(error_of("sart --iterations 2 --relaxation 0.3"), error_of("sirt --iterations 4"));
}

TEST_F(GeometrySolvers, GoOnFromACheckPointWithTheSameBits) {
  for (const std::string method : {"os-sirt", "osem", "cgls"}) {
    const std::string recon = " --device cpu --size 24 --iterations 60 --reconstruction-algorithm " + method;
    ASSERT_EQ(run("recon scan.h5 -o whole.h5 --quiet --overwrite" + recon).code, 0);
    const Ended killed = run("recon scan.h5 -o v.h5 --quiet --overwrite --checkpoint state:every=3" + recon +
                                 " & p=$!; until [ -e state ]; do sleep 0.01; done; kill -KILL $p; wait $p",
                             "true;");
    if (killed.code == 0) GTEST_SKIP() << "the run had ended before it was killed";
    ASSERT_EQ(killed.code, 137) << killed.err;
    const Ended rest = run("recon scan.h5 -o rest.h5 --overwrite --checkpoint state --resume" + recon);
    ASSERT_EQ(rest.code, 0) << rest.err;
    EXPECT_NE(rest.err.find("the solver goes on with"), std::string::npos) << rest.err;
    EXPECT_EQ(voxels(run / "rest.h5"), voxels(run / "whole.h5")) << method;
    EXPECT_FALSE(run.has("state"));
    std::filesystem::remove_all(run / ".v.h5.tandem");
  }
}

/// A check-point belongs to its views.
TEST_F(GeometrySolvers, RefuseTheCheckPointOfOtherViews) {
  const std::string recon = " --device cpu --size 24 --iterations 100000 --reconstruction-algorithm os-sirt";
  ASSERT_EQ(run("recon scan.h5 -o v.h5 --quiet --checkpoint state:every=3" + recon +
                    " & p=$!; until [ -e state ]; do sleep 0.01; done; kill -KILL $p; wait $p",
                "true;")
                .code,
            137);
  ASSERT_EQ(run("simulate -o other.h5 --phantom ellipsoids --seed 3 " + views).code, 0);
  const Ended ended = run("recon other.h5 -o w.h5 --quiet --checkpoint state --resume" + recon);
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_NE(ended.err.find("state: --resume: the scan"), std::string::npos) << ended.err;
  EXPECT_TRUE(run.has("state"));
}

/// The plan's memory of the host is not exceeded.
TEST_F(GeometrySolvers, TakeNoMoreMemoryThanThePlanSays) {
  const auto report = solved("os-sirt --iterations 2");
  EXPECT_LE(report["peak_memory_bytes"], report["memory_bytes"]);
}

}  // namespace
}  // namespace tandem::test
