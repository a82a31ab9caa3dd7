// Cone and fan beams as a user types them.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "../../io/volumes/volume_file.hpp"
#include "../support/tolerances.hpp"
#include "program.hpp"

namespace tandem::test {
namespace {

const std::string cone = "--geometry cone --sod 60 --sdd 90 --pixel-size 0.5 ";
const std::string small = cone + "--size 40 --bins 48 --views 90 ";

nlohmann::json printed(const Ended& run) { return nlohmann::json::parse(run.out); }

TEST(ConeProgram, SimulatesAndReconstructsByFdk) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --truth truth.h5 --phantom ellipsoids --rows 40 " + small).code, 0);
  const Ended recon = run("recon scan.h5 -o v.h5 --size 40 --truth truth.h5 --json r.json --preview p.png");
  ASSERT_EQ(recon.code, 0) << recon.err;
  const auto report = run.json("r.json");
  EXPECT_EQ(report["algorithm"], "fdk");
  EXPECT_EQ(report["geometry"]["kind"], "cone");
  EXPECT_EQ(report["geometry"]["sod_mm"], 60);
  EXPECT_EQ(report["geometry"]["sdd_mm"], 90);
  EXPECT_EQ(report["geometry"]["midplane_row"], 19.5);
  EXPECT_EQ(report["volume"]["shape"], nlohmann::json({40, 40, 40}));
  EXPECT_NEAR(report["volume"]["pitch_mm"].get<double>(), 0.5 * 60 / 90, 1e-12);
  EXPECT_EQ(report["volume"]["unit"], "1/mm");
  EXPECT_EQ(report["updates"], 40.0 * 40 * 40 * 90);
  EXPECT_TRUE(report["warnings"].empty());
  EXPECT_GT(report["quality"]["psnr_db"], 25);
  EXPECT_NE(recon.out.find("cone beam, source to axis 60 mm"), std::string::npos) << recon.out;
}

/// FDK holds a few views at a time.
TEST(ConeProgram, ReconstructsAScanFourTimesAsLargeAsTheMemory) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --phantom disc --rows 400 --size 512 --bins 512 --views 400 "
                "--geometry cone --sod 60 --sdd 90 --pixel-size 0.05")
                .code,
            0);
  const std::string recon = "recon scan.h5 --device cpu --size 64 --slices 48 --json r.json -o ";
  ASSERT_EQ(run(recon + "whole.h5").code, 0);
  const Ended little = run(recon + "little.h5 --memory 0.075 --truth whole.h5");
  ASSERT_EQ(little.code, 0) << little.err;
  const auto report = run.json("r.json");
  EXPECT_GT(std::filesystem::file_size(run / "scan.h5"), 4 * 0.075 * (1 << 30));
  EXPECT_LE(report["memory_bytes"], 0.075 * (1 << 30));
  EXPECT_LE(report["peak_memory_bytes"], report["memory_bytes"]);
  EXPECT_LE(report["quality"]["rmse"], tolerance::region * 0.05);  // a part of the disc's attenuation
}

TEST(ConeProgram, IteratesAsOneProblem) {
  Program run;
  ASSERT_EQ(
      run("simulate -o scan.h5 --truth truth.h5 --phantom ellipsoids --rows 40 --photons 300 " + small).code,
      0);
  const std::string recon =
      "recon scan.h5 --size 40 --truth truth.h5 --json r.json --reconstruction-algorithm ";
  ASSERT_EQ(run(recon + "cgls --stop discrepancy -o c.h5").code, 0);
  const auto cgls = run.json("r.json");
  EXPECT_EQ(cgls["stopped_by"], "discrepancy");
  EXPECT_EQ(cgls["slice_iterations"].size(), 1u);
  ASSERT_EQ(run(recon + "sirt --iterations 10 --nonnegative --initial c.h5 -o s.h5").code, 0);
  ASSERT_EQ(run(recon + "fdk -o f.h5").code, 0);
  EXPECT_GT(cgls["quality"]["psnr_db"], run.json("r.json")["quality"]["psnr_db"]);
}

