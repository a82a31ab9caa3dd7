// Numbers of reports, files and lines for people: without the rounding of the way to them.

#include <gtest/gtest.h>

#include "program.hpp"

namespace tandem::test {
namespace {

TEST(RoundedNumbers, SayAnglesAndLengthsAsTheFileHasThem) {
  Program run;
  ASSERT_EQ(
      run("simulate -o s.h5 --size 24 --bins 24 --rows 1 --views 1200 --arc 360 --pixel-size 0.003").code, 0);
  const Ended info = run("info s.h5 --json info.json");
  for (const char* line :
       {"counts    1200 views x 1 row x 24 bins, ",
        "angles    0 to 359.7 degrees, widest gap 0.3 (modulo 180)\n", "pixel     0.003 mm\n"})
    EXPECT_NE(info.out.find(line), std::string::npos) << line << " is not in\n" << info.out;
  const auto angles = run.json("info.json")["angles_deg"];
  EXPECT_EQ(angles["highest"], 359.7);
  EXPECT_EQ(angles["widest_gap"], 0.3);
  EXPECT_EQ(angles["modulo"], 180);
}

TEST(RoundedNumbers, StandInFilesWithTheirShortestText) {
  Program run;
  ASSERT_EQ(run("simulate -o s.h5 --size 24 --bins 24 --rows 1 --views 30 --pixel-size 0.003").code, 0);
  for (const auto& [name, text] :
       {std::pair("v.nrrd", "space directions: (0.003,0,0) (0,0.003,0) (0,0,0.003)\n"),
        {"v.mha",
         "Offset = -0.0345 -0.0345 0\nCenterOfRotation = 0 0 0\nElementSpacing = 0.003 0.003 0.003\n"},
        {"v.ome.zarr/.zattrs", "[0.003,0.003,0.003]"},
        {"v.btf", "spacing=0.003\n"}}) {
    const std::string file = std::string(name).substr(0, std::string(name).find('/'));
    ASSERT_EQ(run("recon s.h5 --json r.json -o " + file).code, 0) << file;
    const std::string written = text_of(run / name);
    EXPECT_NE(written.find(text), std::string::npos) << name;
    EXPECT_EQ(written.find("000000000"), std::string::npos) << name;
  }
  EXPECT_EQ(run.json("r.json")["floor"][0], 1e-6);
}

TEST(RoundedNumbers, AreTheValuesOfASweep) {
  Program run;
  ASSERT_EQ(run("simulate -o s.h5 --size 24 --bins 24 --rows 1 --views 30").code, 0);
  ASSERT_EQ(run("recon s.h5 --sweep rotation-axis=10.9:11.3:0.1 --json r.json").code, 0);
  const auto trials = run.json("r.json")["trials"];
  ASSERT_EQ(trials.size(), 5u);
  for (std::size_t k = 0; const double axis : {10.9, 11.0, 11.1, 11.2, 11.3})
    EXPECT_EQ(trials[k++]["value"], axis);
}

}  // namespace
}  // namespace tandem::test
