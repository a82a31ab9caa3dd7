// What --limited-angle is short for, from the command line.

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "program.hpp"
#include "voxels.hpp"

namespace tandem::test {
namespace {

class LimitedAngleOfRecon : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(run("simulate -o disc.h5 --phantom disc --size 40 --bins 56 --views 60 --photons 2e4").code, 0);
    ASSERT_EQ(
        run("simulate -o cone.h5 --phantom ellipsoids --geometry cone --sod 300 --sdd 600 --pixel-size 4 "
            "--size 16 --bins 20 --rows 16 --views 24")
            .code,
        0);
  }
  std::vector<float> volume(const std::string& options) {
    const Ended ended =
        run("recon -o v.h5 --overwrite --device cpu --json r.json --tv-weight 0.01 " + options);
    EXPECT_EQ(ended.code, 0) << ended.err;
    said_ = ended.err;
    return voxels(run / "v.h5");
  }
  bool recipe_has(const std::string& words) const {
    return text_of(run / "c.toml").find(words) != std::string::npos;
  }
  bool says(const std::string& words) const { return said_.find(words) != std::string::npos; }

  Program run;
  std::string said_;
};

TEST_F(LimitedAngleOfRecon, IsWrittenOutInRecipes) {
  const std::string part = "disc.h5 --views 0:30 --iterations 20 ";
  const std::vector<float> made = volume(part + "--limited-angle auto --save-config c.toml");
  for (const char* words :
       {"\"tv\"", "tv-direction = \"", "support = \"disc:at=", "nonnegative = true", "iterations = 20"})
    EXPECT_TRUE(recipe_has(words)) << words;
  EXPECT_FALSE(recipe_has("limited-angle"));
  EXPECT_EQ(volume("disc.h5 --config c.toml"), made);
  EXPECT_EQ(volume(part + "--reconstruction-algorithm tv --tv-direction auto --support disc --nonnegative"),
            made);
  const std::vector<float> of_levels =
      volume(part + "--limited-angle auto --shell 8 --save-config c.toml --overwrite");
  const double high = run.json("r.json")["shell"]["attenuation"];
  EXPECT_NEAR(high / 0.15, 1, 0.05) << "three mean free paths across";
  EXPECT_TRUE(recipe_has("levels = \"0:0.1"));
  EXPECT_FALSE(recipe_has("auto\"\nnonnegative"));
  EXPECT_EQ(volume("disc.h5 --config c.toml"), of_levels);
}

TEST_F(LimitedAngleOfRecon, YieldsToWhatIsTyped) {
  const std::string part = "disc.h5 --views 0:30 --iterations 20 --save-config c.toml --limited-angle auto ";
  volume(part + "--bounds -1:1 --tv-direction 20");
  EXPECT_TRUE(recipe_has("bounds = \"-1:1\""));
  EXPECT_TRUE(recipe_has("tv-direction = \"20:"));
  EXPECT_FALSE(recipe_has("nonnegative = true"));
  volume(part + "--shell 3 --bounds 0:0.05");
  EXPECT_FALSE(recipe_has("levels"));
  EXPECT_EQ(run("recon -o s.h5 " + part + "--overwrite --reconstruction-algorithm sirt").code, 0);
  for (const char* words : {"\"sirt\"", "support = \"disc:at=", "nonnegative = true"})
    EXPECT_TRUE(recipe_has(words)) << words;
}

TEST_F(LimitedAngleOfRecon, SaysWhatIsLeftOut) {
  const std::string all_round = "cone.h5 --iterations 3 --save-config c.toml ";
  const std::vector<float> made = volume(all_round + "--limited-angle auto");
  EXPECT_TRUE(says("from all around"));
  EXPECT_FALSE(recipe_has("tv-direction"));
  EXPECT_EQ(volume("cone.h5 --config c.toml"), made);
}

/// A file that a user wrote, in which options stand that have no meaning without it.
TEST_F(LimitedAngleOfRecon, MayStandInAFile) {
  std::ofstream(run / "own.toml")
      << "limited-angle = \"auto\"\nshell = 8\niterations = 20\nviews = \"0:30\"\n";
  const std::vector<float> made = volume("disc.h5 --config own.toml");
  EXPECT_FALSE(says("left out")) << said_;
  EXPECT_EQ(volume("disc.h5 --views 0:30 --iterations 20 --limited-angle auto --shell 8"), made);
  std::ofstream(run / "own.toml")
      << "reconstruction-algorithm = \"tv\"\nlevels = \"0:auto\"\nsupport = \"disc\"\nshell = 8\n";
  EXPECT_NE(volume("disc.h5 --views 0:30 --iterations 20 --config own.toml"), made) << "no direction";
  EXPECT_FALSE(says("left out")) << said_;
}

TEST_F(LimitedAngleOfRecon, GoesWithCorrectionsOfTheBeam) {
  volume("disc.h5 --views 0:30 --iterations 20 --limited-angle auto --physics auto --save-config c.toml");
  EXPECT_TRUE(recipe_has("tv-direction = \""));
  EXPECT_EQ(run("recon disc.h5 --views 0:30 --limited-angle auto --shell 8 --compare tv,sirt --iterations 20 "
                "--tv-weight 0.01 --preview p.png")
                .code,
            0);
}

}  // namespace
}  // namespace tandem::test
