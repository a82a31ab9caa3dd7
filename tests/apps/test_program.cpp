// What a user types, and what comes out.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "../../core/device.hpp"
#include "../../io/volumes/volume_file.hpp"
#include "../support/test_data.hpp"
#include "program.hpp"

namespace tandem::test {
namespace {

constexpr const char* small = "--size 48 --views 60 --rows 3 ";

TEST(Program, SimulatesAndReconstructs) {
  Program run;
  ASSERT_EQ(
      run(std::string("simulate -o scan.h5 --truth truth.h5 --phantom disc --pixel-size 0.5 ") + small).code,
      0);
  const Ended recon =
      run("recon scan.h5 -o volume.h5 --truth truth.h5 --json report.json --preview picture.png");
  ASSERT_EQ(recon.code, 0) << recon.err;
  const auto report = run.json("report.json");
  EXPECT_EQ(report["command"], "recon");
  EXPECT_EQ(report["geometry"]["views"], 60);
  EXPECT_EQ(report["geometry"]["pixel_size_mm"], 0.5);
  EXPECT_EQ(report["volume"]["shape"], nlohmann::json({3, 48, 48}));
  EXPECT_EQ(report["volume"]["unit"], "1/mm");
  EXPECT_EQ(report["updates"], 3.0 * 48 * 48 * 60);
  EXPECT_GT(report["quality"]["psnr_db"], 20);
  EXPECT_TRUE(run.has("picture.png"));
  const Ended info = run("info volume.h5 --json -");
  EXPECT_EQ(nlohmann::json::parse(info.out)["complete"], true);
  EXPECT_EQ(nlohmann::json::parse(run("info scan.h5 --json -").out)["geometry"]["bins"], 48);
}

TEST(Program, IteratesAndReports) {
  Program run;
  ASSERT_EQ(
      run(std::string("simulate -o scan.h5 --photons 500 --max-attenuation 1 --phantom ellipsoids ") + small)
          .code,
      0);
  const Ended cgls =
      run("recon scan.h5 -o c.h5 --reconstruction-algorithm cgls --stop discrepancy --json c.json");
  ASSERT_EQ(cgls.code, 0) << cgls.err;
  const auto report = run.json("c.json");
  EXPECT_EQ(report["stopped_by"], "discrepancy");
  EXPECT_EQ(report["residuals"][0], 1.0);
  EXPECT_EQ(report["residuals"].size(), report["iterations"].get<std::size_t>() + 1);
  ASSERT_EQ(run("recon scan.h5 -o s.h5 --reconstruction-algorithm sirt --nonnegative --iterations 5").code,
            0);
  ASSERT_EQ(run("recon scan.h5 -o i.h5 --reconstruction-algorithm sirt --initial s.h5 --iterations 1").code,
            0);
  ASSERT_EQ(run("recon scan.h5 -o f.h5 --reconstruction-algorithm cgls --initial fbp --iterations 1").code,
            0);
}

/// Noise in air is below zero.
TEST(Program, RunsMlemAndTv) {
  Program run;
  ASSERT_EQ(run(std::string("simulate -o scan.h5 --photons 500 --max-attenuation 1 ") + small).code, 0);
  const std::string recon = "recon scan.h5 --reconstruction-algorithm ";
  const Ended mlem = run(recon + "mlem --iterations 5 -o m.h5 --json m.json");
  ASSERT_EQ(mlem.code, 0) << mlem.err;
  EXPECT_NE(mlem.err.find("line integrals below zero"), std::string::npos) << mlem.err;
  EXPECT_EQ(run.json("m.json")["iterations"], 5);
  ASSERT_EQ(run(recon + "tv --iterations 20 -o t.h5 --json t.json").code, 0);
  EXPECT_GT(run.json("t.json")["tv_weight"], 0.0);
  ASSERT_EQ(run(recon + "tv --iterations 20 --tv-weight 1:huber=0.01 --bounds 0:0.02 -o b.h5").code, 0);
}

TEST(Program, FindsTheAxis) {
  Program run;
  ASSERT_EQ(run(std::string("simulate -o scan.h5 --axis-bin 26.25 --arc 360 ") + small).code, 0);
  ASSERT_EQ(run("center scan.h5 --json center.json").code, 0);
  EXPECT_NEAR(run.json("center.json")["axis_bin"].get<double>(), 26.25, 0.2);
  ASSERT_EQ(run("recon scan.h5 -o v.h5 --rotation-axis auto --json r.json").code, 0);
  EXPECT_NEAR(run.json("r.json")["geometry"]["axis_bin_taken"].get<double>(), 26.25, 0.2);
}

TEST(Program, RefusesAnAxisThatCannotBe) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --size 64 --views 90").code, 0);
  for (const std::string command :
       {"center scan.h5 --between 64:127", "center scan.h5 --between 40:60",
        "recon scan.h5 -o v.h5 --rotation-axis 127", "recon scan.h5 -o v.h5 --rotation-axis -60"}) {
    const Ended ended = run(command + " --quiet");
    EXPECT_EQ(ended.code, 4) << command << ended.out;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
    EXPECT_FALSE(run.has("v.h5"));
  }
  ASSERT_EQ(run("recon scan.h5 -o v.h5 --rotation-axis 66 --json r.json").code, 0);  // legal, and said
  EXPECT_NE(run.json("r.json")["warnings"].dump().find("beside the columns 0:64"), std::string::npos);
}

/// The sinogram of the double wedge is then that of a body that nobody has seen whole.
TEST(Program, RefusesTheDoubleWedgeOfASampleCutOff) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --size 64 --views 180 --axis-bin -10 --photons 3000").code, 0);
  const Ended ended = run("center scan.h5 --rotation-axis-method vo --quiet");
  EXPECT_EQ(ended.code, 4) << ended.out;
  for (const char* word : {"reaches beyond the detector", "centre of mass", "give the axis"})
    EXPECT_NE(ended.err.find(word), std::string::npos) << ended.err;
}

