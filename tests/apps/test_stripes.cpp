// Removal of stripes from the command line.

#include <gtest/gtest.h>

#include "program.hpp"

namespace tandem::test {
namespace {

/// PSNR of a reconstruction of scan.h5 in dB.
double quality(const Program& tandem, const std::string& options) {
  const Ended ended =
      tandem("recon scan.h5 -o v.h5 --model pixel_driven --truth truth.h5 --json report.json " + options);
  EXPECT_EQ(ended.code, 0) << ended.err;
  return tandem.json("report.json")["quality"]["psnr_db"];
}

void simulate(const Program& tandem, const std::string& phantom, const std::string& rings) {
  const Ended ended =
      tandem("simulate -o scan.h5 --truth truth.h5 --size 200 --views 400 --max-attenuation 0.5 --phantom " +
             phantom + rings);
  ASSERT_EQ(ended.code, 0) << ended.err;
}

/// Gains of 2 % cost about 12 dB here, for a sample of weak attenuation.
TEST(StripesProgram, AutoGivesBackWhatGainsCost) {
  for (const std::string phantom : {"shepp-logan", "ellipsoids"}) {
    const Program tandem;
    simulate(tandem, phantom, "");
    const double clean = quality(tandem, "");
    EXPECT_GT(quality(tandem, "--remove-stripe-method auto"), clean - 0.3) << phantom;
    const nlohmann::json looked_at = tandem.json("report.json")["steps"][4];
    EXPECT_EQ(looked_at["name"], "stripes");
    EXPECT_EQ(looked_at["rows"], (nlohmann::json{{"no stripes found, unchanged", 1}}));
    simulate(tandem, phantom, " --rings 2");
    const double striped = quality(tandem, "");
    EXPECT_GT(clean - striped, 10) << phantom;
    EXPECT_GT(quality(tandem, "--remove-stripe-method AUTO"), striped + 8) << phantom;
    const nlohmann::json taken = tandem.json("report.json")["steps"][4];
    EXPECT_EQ(taken["rows"]["faint stripes taken out"], 1);
    EXPECT_EQ(taken["rows"]["stripes taken out: under 3 %"], 1);
    EXPECT_GE(taken["rows"].size(), 3u);  // and what is left
  }
}

TEST(StripesProgram, RefusesWhatDoesNotGoTogether) {
  const Program tandem;
  ASSERT_EQ(tandem("simulate -o scan.h5 --size 32 --views 20").code, 0);
  const auto refused = [&](const std::string& options, int code, const std::string& words) {
    const Ended ended = tandem("recon scan.h5 -o v.h5 " + options);
    EXPECT_EQ(ended.code, code) << options << ended.err;
    EXPECT_NE(ended.err.find(words), std::string::npos) << ended.err;
    EXPECT_FALSE(tandem.has("v.h5"));
  };
  refused("--remove-stripe-method vo", 2, "not known");
  refused("--remove-stripe-method fw:levl=3", 2, "did you mean level?");
  refused("--remove-stripe-method ti:level=3", 2, "ti takes beta=, mask=, nblock=, alpha=");
  refused("--remove-stripe-method none:level=3", 2, "none takes nothing behind a colon");
  refused("--remove-stripe-method fw:level=3,level=4", 2, "level is given twice");
  refused("--remove-stripe-method fw:level=99", 2, "level: '99' is no whole number from");
  refused("--remove-stripe-method fw:level", 2, "level");
  refused("--remove-stripe-method vo-sorting:size=33", 4, "wider than a row of 32 bins");
  refused("--remove-stripe-method auto --follow", 2, "--follow: the step stripes needs all views at once");
  EXPECT_EQ(tandem("center scan.h5 --remove-stripe-method auto").code, 0);
}

}  // namespace
}  // namespace tandem::test
