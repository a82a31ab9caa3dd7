// tandem recon --follow, with another process that writes the scan.

#include <gtest/gtest.h>

#include "program.hpp"

namespace tandem::test {
namespace {

class FollowProgramTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(run_("simulate -o scan.h5 --phantom ellipsoids --size 48 --bins 48 --rows 20 --views 90 "
                   "--photons 1e4")
                  .code,
              0);
  }
  /// The program, while another one copies the scan to growing.h5, views at a rate, at most `views` of them.
  Ended follow(const std::string& options, int rate, int views = 90) {
    const std::string writer = TANDEM_GROW_SCAN " scan.h5 growing.h5 " + std::to_string(rate) + " " +
                               std::to_string(views) + " > .grown 2>&1 &";
    return run_("recon growing.h5 --follow --json report.json --overwrite " + options, writer);
  }
  /// How far two volumes are apart, by the comparison that recon itself makes.
  double rmse() const { return run_.json("report.json")["quality"]["rmse"].get<double>(); }

  Program run_;
};

TEST_F(FollowProgramTest, MakesTheVolumeWhileTheScanIsWritten) {
  ASSERT_EQ(run_("recon scan.h5 -o whole.h5 --model pixel_driven").code, 0);
  const Ended ended = follow("-o volume.h5 --truth whole.h5 --preview planes.png", 150);
  EXPECT_EQ(ended.code, 0) << ended.err;
  const nlohmann::json report = run_.json("report.json");
  EXPECT_EQ(report["followed"]["views"], 90);
  EXPECT_EQ(report["followed"]["of"], 90);
  EXPECT_EQ(report["followed"]["again"], 0);
  EXPECT_GT(report["followed"]["seconds_after_last_view"], 0);
  EXPECT_LT(report["followed"]["seconds_after_last_view"], 20);
  EXPECT_TRUE(report["warnings"].empty());
  EXPECT_LT(rmse(), 1e-7);
  EXPECT_TRUE(run_.has("planes.png"));
}

TEST_F(FollowProgramTest, MarksAVolumeOfAScanThatStopped) {
  ASSERT_EQ(run_("recon scan.h5 -o whole.h5 --model pixel_driven --views :60").code, 0);
  const Ended ended = follow("-o volume.h5 --truth whole.h5 --follow=seconds=1.5", 1000, 60);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("no new view for"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("stopped after 60 of 90 planned views"), std::string::npos) << ended.err;
  const nlohmann::json report = run_.json("report.json");
  EXPECT_EQ(report["followed"]["views"], 60);
  EXPECT_EQ(report["warnings"].size(), 1U);
  EXPECT_LT(rmse(), 1e-7);
}

TEST_F(FollowProgramTest, LeavesNothingWhenItIsInterrupted) {
  const std::string writer = TANDEM_GROW_SCAN " scan.h5 growing.h5 50 60 > .grown 2>&1 &";
  const Ended ended =
      run_("recon growing.h5 --follow -o volume.h5", writer + " timeout --preserve-status -s INT 1.5");
  EXPECT_EQ(ended.code, 130) << ended.err;
  EXPECT_NE(ended.err.find("interrupted"), std::string::npos) << ended.err;
  EXPECT_EQ(run_.left_of("volume.h5"), 0);
}

TEST_F(FollowProgramTest, WaitsForAScanThatDoesNotCome) {
  const Ended ended = run_("recon nothing.h5 --follow=seconds=0.3 -o volume.h5");
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_NE(ended.err.find("nothing.h5"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("--follow=seconds=S"), std::string::npos) << ended.err;
}

TEST_F(FollowProgramTest, RefusesWhatNeedsAllViews) {
  for (const std::string options :
       {"--reconstruction-algorithm cgls", "--model fourier", "--rotation-axis auto", "--resume"}) {
    const Ended ended = run_("recon scan.h5 --follow -o volume.h5 " + options);
    EXPECT_EQ(ended.code, 2) << options << ended.err;
    EXPECT_NE(ended.err.find("--follow"), std::string::npos) << ended.err;
  }
  for (const char* details : {"views=0", "seconds=never", "patience=3", "views"}) {
    const Ended ended = run_(std::string("recon scan.h5 -o volume.h5 --follow=") + details);
    EXPECT_EQ(ended.code, 2) << details;
    EXPECT_NE(ended.err.find(std::string("--follow=") + details), std::string::npos) << ended.err;
  }
}

}  // namespace
}  // namespace tandem::test
