// recon --sweep: slices for values of an option, and what they tell.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "../support/test_data.hpp"
#include "program.hpp"

namespace tandem {
namespace {

using test::Ended, test::Program;

TEST(Sweep, ShowsSlicesAndNamesTheSharpest) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --size 48 --bins 64 --rows 3 --views 90 --axis-bin 33.25").code, 0);
  const Ended ended =
      run("recon scan.h5 --sweep rotation-axis=31.25:34.75:0.5 --preview sheet.png --json r.json");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto report = run.json("r.json");
  EXPECT_EQ(report["best"], 33.25);
  EXPECT_EQ(report["verdict"], "resolved");
  const double error = report["uncertainty"];
  EXPECT_LE(std::abs(report["value"].get<double>() - 33.25), 2 * error);
  EXPECT_GE(error, 0.05);  // a tenth of a step
  EXPECT_LE(error, 0.5);
  ASSERT_EQ(report["trials"].size(), 8u);
  EXPECT_EQ(report["trials"][7]["value"], 34.75);
  EXPECT_EQ(report["trials"][4]["unsharpness"], 1);
  EXPECT_NE(ended.out.find("33.25          1.00000"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("resolved: 33."), std::string::npos) << ended.out;
  EXPECT_TRUE(run.has("sheet.png"));
  EXPECT_TRUE(report["warnings"].empty()) << report["warnings"];
}

TEST(Sweep, TakesTheSlicesThatAreAskedFor) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --size 48 --bins 64 --rows 5 --views 90").code, 0);
  ASSERT_EQ(run("recon scan.h5 --sweep rotation-axis=30:33:0.5 --slices 1:4 --json r.json").code, 0);
  EXPECT_EQ(run.json("r.json")["slices"], nlohmann::json({1, 2, 3}));
  EXPECT_EQ(run("recon scan.h5 --sweep rotation-axis=30:33:0.5 --slices 4:6").code, 4);
}

TEST(Sweep, TakesAnyNumber) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --size 48 --bins 64 --rows 1 --views 90 --photons 1e3").code, 0);
  const Ended ended = run("recon scan.h5 --sweep fbp-cutoff=0.2:1:0.2 --fbp-filter hann --json r.json");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(run.json("r.json")["verdict"], "resolved");  // the smoother, the less variation
  EXPECT_NE(ended.err.find("--sweep: "), std::string::npos);
  ASSERT_EQ(run("recon scan.h5 --minus-log true --sweep minus-log:floored=2:8:2 --json r.json").code, 0);
  EXPECT_EQ(run.json("r.json")["verdict"], "flat");  // it decides no voxel
  EXPECT_TRUE(run.json("r.json")["value"].is_null());
}

struct Arc {
  std::string how;
  double bins;  ///< the axis of the scan
};

/// Over half a turn a wrong axis adds false edges, over a whole turn it halves edges, and a half acquisition
/// has both. The verdict knows the axis of all, to three times what it says.
TEST(Sweep, ResolvesTheAxisOfAnyArc) {
  Program run;
  const std::string point = " --geometry cone --sod 300 --sdd 450 --pixel-size 0.5";
  for (const std::string phantom : {"plate", "disc"})
    for (const auto& [arc, axis] : std::initializer_list<Arc>{{"--arc 180", 66.3},
                                                              {"--arc 360", 66.3},
                                                              {"--arc 360 --photons 1e4", 60.8},
                                                              {"--arc 360 --size 144", 40.3},
                                                              {"--arc 360" + point, 66.3},
                                                              {"--arc 230" + point, 60.8},
                                                              {"--arc 360 --size 144" + point, 40.3}}) {
      const std::string size = arc.find("--size") == std::string::npos ? " --size 96 " : " ";
      ASSERT_EQ(run("simulate -o scan.h5 --overwrite --bins 128 --rows 1 --views 401 --phantom " + phantom +
                    " --axis-bin " + std::to_string(axis) + size + arc)
                    .code,
                0);
      const auto report = [&](double first, double last) {
        std::ostringstream range;
        range << first << ':' << last << ":1";
        const Ended ended = run("recon scan.h5 --json r.json --sweep rotation-axis=" + range.str());
        EXPECT_EQ(ended.code, 0) << ended.err;
        return run.json("r.json");
      };
      const auto found = report(axis - 4, axis + 4);
      ASSERT_EQ(found["verdict"], "resolved") << phantom << ' ' << arc << ' ' << found["words"];
      EXPECT_LE(std::abs(found["value"].get<double>() - axis), 3 * found["uncertainty"].get<double>())
          << phantom << ' ' << arc << ' ' << found["words"];
    }
}