TEST(ConeProgram, InfoShowsTheGeometry) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --rows 3 --midplane-row 0.5 " + small).code, 0);
  const auto report = printed(run("info scan.h5 --json -"));
  EXPECT_EQ(report["geometry"]["kind"], "cone");
  EXPECT_EQ(report["geometry"]["midplane_row"], 0.5);
  EXPECT_EQ(report["geometry"]["axis_bin"], 23.5);
  EXPECT_EQ(report["angles_deg"]["modulo"], 360);
  EXPECT_NEAR(report["angles_deg"]["widest_gap"].get<double>(), 4, 1e-9);
  const std::string text = run("info scan.h5").out;
  EXPECT_NE(text.find("cone beam, source to axis 60 mm, to detector 90 mm (magnified 1.5 times)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("FDK"), std::string::npos) << text;
}

TEST(FanProgram, OneRowFromItsOwnAxis) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --truth truth.h5 --axis-bin 20.75 --photons 1e5 " + small).code, 0);
  const auto axis = printed(run("center scan.h5 --json -"));
  EXPECT_NEAR(axis["axis_bin"].get<double>(), 20.75, 0.2);
  EXPECT_EQ(axis["method"], "opposite");
  const Ended recon =
      run("recon scan.h5 -o v.h5 --size 40 --rotation-axis auto --truth truth.h5 --json r.json");
  ASSERT_EQ(recon.code, 0) << recon.err;
  EXPECT_NEAR(run.json("r.json")["geometry"]["axis_bin_taken"].get<double>(), 20.75, 0.2);
  EXPECT_GT(run.json("r.json")["quality"]["psnr_db"], 20);
}

TEST(FanProgram, HintsAtTheOtherSenseOfRotation) {
  Program run;
  const auto warned = [&](const std::string& direction) {
    const Ended ended = run("center scan.h5 --json r.json --rotation-direction " + direction);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return run.json("r.json")["warnings"].dump().find("--rotation-direction") != std::string::npos;
  };
  for (const std::string phantom : {"foam", "shepp-logan"}) {
    ASSERT_EQ(
        run("simulate -o scan.h5 --axis-bin 20.75 --photons 1e4 --phantom " + phantom + " " + small).code, 0);
    EXPECT_FALSE(warned("+1")) << phantom;
    EXPECT_TRUE(warned("-1")) << phantom;
  }
}

/// The user's lengths come before the file's.
TEST(ConeProgram, TakesLengthsFromTheCommandLine) {
  Program run;
  const std::string same =
      " --rows 12 --midplane-row 4.75 --axis-bin 22 --size 40 --bins 48 --views 90 --geometry cone ";
  ASSERT_EQ(run("simulate -o scan.h5 --sod 60 --sdd 90 --pixel-size 0.5" + same).code, 0);
  ASSERT_EQ(run("simulate -o other.h5 --sod 70 --sdd 105 --pixel-size 0.6" + same).code, 0);
  ASSERT_EQ(run("recon scan.h5 -o v.h5").code, 0);
  ASSERT_EQ(run("recon scan.h5 -o w.h5 --sod 70 --sdd 105 --pixel-size 0.6 --json w.json").code, 0);
  const auto geometry = run.json("w.json")["geometry"];
  EXPECT_EQ(geometry["sod_mm"], 70);
  EXPECT_EQ(geometry["sdd_mm"], 105);
  EXPECT_EQ(geometry["pixel_size_mm"], 0.6);
  EXPECT_NEAR(*io::VolumeReader(run / "w.h5").pitch_mm() / *io::VolumeReader(run / "v.h5").pitch_mm(), 1.2,
              1e-12);
  // a scan that records nothing of its source becomes a cone beam
  ASSERT_EQ(run("simulate -o parallel.h5 --rows 12 --size 40 --views 90").code, 0);
  ASSERT_EQ(run("recon parallel.h5 -o u.h5 --sod 70 --sdd 105 --pixel-size 0.6 --json u.json").code, 0);
  EXPECT_EQ(run.json("u.json")["geometry"]["kind"], "cone");
}

