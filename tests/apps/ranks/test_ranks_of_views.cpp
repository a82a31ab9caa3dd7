// `mpirun tandem recon` of views of any geometry: what one process finds, with subsets and check-points.

#include <gtest/gtest.h>

#include "ranks.hpp"

namespace tandem::test {
namespace {

class RanksOfViews : public RanksOfPrograms {
 protected:
  void SetUp() override {
    if (!Comm::is_built_in()) GTEST_SKIP() << "this build has no MPI";
    ASSERT_EQ(
        run("simulate -o views.h5 --trajectory helix --pitch 8 --geometry cone --sod 60 --sdd 90 "
            "--pixel-size 0.5 --size 33 --rows 12 --bins 37 --views 41 --phantom ellipsoids --jitter 0.3 "
            "--photons 1e4")
            .code,
        0);
  }
  void expect_same(const std::string& options, std::initializer_list<int> counts, double within = 1e-6) {
    const Ended alone =
        run("recon views.h5 -o one.h5 --device cpu --quiet --overwrite --json one.json" + options);
    ASSERT_EQ(alone.code, 0) << options << alone.err;
    for (const int ranks : counts) {
      const Ended ended =
          on(ranks, "recon views.h5 -o all.h5 --device cpu --overwrite --json all.json" + options);
      ASSERT_EQ(ended.code, 0) << ranks << options << ended.err;
      EXPECT_LE(error_of("all.h5", "one.h5"), within) << ranks << options;
      EXPECT_EQ(run.json("all.json").at("iterations"), run.json("one.json").at("iterations"));
    }
  }
};

TEST_F(RanksOfViews, FindTheVolumeOfOneProcess) {
  for (const std::string options :
       {"cgls --iterations 3", "sirt --iterations 3 --nonnegative", "os-sirt --iterations 2 --subsets 6",
        "osem --iterations 2", "tv --iterations 3 --tv-weight 0.2",
        "cgls --iterations 2 --region 3:20,9:31,4:7"})
    expect_same(" --size 33 --reconstruction-algorithm " + options, {2, 4});
}

/// Slabs of some slices each: voxels share numbers with others of their slab, so rounding differs.
TEST_F(RanksOfViews, FilterAsOneProcessDoes) {
  const std::string source = " --geometry cone --sod 60 --sdd 90";
  for (const std::string& way : {"--trajectory helix --pitch 8 --jitter 0.1 --views 120" + source,
                                 "--trajectory helix --pitch 8 --views 120 --axis-bin 12" + source,
                                 "--jitter 0.3 --views 60 --seed 4" + source,
                                 std::string("--trajectory laminography --elevation 25")}) {
    ASSERT_EQ(run("simulate -o views.h5 --overwrite --pixel-size 0.5 --size 33 --rows 24 --bins 37 "
                  "--phantom ellipsoids " +
                  way)
                  .code,
              0);
    ASSERT_EQ(run("recon views.h5 -o one.h5 --device cpu --quiet --overwrite").code, 0) << way;
    for (const int ranks : {2, 3}) {
      const Ended ended = on(ranks, "recon views.h5 -o all.h5 --device cpu --overwrite");
      ASSERT_EQ(ended.code, 0) << way << ended.err;
      EXPECT_LE(error_of("all.h5", "one.h5"), 1e-4) << ranks << way;
    }
  }
}

/// The check-points are in the middle of subsets of views. The bits are the same.
TEST_F(RanksOfViews, GoOnFromTheirCheckPoints) {
  const std::string recon =
      "recon views.h5 -o v.h5 --device cpu --size 33 --reconstruction-algorithm os-sirt --iterations 40";
  ASSERT_EQ(on(2, recon).code, 0);
  const std::vector<float> whole = voxels(run / "v.h5");
  std::filesystem::remove(run / "v.h5");
  const std::string long_run = recon + " --checkpoint state:every=2";
  const Ended ended = run(long_run + then("[ -e state ]", "kill -TERM $(cat pid.1)"), shells(2, ""));
  ASSERT_EQ(ended.code, 143) << ended.err;
  ASSERT_FALSE(run.has("v.h5"));
  const Ended again = run(long_run + " --resume", mpirun(2));
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.err.find("the solver goes on with"), std::string::npos) << again.err;
  EXPECT_EQ(voxels(run / "v.h5"), whole);
}

}  // namespace
}  // namespace tandem::test