TEST(Program, SaysWhereTheLastViewRepeatsTheFirst) {
  Program run;
  std::ofstream angles(run / "angles.txt");
  for (int v = 0; v < 46; ++v) angles << 4 * v << '\n';
  angles.close();
  const std::string scan = "--phantom foam --size 120 --bins 140 --axis-bin 66.2 ";
  ASSERT_EQ(run("simulate -o twice.h5 --angles angles.txt " + scan).code, 0);
  ASSERT_EQ(run("simulate -o once.h5 --views 45 " + scan).code, 0);
  const auto warned = [&](const std::string& command) {
    EXPECT_EQ(run(command + " --quiet --json r.json").code, 0) << command;
    return run.json("r.json")["warnings"].dump().find("--arc 180,inclusive") != std::string::npos;
  };
  for (const std::string command : {"center ", "recon -o v.h5 --rotation-axis auto ", "recon -o v.h5 "}) {
    EXPECT_TRUE(warned(command + "twice.h5 --arc 180")) << command;
    EXPECT_FALSE(warned(command + "twice.h5 --arc 180,inclusive")) << command;
    EXPECT_FALSE(warned(command + "twice.h5")) << command;  // angles of a file are not doubted
    EXPECT_FALSE(warned(command + "once.h5 --arc 180")) << command;
  }
}

TEST(Program, ReportsTheAxisOfTheFileOrNull) {
  Program run;
  ASSERT_EQ(run(std::string("simulate -o scan.h5 --axis-bin 26.25 ") + small).code, 0);
  const auto planned = [&](const std::string& scan) {
    return nlohmann::json::parse(
        run("recon " + scan + " -o v.h5 --rotation-axis 20 --dry-run --json -").out)["geometry"];
  };
  EXPECT_EQ(planned("scan.h5")["axis_bin_in_file"], 26.25);
  EXPECT_EQ(planned("scan.h5")["axis_bin_taken"], 20);
  const std::filesystem::path tooth = test_data() / "dxchange/tooth.h5";
  if (!exists(tooth)) GTEST_SKIP() << tooth << " is not there";
  EXPECT_TRUE(planned(tooth.string())["axis_bin_in_file"].is_null());
  EXPECT_EQ(planned(tooth.string())["axis_bin_taken"], 20);
}

TEST(Program, ReportsItsWarnings) {
  Program run;  // the last view repeats the first, and the arc does not say so
  std::ofstream(run / "angles.txt") << [] {
    std::string text;
    for (int v = 0; v < 46; ++v) text += std::to_string(4 * v) + "\n";
    return text;
  }();
  ASSERT_EQ(run("simulate -o scan.h5 --phantom foam --size 120 --bins 140 --angles angles.txt").code, 0);
  for (const std::string quiet : {"", " --quiet"})
    for (const std::string command : {"center scan.h5", "recon scan.h5 -o v.h5 --rotation-axis auto"}) {
      const Ended ended = run(command + " --arc 180 --json r.json" + quiet);
      ASSERT_EQ(ended.code, 0) << ended.err;
      const auto warnings = run.json("r.json")["warnings"];
      ASSERT_EQ(warnings.size(), 1u) << command;
      const std::string text = warnings[0];
      EXPECT_NE(text.find("looks like the first one"), std::string::npos) << text;
      EXPECT_NE(ended.err.find("tandem: warning: " + text), std::string::npos) << quiet << ended.err;
    }
}

