// Beam hardening fitted to files, from the command line.

#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include "program.hpp"
#include "voxels.hpp"

namespace tandem::test {
namespace {

TEST(BeamHardening, IsFittedToFilesAndReplayedByRecipes) {
  const Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --size 24 --views 30 --rows 2").code, 0);
  std::ofstream(run / "wedge.txt") << "10 0.9\n20 1.7\n30 2.4\n40 3.0\n";
  std::ofstream(run / "spectrum.txt") << "# keV and share\n40, 1\n60, 2\n80, 1\n";
  const auto recon = [&](const std::string& options) {
    const Ended ended = run("recon scan.h5 -o v.h5 --overwrite --device cpu --json r.json " + options);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return voxels(run / "v.h5");
  };
  const std::vector<float> plain = recon("");
  EXPECT_TRUE(run.json("r.json")["beam_hardening"].is_null());
  for (const auto& [option, terms] : {std::pair{"--beam-hardening wedge:file=wedge.txt", 2u},
                                      {"--beam-hardening spectrum:file=spectrum.txt", 5u}}) {
    const std::vector<float> fitted = recon(std::string(option) + " --save-config c.toml");
    EXPECT_NE(fitted, plain);
    const auto coefficients = run.json("r.json")["beam_hardening"];
    ASSERT_EQ(coefficients.size(), terms) << option;
    EXPECT_EQ(recon("--config c.toml"), fitted);
    std::string list;
    for (const auto& c : coefficients) list += std::string(list.empty() ? "" : ",").append(c.dump());
    EXPECT_EQ(recon("--beam-hardening " + list), fitted) << list;
  }
  EXPECT_EQ(run("recon scan.h5 -o wedge.txt --beam-hardening wedge:file=wedge.txt").code, 2);
}

}  // namespace
}  // namespace tandem::test