TEST(Sweep, SaysWhatAWholeTurnDoesNotTell) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --phantom plate --size 96 --bins 128 --rows 1 --views 401 --arc 360 "
                "--axis-bin 66.3")
                .code,
            0);
  const auto verdict = [&](const std::string& range) {
    EXPECT_EQ(run("recon scan.h5 --json r.json --sweep " + range).code, 0);
    return run.json("r.json")["verdict"];
  };
  EXPECT_EQ(verdict("rotation-axis=66.3:69.3:0.5"), "railed");
  EXPECT_EQ(verdict("saturation=1e6:4e6:1e6"), "flat");
}

/// Slices of a cone beam tell the axis also beside the middle one. What only shows other
/// slices, or makes them wider, is never said to be found.
TEST(Sweep, ResolvesOfConesTheAxisAndNothingThatSlicesDoNotTell) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --geometry cone --sod 300 --sdd 450 --pixel-size 0.5 --bins 97 --rows 9 "
                "--views 180 --arc 360 --phantom plate --axis-bin 50.3")
                .code,
            0);
  const auto report = [&](const std::string& range) {
    const Ended ended = run("recon scan.h5 --json r.json --sweep " + range);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return run.json("r.json");
  };
  for (const std::string slices : {"4:5", "2:3", "2:7"}) {
    const auto found = report("rotation-axis=46.3:54.3:1 --slices " + slices);
    EXPECT_EQ(found["best"], 50.3) << slices;
    ASSERT_EQ(found["verdict"], "resolved") << slices << ' ' << found["words"];
    EXPECT_LE(std::abs(found["value"].get<double>() - 50.3), 3 * found["uncertainty"].get<double>())
        << slices;
  }
  EXPECT_EQ(report("sod=292:308:4")["verdict"], "flat");
  for (const std::string range : {"midplane-row=2:6:0.5", "detector-roll=-1:1:0.25"}) {
    const auto found = report(range);
    EXPECT_NE(found["verdict"], "resolved") << range << ' ' << found["words"];
    EXPECT_TRUE(found["value"].is_null()) << range;
  }
}

TEST(Sweep, JudgesByTheScoreThatIsAskedFor) {
  Program run;
  const std::string simulate = "simulate --size 48 --bins 64 --rows 1 --views 90 --axis-bin 33.25 -o ";
  ASSERT_EQ(run(simulate + "half.h5").code, 0);
  ASSERT_EQ(run(simulate + "whole.h5 --arc 360").code, 0);  // with an opposite view for each
  for (const std::string score : {"sharpness", "entropy", "opposite"}) {
    const std::string scan = score == "opposite" ? "whole.h5" : "half.h5";
    const Ended ended =
        run("recon " + scan + " --sweep rotation-axis=31.25:35.25:0.5 --json r.json --score " + score);
    ASSERT_EQ(ended.code, 0) << ended.err;
    const nlohmann::json report = run.json("r.json");
    EXPECT_EQ(report["score"], score);
    ASSERT_EQ(report["verdict"], "resolved") << score << ' ' << report["words"];
    EXPECT_NEAR(report["value"].get<double>(), 33.25, 0.5) << score;  // a step
    EXPECT_EQ(report["trials"][0].contains("opposite"), score == "opposite");
  }
  EXPECT_EQ(run("recon half.h5 --sweep rotation-axis=31:35:0.5 --score best").code, 2);
  EXPECT_EQ(run("recon half.h5 -o v.h5 --score entropy").code, 2);
  EXPECT_EQ(run("recon half.h5 --arc 90 --sweep rotation-axis=31:35:0.5 --score opposite").code, 4);
}

/// Air, and views in an order that is not theirs: no score makes up an axis of them. (Views of any order tell
/// the middle of a sample, and so an axis that is right.)
TEST(Sweep, ResolvesNothingOfWhatTellsNothing) {
  Program run;
  std::ofstream angles(run / "angles.txt");
  for (int k = 0; k < 90; ++k) angles << 2.0 * (37 * k % 90) << '\n';
  angles.close();
  const std::string scan = " --size 48 --bins 64 --rows 1 --phantom plate --axis-bin 30.7 --overwrite -o ";
  ASSERT_EQ(run("simulate --angles angles.txt --photons 1e4" + scan + "shuffled.h5").code, 0);
  for (const std::string seed : {"1", "2", "3"})
    ASSERT_EQ(run("simulate --views 90 --arc 180 --max-attenuation 1e-6 --photons 100 --flats 1000 --seed " +
                  seed + scan + "air" + seed + ".h5")
                  .code,
              0);
  for (const std::string name : {"shuffled", "air1", "air2", "air3"})
    for (const std::string score : {"sharpness", "entropy", "opposite"})
      for (const std::string range : {"26.7:34.7:1", "27.7:33.7:0.5"}) {
        ASSERT_EQ(run("recon " + name + ".h5 --arc 180 --json r.json --score " + score +
                      " --sweep rotation-axis=" + range)
                      .code,
                  0);
        const nlohmann::json found = run.json("r.json");
        if (name != "shuffled") {
          EXPECT_EQ(found["verdict"], "flat") << name << ' ' << score << ' ' << range;
        }
        if (found["verdict"] != "resolved") continue;
        EXPECT_LT(std::abs(found["value"].get<double>() - 30.7), 3 * found["uncertainty"].get<double>())
            << name << ' ' << score << ' ' << found["words"];
      }
}