TEST(Program, SaysWhatWasFloored) {
  Program run;
  ASSERT_EQ(run(std::string("simulate -o scan.h5 --photons 300 --max-attenuation 8 ") + small).code, 0);
  const Ended refused = run("recon scan.h5 -o v.h5");
  EXPECT_EQ(refused.code, 3) << refused.err;
  EXPECT_NE(refused.err.find("true:floored="), std::string::npos) << refused.err;
  EXPECT_FALSE(run.has("v.h5"));
  const Ended ended = run("recon scan.h5 -o v.h5 --minus-log true:floored=100 --json r.json");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto report = run.json("r.json");
  EXPECT_GT(report["floored"], 100);
  std::map<std::string, Index> replaced;
  for (const auto& step : report["steps"]) replaced[step["name"]] = step["replaced"];
  EXPECT_EQ(replaced.size(), report["steps"].size());
  EXPECT_EQ(replaced.at("minus-log"), report["floored"]);
  EXPECT_EQ(replaced.at("dark-flat"), 0);
  EXPECT_EQ(replaced.count("air"), 0u);
  EXPECT_NE(ended.out.find(report["floored"].dump() + " values by minus-log"), std::string::npos)
      << ended.out;
  EXPECT_GT(report["floor"][0], 0.5 / 330);
  EXPECT_LT(report["floor"][1], 0.5 / 270);
  ASSERT_EQ(report["warnings"].size(), 1u);
  EXPECT_NE(ended.err.find("warning: " + report["warnings"][0].get<std::string>()), std::string::npos);
  for (const char* value : {"nan", "-1", "101", "''"})
    EXPECT_EQ(run(std::string("recon scan.h5 -o w.h5 --minus-log true:floored=") + value).code, 2) << value;
}

TEST(Program, ProjectsAVolumeLikeAScan) {
  Program run;
  ASSERT_EQ(run(std::string("simulate -o scan.h5 --truth truth.h5 --phantom disc ") + small).code, 0);
  ASSERT_EQ(run("project truth.h5 -o again.h5 --like scan.h5").code, 0);
  ASSERT_EQ(run("project truth.h5 -o more.h5 --views 7 --model joseph").code, 0);
  ASSERT_EQ(run("recon again.h5 -o v.h5 --truth truth.h5 --json r.json").code, 0);
  EXPECT_GT(run.json("r.json")["quality"]["psnr_db"], 20);
  EXPECT_EQ(nlohmann::json::parse(run("info more.h5 --json -").out)["geometry"]["views"], 7);
}

TEST(Program, ReconstructsThroughFrequencies) {
  Program run;
  ASSERT_EQ(run(std::string("simulate -o scan.h5 --truth truth.h5 --phantom disc ") + small).code, 0);
  const std::string fourier = " --device cpu --truth truth.h5 --json r.json --overwrite --model fourier";
  for (const std::string method : {"", ":accuracy=1e-5", " --reconstruction-algorithm cgls --iterations 5"}) {
    const Ended ended = run("recon scan.h5 -o v.h5" + fourier + method);
    ASSERT_EQ(ended.code, 0) << ended.err;
    const auto report = run.json("r.json");
    EXPECT_EQ(report["model"], "fourier");
    EXPECT_EQ(report["variant"], "fourier");
    EXPECT_TRUE(report["matched"]);
    EXPECT_GT(report["quality"]["psnr_db"], 20) << method;
  }
  const Ended wide =
      run("recon scan.h5 -o v.h5 --overwrite --device cpu --model fourier --voxel-size 2 --pixel-size 1");
  EXPECT_EQ(wide.code, 0) << wide.err;
  EXPECT_NE(wide.err.find("voxels are 2 bins wide"), std::string::npos) << wide.err;
  EXPECT_EQ(run("project truth.h5 -o lines.h5 --model fourier --like scan.h5").code, 0);
  const auto refused = [&](const std::string& arguments, int code, const std::string& words) {
    const Ended ended = run("recon scan.h5 -o w.h5 --device cpu " + arguments);
    EXPECT_EQ(ended.code, code) << arguments;
    EXPECT_NE(ended.err.find(words), std::string::npos) << ended.err;
  };
  refused("--model joseph:accuracy=1e-3", 2, "an accuracy goes with fourier");
  refused("--model fourier:accuracy=1e-9", 2, "accuracy: ");
  refused("--model fourier --variant standard", 2, "--variant does not go with --model fourier");
}

