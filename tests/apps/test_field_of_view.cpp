// What the program says of scans that do not see all of the sample from all sides.

#include <gtest/gtest.h>

#include <algorithm>

#include "program.hpp"

namespace tandem::test {
namespace {

TEST(FieldOfView, FbpOfAHalfAcquisitionIsRefusedInOneLine) {
  const Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --phantom disc --size 70 --bins 48 --rows 1 --views 90 --arc 360 "
                "--axis-bin 9.5")
                .code,
            0);
  for (const std::string dry : {"-o v.h5", "--dry-run"}) {
    const Ended ended = run("recon scan.h5 --quiet " + dry);
    EXPECT_EQ(ended.code, 4);
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
    EXPECT_NE(ended.err.find("--reconstruction-algorithm cgls"), std::string::npos) << ended.err;
    EXPECT_FALSE(run.has("v.h5"));
  }
  EXPECT_EQ(run("recon scan.h5 -o v.h5 --reconstruction-algorithm cgls --iterations 3 --json r.json").code,
            0);
  EXPECT_EQ(run.json("r.json")["volume"]["shape"], nlohmann::json({1, 76, 76}));  // 2 x 37.5 + 1
  EXPECT_TRUE(run.json("r.json")["warnings"].empty());
  const Ended info = run("info scan.h5");
  EXPECT_EQ(info.code, 0) << info.err;
  EXPECT_NE(info.out.find("half acquisition"), std::string::npos) << info.out;
}

TEST(FieldOfView, AnInteriorScanIsSaidOnStandardErrorAndInTheReport) {
  const Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --phantom disc --size 150 --bins 48 --rows 2 --views 60").code, 0);
  const Ended ended = run("recon scan.h5 -o v.h5 --json r.json");
  EXPECT_EQ(ended.code, 0);
  EXPECT_NE(ended.err.find("warning: 2 of 2 rows do not come down to air"), std::string::npos) << ended.err;
  ASSERT_EQ(run.json("r.json")["warnings"].size(), 1u);
}

TEST(FieldOfView, SlicesAndRegionGoTogether) {
  const Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --phantom disc --size 30 --bins 32 --rows 9 --views 30").code, 0);
  EXPECT_EQ(run("recon scan.h5 -o v.h5 --slices 5 --region 3:20,4:10,1:3 --json r.json").code, 0);
  EXPECT_EQ(run.json("r.json")["volume"]["shape"], nlohmann::json({2, 6, 17}));
  EXPECT_EQ(run("recon scan.h5 -o w.h5 --slices 5 --region 3:20,4:10,1:6").code, 4);
}

}  // namespace
}  // namespace tandem::test