/// A capsule fills one quarter of its slice, so the others tell nothing without it.
TEST(Sweep, ResolvesTheAxisOfACapsule) {
  const std::filesystem::path scan = test::test_data() / "nxtomo" / "capsule_nxtomo.nxs";
  if (!std::filesystem::exists(scan)) GTEST_SKIP() << scan << " is not there";
  Program run;
  ASSERT_EQ(run("recon " + scan.string() + " --sweep rotation-axis=80:92:2 --json r.json").code, 0);
  const nlohmann::json report = run.json("r.json");
  ASSERT_EQ(report["verdict"], "resolved") << report["words"];
  EXPECT_NEAR(report["value"].get<double>(), 85.85, 3 * report["uncertainty"].get<double>());
}

TEST(Sweep, SaysWhereTheRangeMayBeTooShort) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --size 48 --bins 64 --rows 1 --views 90 --axis-bin 33.25").code, 0);
  const Ended ended = run("recon scan.h5 --sweep rotation-axis=30:32:0.5");
  EXPECT_EQ(ended.code, 0);
  EXPECT_NE(ended.err.find("try values beyond 32"), std::string::npos) << ended.err;
}

/// What a name is called here, or a near one, stands before the numbers that may be swept.
TEST(Sweep, SaysWhatMayBeSwept) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --size 24 --views 20").code, 0);
  const auto said = [&run](const std::string& name) {
    const Ended ended = run("recon scan.h5 --sweep " + name + "=1:2:1");
    EXPECT_EQ(ended.code, 2) << name;
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
    return ended.err;
  };
  for (const auto& [name, words] :
       {std::pair{"center", "number; tomopy's center is --rotation-axis here, less 0.5 ("},
        {"fw-sigma", "number; --fw-sigma is --remove-stripe-method fw:sigma=X now ("},
        {"rotation-axs", "number; did you mean rotation-axis? ("},
        {"fbp-filter", "'fbp-filter' is no option of the volume that takes one number ("},
        {"threads", "number ("}}) {
    const std::string text = said(name);
    EXPECT_NE(text.find(words), std::string::npos) << text;
    for (const std::string one :
         {"rotation-axis, ", "fbp-cutoff, ", "arc, ", "numbers behind values, such as dezinger:threshold)"})
      EXPECT_NE(text.find(one, text.find('(')), std::string::npos) << one << text;
    for (const std::string one : {"iterations", "fbp-filter", "threads", "flat-loc", "device-memory"})
      EXPECT_EQ(text.find(one, text.find('(')), std::string::npos) << one << text;
  }
}

TEST(Sweep, RefusesWhatIsNoRangeAndWhatIsNotThere) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --size 24 --views 20").code, 0);
  for (const char* text : {"10", "10:12", "12:10:1", "10:12:0", "10:12:-1", "10:12:1:1", "a:b:c", "0:1e9:1",
                           "10:10.0000000001:1e-12", "''"})
    EXPECT_EQ(run(std::string("recon scan.h5 --sweep rotation-axis=") + text).code, 2) << text;
  EXPECT_EQ(run("recon scan.h5 --sweep 10:12:1").code, 2);
  EXPECT_EQ(run("recon scan.h5 --sweep no-option=10:12:1").code, 2);
  EXPECT_EQ(run("recon scan.h5 --sweep fbp-filter=10:12:1").code, 2);
  EXPECT_EQ(run("recon scan.h5 --sweep threads=1:2:1").code, 2);
  EXPECT_EQ(run("recon scan.h5 --sweep rotation-axis=10:12:1 -o v.h5").code, 2);
  EXPECT_EQ(run("recon scan.h5 --sweep rotation-axis=900:901:1 --preview sheet.png").code, 4);
  EXPECT_FALSE(run.has("sheet.png"));
  EXPECT_EQ(run("recon scan.h5 --sweep rotation-axis=10:12:1 --preview scan.h5").code, 2);
}

}  // namespace
}  // namespace tandem