TEST(Program, WritesIntegersAndTiff) {
  Program run;
  ASSERT_EQ(run(std::string("simulate -o scan.h5 --phantom disc ") + small).code, 0);
  EXPECT_EQ(run("recon scan.h5 -o v.tif --dtype uint16 --range -0.1:0.3").code, 0);
  EXPECT_TRUE(run.has("v_00000.tif") && run.has("v_00002.tif") && !run.has("v_00003.tif"));
  EXPECT_EQ(run("recon scan.h5 -o v8.h5 --dtype uint8 --range -0.1:0.3").code, 0);
  EXPECT_EQ(run("recon scan.h5 -o v8 --save-format h5").code, 0);
  EXPECT_TRUE(run.has("v8.h5"));
}

TEST(Program, KnowsItsTiffVolumes) {
  Program run;
  ASSERT_EQ(run(std::string("simulate -o scan.h5 --pixel-size 0.5 ") + small).code, 0);
  ASSERT_EQ(run("recon scan.h5 -o v.tif").code, 0);
  for (const std::string name : {"v_00000.tif", "v_00002.tif", "v.tif"}) {
    const Ended info = run("info " + name + " --json -");
    ASSERT_EQ(info.code, 0) << info.err;
    const auto report = nlohmann::json::parse(info.out);
    EXPECT_EQ(report["kind"], "volume");
    EXPECT_EQ(report["shape"], nlohmann::json({3, 48, 48}));
    EXPECT_EQ(report["pitch_mm"], 0.5);
  }
  EXPECT_NE(run("info v_00001.tif").out.find("TIFF"), std::string::npos);
  EXPECT_EQ(run("recon scan.h5 -o v.tif --slices 1").code, 3);  // would leave two of another run
  ASSERT_EQ(run("recon scan.h5 -o v.tif --slices 1 --overwrite").code, 0);
  EXPECT_EQ(run.left_of("v_000"), 1);
}

TEST(Program, DescribesTheSelection) {
  Program run;
  ASSERT_EQ(run(std::string("simulate -o scan.h5 ") + small).code, 0);
  const auto part = nlohmann::json::parse(run("info scan.h5 --detector-rows 1: --views :30 --json -").out);
  EXPECT_EQ(part["reconstruction"]["shape"], nlohmann::json({2, 48, 48}));
  EXPECT_EQ(part["reconstruction"]["updates"], 2.0 * 48 * 48 * 30);
  EXPECT_EQ(part["reconstruction"]["devices"].size(), devices().size());
  for (const auto& row : part["reconstruction"]["devices"]) {
    EXPECT_GT(row["forecast"]["seconds"], 0);
    EXPECT_EQ(row["disk_bytes"], 2 * 48 * 48 * 4);
    EXPECT_EQ(row["device_memory_bytes"] > 0, row["device"] != "cpu");
  }
  EXPECT_EQ(part["geometry"]["views"], 60);
}

TEST(Program, SaysOfAScanWhoseSliceDoesNotFitWhatItWouldTake) {
  Program run;  // a slice of 10^12 voxels, 3.6 TiB
  ASSERT_EQ(run("simulate -o wide.h5 --size 8 --bins 1000000 --views 2 --flats 1 --darks 1").code, 0);
  const Ended info = run("info wide.h5");
  EXPECT_EQ(info.code, 0) << info.err;
  EXPECT_NE(info.out.find("does not fit: memory: one slice needs"), std::string::npos) << info.out;
  const auto report = nlohmann::json::parse(run("info wide.h5 --json -").out);
  for (const auto& row : report["reconstruction"]["devices"]) EXPECT_TRUE(row.contains("does_not_fit"));
  EXPECT_EQ(report["geometry"]["bins"], 1000000);
}

TEST(Program, TakesFlatsBeforeTheScan) {
  Program run;
  ASSERT_EQ(run(std::string("simulate -o scan.h5 ") + small).code, 0);
  const Ended once = run("recon --flats scan.h5 --darks scan.h5 scan.h5 -o v.h5");
  EXPECT_EQ(once.code, 0) << once.err;
  const Ended twice = run("info --flats scan.h5 --flats scan.h5 scan.h5 --json -");
  EXPECT_EQ(nlohmann::json::parse(twice.out)["flats"], 30);
}