TEST(ConeProgram, TakesTheHierarchicalModelIfItIsAskedFor) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --truth truth.h5 --phantom ellipsoids --rows 30 " + small).code, 0);
  const auto quality = [&](const std::string& options) {
    const Ended recon = run("recon scan.h5 --truth truth.h5 --json r.json " + options);
    EXPECT_EQ(recon.code, 0) << recon.err;
    return run.json("r.json")["quality"]["psnr_db"].get<double>();
  };
  const double footprints = quality("-o f.h5");
  EXPECT_NEAR(quality("-o h.h5 --model hierarchical"), footprints, 0.5);
  EXPECT_EQ(run.json("r.json")["model"], "hierarchical");
  EXPECT_NEAR(quality("-o a.h5 --model hierarchical:accuracy=1e-3"), footprints, 0.5);
  // rows beside those that slices meet are read, too
  ASSERT_EQ(run("recon scan.h5 -o s.h5 --slices 3 --model hierarchical --json s.json").code, 0);
  EXPECT_EQ(run.json("s.json")["volume"]["shape"][0], 3);
  EXPECT_GT(quality("-o c.h5 --model hierarchical --reconstruction-algorithm cgls --iterations 8"), 20);
  for (const auto& [options, word] :
       {std::pair{"--model hierarchical --reconstruction-algorithm mlem", "may be negative"},
        {"--model hierarchical --follow", "needs all views at once"},
        {"--model hierarchical:accuracy=1e-5", "an accuracy goes with"},
        {"--model joseph", "it has separable_footprint and hierarchical"},
        {"--model hierarchical --sod 10 --sdd 20", "more than 0.6 of sod"}}) {
    const Ended refused = run(std::string("recon scan.h5 -o x.h5 ") + options);
    EXPECT_NE(refused.code, 0) << options;
    EXPECT_NE(refused.err.find(word), std::string::npos) << refused.err;
  }
}

TEST(ConeProgram, ProjectsAVolume) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --truth truth.h5 --phantom ellipsoids --rows 30 " + small).code, 0);
  ASSERT_EQ(run("project truth.h5 -o again.h5 --like scan.h5 --json p.json").code, 0);
  EXPECT_EQ(run.json("p.json")["model"], "separable_footprint");
  ASSERT_EQ(run("project truth.h5 -o groups.h5 --like scan.h5 --model hierarchical --json p.json").code, 0);
  EXPECT_EQ(run.json("p.json")["model"], "hierarchical");
  EXPECT_NE(run("project truth.h5 -o x.h5 --like scan.h5 --model joseph").err.find("does not have it"),
            std::string::npos);
  ASSERT_EQ(run("recon again.h5 -o v.h5 --size 40 --truth truth.h5 --json r.json").code, 0);
  EXPECT_GT(run.json("r.json")["quality"]["psnr_db"], 25);
  const Ended more = run("project truth.h5 -o more.h5 --rows 33 --views 7 --bins 50 " + cone);
  ASSERT_EQ(more.code, 0) << more.err;
  const auto made = printed(run("info more.h5 --json -"))["geometry"];
  EXPECT_EQ(made["rows"], 33);
  EXPECT_EQ(made["bins"], 50);
  EXPECT_EQ(made["kind"], "cone");
}

TEST(ConeProgram, WarnsOfWhatIsMissing) {
  Program run;
  ASSERT_EQ(run("simulate -o arc.h5 --arc 150 --rows 9 " + small).code, 0);
  const Ended arc = run("recon arc.h5 -o v.h5 --json r.json");
  EXPECT_EQ(arc.code, 0);
  EXPECT_NE(arc.err.find("warning: the views leave"), std::string::npos) << arc.err;
  EXPECT_NE(arc.err.find("degrees of a short scan"), std::string::npos) << arc.err;
  EXPECT_NE(arc.err.find("fdk takes the sample to go on there as in the outermost rows"), std::string::npos)
      << arc.err;
  EXPECT_EQ(run.json("r.json")["warnings"].size(), 2u);
  const Ended air = run("recon arc.h5 -o zero.h5 --slices 201 --region 0:48,0:48,0:9 --arc 360");
  EXPECT_EQ(air.code, 0);
  EXPECT_NE(air.err.find("warning: no ray meets the volume; nothing was measured there"), std::string::npos)
      << air.err;
  io::VolumeReader zero(run / "zero.h5");
  EXPECT_TRUE(zero.complete());
  std::vector<float> all(9 * 48 * 48, 1.0f);
  zero.read({0, 9}, all.data());
  EXPECT_EQ(std::count(all.begin(), all.end(), 0.0f), 9 * 48 * 48);
}

}  // namespace
}  // namespace tandem::test
