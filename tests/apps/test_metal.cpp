// Metal and the physics of a beam, from the command line.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "program.hpp"
#include "voxels.hpp"

namespace tandem::test {
namespace {

class Metal : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(run("simulate -o pins.h5 --phantom pins --size 97 --rows 3 --views 160 --max-attenuation 12 "
                  "--photons 2e4 --pixel-size 1")
                  .code,
              0);
  }
  Ended recon(const std::string& options) {
    return run("recon pins.h5 -o v.h5 --overwrite --device cpu --json r.json " + options);
  }
  std::vector<float> volume(const std::string& options) {
    const Ended ended = recon(options);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return voxels(run / "v.h5");
  }
  void refuses(const std::string& options, std::initializer_list<const char*> words) {
    const Ended ended = recon(options);
    EXPECT_EQ(ended.code, 2) << options << ended.err;
    for (const char* word : words) EXPECT_NE(ended.err.find(word), std::string::npos) << ended.err;
  }
  Program run;
};

TEST_F(Metal, IsMendedAndReplayedByRecipes) {
  const std::vector<float> plain = volume(""), none = volume("--metal none");
  EXPECT_EQ(plain, none);
  const std::vector<float> mended = volume("--metal AUTO --save-config c.toml --beam-hardening 1,0.01");
  EXPECT_NE(mended, plain);
  const nlohmann::json report = run.json("r.json");
  EXPECT_EQ(report["metal"]["verdict"], "mended");
  EXPECT_GT(report["metal"]["voxels"], 50);
  EXPECT_EQ(report["beam_hardening"], (std::vector<double>{1, 0.01}));
  EXPECT_EQ(volume("--config c.toml"), mended);
  const double threshold = report["metal"]["threshold"];
  EXPECT_EQ(volume("--beam-hardening 1,0.01 --metal " + std::to_string(threshold)), mended)
      << "no voxel lies between the two";
  volume("--metal 1000");
  EXPECT_EQ(run.json("r.json")["metal"]["verdict"], "none");
}

TEST_F(Metal, AndAllThatPhysicsIsShortFor) {
  const std::vector<float> all = volume("--physics auto --save-config c.toml");
  EXPECT_EQ(run.json("r.json")["padding"], "circle");
  EXPECT_EQ(run.json("r.json")["metal"]["verdict"], "mended");
  EXPECT_TRUE(run.json("r.json").contains("hardening"));
  EXPECT_EQ(text_of(run / "c.toml").find("physics"), std::string::npos) << "recipes write it out";
  EXPECT_EQ(volume("--config c.toml"), all);
  EXPECT_EQ(volume("--metal auto --beam-hardening auto --padding circle"), all);
  volume("--physics auto --metal none --padding edge");
  EXPECT_FALSE(run.json("r.json").contains("metal"));
  EXPECT_EQ(run.json("r.json")["padding"], "edge");
  volume("--physics auto --reconstruction-algorithm cgls --iterations 2");
  EXPECT_FALSE(run.json("r.json").contains("metal")) << "it goes with filters";
  EXPECT_TRUE(run.json("r.json").contains("hardening"));
}

TEST_F(Metal, IsRefusedWhereItCannotBeMended) {
  refuses("--metal iron", {"--metal", "iron"});
  refuses("--metal -1", {"--metal", "-1"});
  refuses("--metal 0", {"--metal"});
  refuses("--physics all", {"--physics", "auto"});
  refuses("--metal auto --reconstruction-algorithm sirt", {"--metal goes with fbp and fdk"});
  refuses("--metal auto --follow", {"--follow", "--metal"});
  const Ended sweep = run("recon pins.h5 --metal auto --sweep rotation-axis=47:48:0.5");
  EXPECT_EQ(sweep.code, 2) << sweep.err;
  EXPECT_NE(sweep.err.find("--metal and --sweep"), std::string::npos) << sweep.err;
}

}  // namespace
}  // namespace tandem::test