TEST(Program, TakesWhatThisVersionHas) {
  Program run;
  ASSERT_EQ(run(std::string("simulate -o scan.h5 ") + small).code, 0);
  for (const std::string options : {"--variant automatic --device auto", "--variant standard --device cpu",
                                    "--precision float32", "--device-memory 1"})
    EXPECT_EQ(run("recon scan.h5 -o v.h5 " + options).code, 0) << options;
}

TEST(Program, ReportsWhereItComputes) {
  Program run;
  ASSERT_EQ(run(std::string("simulate -o scan.h5 ") + small).code, 0);
  for (const Device device : devices()) {
    const std::string recon = "recon scan.h5 -o v.h5 --device " + device.name();
    ASSERT_EQ(run(recon + " --json r.json").code, 0);
    const auto dry = nlohmann::json::parse(run(recon + " --dry-run --json -").out);
    for (const auto& report : {run.json("r.json"), dry}) {
      EXPECT_EQ(report["device"], nlohmann::json::array({device.name()}));
      EXPECT_EQ(report["variant"], device.is_cuda() ? "alu" : "standard");
      EXPECT_EQ(report["precision"], "float32");
      EXPECT_EQ(report["device_memory_bytes"] > 0, device.is_cuda());
    }
    EXPECT_NE(run(recon + " --dry-run").out.find("device    " + device.name()), std::string::npos);
  }
}

TEST(Program, OtherSenseOfRotationMirrorsTheVolume) {
  Program run;
  ASSERT_EQ(run(std::string("simulate -o scan.h5 --phantom foam ") + small).code, 0);
  ASSERT_EQ(run("recon scan.h5 -o plus.h5 --rotation-direction +1").code, 0);
  ASSERT_EQ(run("recon scan.h5 -o minus.h5 --rotation-direction -1").code, 0);
  io::VolumeReader one(run / "plus.h5"), other(run / "minus.h5");
  constexpr Index n = 48;
  std::vector<float> plus(3 * n * n), minus(3 * n * n);
  one.read({0, 3}, plus.data());
  other.read({0, 3}, minus.data());
  double worst = 0, largest = 0, asymmetry = 0;
  const auto at = [](const std::vector<float>& v, Index line, Index x) {
    return static_cast<double>(v[static_cast<std::size_t>(line * n + x)]);
  };
  for (Index line = 0; line < 3 * n; ++line) {
    const Index mirrored = line - line % n + n - 1 - line % n;
    for (Index x = 0; x < n; ++x) {
      worst = std::max(worst, std::abs(at(plus, line, x) - at(minus, mirrored, x)));
      largest = std::max(largest, std::abs(at(plus, line, x)));
      asymmetry = std::max(asymmetry, std::abs(at(plus, line, x) - at(plus, mirrored, x)));
    }
  }
  EXPECT_LE(worst, 1e-4 * largest);  // tolerance::region: positions are rounded anew
  EXPECT_GT(asymmetry, 0.1 * largest);
}

TEST(Program, ReportsNamesThatAreNoUtf8) {
  Program run;
  ASSERT_EQ(run(std::string("simulate -o 'n\xff.h5' --json s.json ") + small).code, 0);
  const Ended recon = run("recon 'n\xff.h5' -o v.h5 --json r.json");
  ASSERT_EQ(recon.code, 0) << recon.err;
  EXPECT_EQ(run.json("r.json")["input"], "n\xef\xbf\xbd.h5");
  EXPECT_EQ(run("info 'n\xff.h5' --json -").code, 0);
}

TEST(Program, DryRunReadsNoPixelsAndWritesNothing) {
  Program run;
  ASSERT_EQ(run(std::string("simulate -o scan.h5 ") + small).code, 0);
  const Ended dry = run("recon scan.h5 -o v.h5 --dry-run --json -");
  EXPECT_EQ(dry.code, 0);
  EXPECT_GT(nlohmann::json::parse(dry.out)["memory_bytes"], 0);
  EXPECT_FALSE(run.has("v.h5"));
}

TEST(Program, QuietSaysNothing) {
  Program run;
  const Ended made = run(std::string("simulate -o scan.h5 --quiet ") + small);
  EXPECT_EQ(made.err, "");
  EXPECT_EQ(run("recon scan.h5 -o v.h5 --quiet").err, "");
}

}  // namespace
}  // namespace tandem::test
