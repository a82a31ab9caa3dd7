// What the program says of scans that do not see all of the sample from all sides.

#include <gtest/gtest.h>

#include <algorithm>

#include "program.hpp"

namespace tandem::test {
namespace {

TEST(FieldOfView, AHalfAcquisitionIsSaidAndReconstructedWhole) {
  const Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --phantom disc --size 70 --bins 48 --rows 1 --views 90 --arc 360 "
                "--axis-bin 9.5")
                .code,
            0);
  for (const std::string method : {"", "--reconstruction-algorithm cgls --iterations 3"}) {
    const Ended ended = run("recon scan.h5 -o v.h5 --json r.json " + method);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_NE(ended.out.find("half acquisition"), std::string::npos) << ended.out;
    EXPECT_EQ(run.json("r.json")["volume"]["shape"], nlohmann::json({1, 76, 76}));  // 2 x 37.5 + 1
    EXPECT_TRUE(run.json("r.json")["geometry"]["half_acquisition"]);
    EXPECT_TRUE(run.json("r.json")["warnings"].empty());
  }
  const Ended info = run("info scan.h5");
  EXPECT_EQ(info.code, 0) << info.err;
  EXPECT_NE(info.out.find("half acquisition"), std::string::npos) << info.out;
}

TEST(FieldOfView, RowsAreContinuedAsAsked) {
  const Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --phantom disc --size 150 --bins 48 --rows 2 --views 60").code, 0);
  const auto padding = [&](const std::string& options) {
    const Ended ended = run("recon scan.h5 -o v.h5 --device cpu --overwrite --json r.json " + options);
    EXPECT_EQ(ended.code, 0) << ended.err;
    const auto report = run.json("r.json");
    return nlohmann::json{report["padding"], report["padding_bins"]};
  };
  EXPECT_EQ(padding(""), nlohmann::json({"cosine", 24}));
  EXPECT_EQ(padding("--padding edge --padding-bins 7"), nlohmann::json({"edge", 7}));
  EXPECT_EQ(padding("--padding none"), nlohmann::json({"none", nullptr}));
  EXPECT_EQ(padding("--reconstruction-algorithm sirt --iterations 1"), nlohmann::json({"none", nullptr}));
  EXPECT_EQ(padding("--binning 1 --padding-bins 8"), nlohmann::json({"cosine", 4}));
  for (const char* options :
       {"--padding wide", "--padding none --padding-bins 3", "--padding-bins 0",
        "--padding edge --fbp-filter none", "--padding edge --reconstruction-algorithm sirt"})
    EXPECT_EQ(run(std::string("recon none.h5 -o w.h5 ") + options).code, 2) << options;
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
