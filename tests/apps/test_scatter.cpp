// Scatter behind a beam stop, from the command line.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "changed_scan.hpp"
#include "program.hpp"
#include "voxels.hpp"

namespace tandem::test {
namespace {

constexpr Index wide = 3;  // columns at either end
constexpr std::uint16_t dark = 90, scatter = 700;

/// A scan of a body that the ends of rows do not see, as it is in a lucky world, where columns at the ends
/// are dead and nothing scatters, and as beam stops in front of these columns show it. `in_flats`: whether
/// they stand there, too.
void write_both(const Program& run, bool in_flats) {
  ASSERT_EQ(
      run("simulate -o made.h5 --size 32 --bins 48 --views 40 --rows 2 --photons 20000 --flats 3 --darks 2 "
          "--phantom ellipsoids --max-attenuation 2 --overwrite --seed 4")
          .code,
      0);
  const auto is_covered = [](Index i, Index bins) { return i % bins < wide || i % bins >= bins - wide; };
  const auto write = [&](const std::string& name, bool lucky) {
    write_changed(run / "made.h5", run / name, [&](const Counts& c) {
      for (Index i = 0; i < c.rows * c.bins; ++i) {
        std::uint16_t& pixel = c.pixels[i];
        const bool has_beam = c.kind == io::FrameKind::projection || in_flats;
        if (c.kind == io::FrameKind::dark)
          pixel = dark;
        else if (lucky)
          pixel = is_covered(i, c.bins) ? dark : pixel;
        else if (has_beam)
          pixel = static_cast<std::uint16_t>((is_covered(i, c.bins) ? dark : pixel) + scatter);
      }
    });
  };
  write("lucky.h5", true);
  write("scan.h5", false);
}

TEST(Scatter, IsTakenFromViewsAndFlats) {
  for (const bool in_flats : {false, true}) {
    Program run;
    write_both(run, in_flats);
    const auto made = [&](const std::string& options) {
      const Ended ended = run("recon -o v.h5 --overwrite --json r.json " + options);
      EXPECT_EQ(ended.code, 0) << ended.err;
      return voxels(run / "v.h5");
    };
    const std::vector<float> due = made("lucky.h5");
    const auto error = [&](const std::vector<float>& volume) {
      double most = 0;
      for (std::size_t i = 0; i < due.size(); ++i)
        most = std::max<double>(most, std::abs(volume[i] - due[i]));
      return most / *std::ranges::max_element(due);
    };
    const std::string both = "scan.h5 --scatter SHADOW:columns=0:3,45:48";
    const std::vector<float> volume = made(both + " --save-config c.toml");
    EXPECT_LT(error(volume), 2e-5);
    EXPECT_EQ(run.json("r.json")["dead_cells"], 0);
    EXPECT_EQ(run.json("r.json")["steps"][1], nlohmann::json({{"name", "scatter"}, {"replaced", 0}}));
    EXPECT_EQ(made("scan.h5 --config c.toml"), volume);
    EXPECT_EQ(made("scan.h5 --memory 0.3 " + both.substr(8)), volume);
    EXPECT_GT(error(made("scan.h5")), 0.05);
  }
}

TEST(Scatter, ThatCannotBeMeasuredIsRefusedInOneLine) {
  Program run;
  write_both(run, false);
  const auto refused = [&](const std::string& options, int code, const std::string& word) {
    const Ended ended = run("recon scan.h5 -o v.h5 " + options);
    EXPECT_EQ(ended.code, code) << options << ended.err;
    EXPECT_NE(ended.err.find(word), std::string::npos) << options << ended.err;
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
    EXPECT_FALSE(run.has("v.h5"));
  };
  refused("--scatter shadow", 2, "give shadow:columns=A:B");
  refused("--scatter shadow:columns=8:8", 2, "not a range");
  refused("--scatter shadow:columns=8:3", 2, "not a range");
  refused("--scatter shadow:columns=0:3,", 2, "not known");
  refused("--scatter kernel", 2, "not known");
  refused("--scatter shadow:columns=45:49", 4, "outside the columns 0:48");
  refused("--scatter shadow:columns=0:3 --columns 3:45", 4, "outside the columns 3:45");
  refused("--scatter shadow:columns=0:48", 4, "no other column");
  refused("--scatter shadow:columns=0:3 --minus-log false", 4, "needs transmissions");
  refused("--scatter shadow:columns=4:9", 3, "not below that of the other columns");
}

/// The thickest rays have less of the beam than of scatter, here half of what is measured.
TEST(Scatter, OfMoreThanACellHasIsWarnedOf) {
  Program run;
  ASSERT_EQ(run("simulate -o made.h5 --size 32 --bins 48 --views 40 --photons 20000 --flats 3 --darks 2 "
                "--max-attenuation 4")
                .code,
            0);
  write_changed(run / "made.h5", run / "scan.h5", [&](const Counts& c) {
    for (Index i = 0; i < c.bins; ++i)
      if (c.kind == io::FrameKind::projection && i < wide) c.pixels[i] = 1500;
  });
  const Ended ended = run("recon scan.h5 -o v.h5 --json r.json --scatter shadow:columns=0:3");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("cells of all views it would be more than 90 % of the counts"), std::string::npos)
      << ended.err;
  EXPECT_GT(run.json("r.json")["steps"][1]["replaced"], 0);
}

}  // namespace
}  // namespace tandem::test
