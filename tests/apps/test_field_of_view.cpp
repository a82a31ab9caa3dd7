// What the program says about scans that do not see all of the sample from all sides.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <vector>

#include "../../io/scans/scan_reader.hpp"
#include "../io/sample_files.hpp"
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

/// Angles of another scan make opposite views disagree, and leave the axis uncertain by nine bins.
TEST(FieldOfView, AnUncertainAxisMakesNoHalfAcquisition) {
  const Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --size 128 --bins 192 --rows 1 --views 180 --arc 360").code, 0);
  const std::string wrong = "recon scan.h5 -o v.h5 --overwrite --arc 593 ";
  const Ended refused = run(wrong + "--rotation-axis auto");
  EXPECT_EQ(refused.code, 4) << refused.err;
  EXPECT_NE(refused.err.find("would make the scan a half acquisition, and is too uncertain"),
            std::string::npos)
      << refused.err;
  EXPECT_FALSE(run.has("v.h5"));
  EXPECT_EQ(run(wrong + "--rotation-axis auto --file-type standard").code, 4);
  EXPECT_EQ(run(wrong + "--rotation-axis auto --file-type double_fov").code, 0);
  EXPECT_EQ(run(wrong + "--rotation-axis 95.5").code, 0);
  EXPECT_EQ(run("recon scan.h5 -o v.h5 --overwrite --rotation-axis auto").code, 0);
}

/// One row of transmissions, (view, bin).
struct Sinogram {
  std::vector<std::vector<double>> views;
  std::vector<double> degrees;
};

Sinogram sinogram_in(const fs::path& path) {
  const auto reader = io::open_scan(path);
  const Index views = views_of(reader->info().scan);
  const Index bins = detector_of(reader->info().scan).bins;
  const io::Frames frames = reader->read(io::FrameKind::projection, {0, views}, {0, 1}, {0, bins});
  const auto* y = reinterpret_cast<const float*>(frames.bytes.data());
  Sinogram all;
  for (Index v = 0; v < views; ++v) {
    all.views.emplace_back(y + v * bins, y + (v + 1) * bins);
    all.degrees.push_back(360 * static_cast<double>(v) / static_cast<double>(views));
  }
  return all;
}

/// Writes as the ESRF does: a flat first. `axis`: bins from the middle; NaN: not recorded.
void write_half_nxtomo(const fs::path& path, const Sinogram& of, double axis = NAN) {
  const auto views = of.views.size(), bins = of.views.front().size();
  const std::string detector = "/entry0000/instrument/detector";
  std::vector<double> pixels(bins, 1), keys(views + 1, 0), degrees{0};
  keys[0] = 1;
  for (const auto& view : of.views) pixels.insert(pixels.end(), view.begin(), view.end());
  degrees.insert(degrees.end(), of.degrees.begin(), of.degrees.end());
  Hdf5Maker file(path);
  file.text("/entry0000/definition", "NXtomo")
      .numbers(detector + "/data", "f32", {views + 1, 1, bins}, pixels)
      .numbers(detector + "/image_key", "i32", {views + 1}, keys)
      .text(detector + "/field_of_view", "Half", true)
      .numbers("/entry0000/sample/rotation_angle", "f64", {views + 1}, degrees);
  if (!std::isnan(axis)) file.numbers(detector + "/x_rotation_axis_pixel_position", "f64", {}, {axis});
}

void write_tiffs(const fs::path& folder, const Sinogram& of) {
  fs::create_directory(folder);
  const auto bins = static_cast<unsigned>(of.views.front().size());
  const TiffOptions as_floats{.bits = 32, .format = 3, .height = 1, .width = bins};
  for (std::size_t v = 0; v < of.views.size(); ++v)
    write_tiff_pages(folder / ("view_" + std::to_string(v) + ".tif"), {of.views[v]}, as_floats);
  write_tiff_pages(folder / "flat_0.tif", {std::vector<double>(bins, 1)}, as_floats);
}

/// The foam is 256 voxels wide, on 160 bins with the axis at bin 30. A detector that sees all of it is at
/// most 1 dB better than each format, also about an axis that was searched. Both axes are at the middle of a
/// bin, which decides how aliases meet.
TEST(FieldOfView, AHalfAcquisitionIsWholeFromEveryFormat) {
  const Program run;
  const std::string foam = "simulate --phantom foam --size 256 --rows 1 --views 720 --arc 360 ";
  ASSERT_EQ(run(foam + "-o whole.h5 --bins 259 --truth truth.h5").code, 0);
  ASSERT_EQ(run(foam + "-o half.h5 --bins 160 --axis-bin 30").code, 0);
  const Sinogram half = sinogram_in(run / "half.h5");
  write_half_nxtomo(run / "half.nxs", half, 30 - 79.5);
  write_half_nxtomo(run / "no_axis.nxs", half);
  write_tiffs(run / "tiffs", half);
  const auto psnr = [&](const std::string& scan) {
    const Ended ended =
        run("recon " + scan + " -o v.h5 --device cpu --overwrite --size 256 --truth truth.h5 --json r.json");
    EXPECT_EQ(ended.code, 0) << ended.err;
    return run.json("r.json")["quality"]["psnr_db"].get<double>();
  };
  const double whole = psnr("whole.h5"), from_half = psnr("half.h5");
  EXPECT_GE(from_half, whole - 1);
  EXPECT_EQ(psnr("half.nxs"), from_half);
  EXPECT_EQ(psnr("tiffs --arc 360 --rotation-axis 30"), from_half);
  for (const std::string scan : {"half.h5 --rotation-axis auto", "no_axis.nxs --rotation-axis auto",
                                 "tiffs --arc 360 --file-type double_fov --rotation-axis auto"}) {
    EXPECT_GE(psnr(scan), whole - 1) << scan;
    EXPECT_NEAR(run.json("r.json")["geometry"]["axis_bin"], 30, 0.3) << scan;
    EXPECT_TRUE(run.json("r.json")["warnings"].empty()) << scan;
  }
}

TEST(FieldOfView, WhatIsSaidToBeAHalfAcquisitionIsNotTakenAboutTheMiddle) {
  const Program run;
  const std::string disc = "simulate --phantom disc --size 70 --bins 48 --rows 1 --views 90 --arc 360 ";
  ASSERT_EQ(run(disc + "-o scan.h5 --axis-bin 9.5").code, 0);
  write_half_nxtomo(run / "no_axis.nxs", sinogram_in(run / "scan.h5"));
  write_half_nxtomo(run / "middle.nxs", sinogram_in(run / "scan.h5"), 0.5);
  const auto expect = [&](const std::string& command, int code, const std::string& word) {
    const Ended ended = run(command);
    EXPECT_EQ(ended.code, code) << command << ended.err;
    EXPECT_NE((ended.out + ended.err).find(word), std::string::npos) << command << ended.err;
  };
  expect("recon no_axis.nxs -o v.h5", 4, "half acquisition: the scan records no rotation axis");
  expect("info no_axis.nxs", 0, "records no rotation axis");
  expect("recon no_axis.nxs -o v.h5 --rotation-axis 9.5 --views :40", 4, "of the turn open");
  expect("recon middle.nxs -o v.h5", 0, "warning: the scan is said to be a half acquisition");
  expect("center no_axis.nxs --rotation-axis-method vo", 4, "opposite views");
  expect("recon no_axis.nxs -o v.h5 --overwrite --file-type standard", 0,
         "records no rotation axis; the middle");
  expect("recon scan.h5 -o v.h5 --file-type single", 2, "--file-type");
  const auto width = [&](const std::string& type) {
    EXPECT_EQ(run("recon scan.h5 -o v.h5 --overwrite --save-config c.toml --json r.json " + type).code, 0);
    EXPECT_EQ(run("recon scan.h5 -o w.h5 --overwrite --config c.toml --json again.json").code, 0);
    EXPECT_EQ(run.json("again.json")["volume"], run.json("r.json")["volume"]);
    return run.json("r.json")["volume"]["shape"][2];
  };
  EXPECT_EQ(width("--file-type double_fov"), 76);
  EXPECT_EQ(width("--file-type DOUBLE_FOV"), 76);
  EXPECT_EQ(width("--file-type standard"), 48);
  EXPECT_EQ(width(""), 76);
}

/// The grid is that of the whole field, whatever gaps there are, and a warning says which.
TEST(FieldOfView, ViewsAllRoundMayHaveGaps) {
  const Program run;
  const auto angles = [&](const std::string& name, const auto& there) {
    std::ofstream file(run / name);
    for (int k = 0; k < 180; ++k)
      if (there(k)) file << 2 * k << "\n";
  };
  angles("lost.txt", [](int k) { return k < 70 || k > 71; });
  angles("gated.txt", [](int k) { return k % 18 < 8; });
  angles("wedge.txt", [](int k) { return k < 74; });
  for (const std::string beam : {"", "--geometry cone --sod 400 --sdd 600 --pixel-size 1.5 "})
    for (const std::string name : {"lost", "gated"}) {
      const std::string scan = name + (beam.empty() ? ".h5" : "_fan.h5");
      ASSERT_EQ(run("simulate -o " + scan +
                    " --phantom disc --size 66 --bins 48 --rows 1 --axis-bin 14.5 --angles " + name +
                    ".txt " + beam)
                    .code,
                0);
      for (const std::string type : {"", " --file-type double_fov"}) {
        ASSERT_EQ(run("recon " + scan + " -o v.h5 --overwrite --json r.json" + type).code, 0);
        const auto report = run.json("r.json");
        EXPECT_GE(report["volume"]["shape"][2], 63) << scan;
        EXPECT_EQ(report["warnings"].size(), name == "gated" ? 1u : 0u) << report["warnings"];
        EXPECT_EQ(run("center " + scan + type).code, 0) << scan << type;
      }
    }
  ASSERT_EQ(run("simulate -o wedge.h5 --phantom disc --size 48 --rows 1 --angles wedge.txt").code, 0);
  EXPECT_NE(run("recon wedge.h5 -o w.h5").err.find("32 degrees of the half turn open, which count as zero"),
            std::string::npos);
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
  EXPECT_EQ(padding("--padding cosine"), nlohmann::json({"cosine", 24}));
  EXPECT_EQ(padding("--padding edge:bins=7"), nlohmann::json({"edge", 7}));
  EXPECT_EQ(padding("--padding none"), nlohmann::json({"none", nullptr}));
  EXPECT_EQ(padding("--reconstruction-algorithm sirt --iterations 1"), nlohmann::json({"none", nullptr}));
  EXPECT_EQ(padding("--binning 2 --padding cosine:bins=8"), nlohmann::json({"cosine", 4}));
  for (const char* options :
       {"--padding wide", "--padding none:bins=3", "--padding cosine:bins=0",
        "--padding edge --fbp-filter none", "--padding edge --reconstruction-algorithm sirt",
        "--padding circle:bins=9", "--padding cosine:attenuation=0.1", "--padding circle:attenuation=0",
        "--padding circle:attenuation=-1", "--padding circle:attenuation=nan",
        "--padding circle:attenuation=2/mm", "--padding circle:mu=2", "--padding circle --fbp-filter none",
        "--padding circle --reconstruction-algorithm sirt"}) {
    const Ended ended = run(std::string("recon none.h5 -o w.h5 ") + options);
    EXPECT_EQ(ended.code, 2) << options;
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
  }
}

/// The attenuation of circles is found once, and stands in the recipe.
TEST(FieldOfView, RowsGoOnWithCirclesOfOneAttenuation) {
  const Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --phantom disc --size 150 --bins 48 --rows 3 --views 60").code, 0);
  const std::string recon = "recon scan.h5 --device cpu --overwrite ";
  ASSERT_EQ(run(recon + "-o v.mha --padding circle --json r.json --save-config found.toml").code, 0);
  const auto report = run.json("r.json");
  EXPECT_EQ(report["padding"], "circle");
  EXPECT_EQ(report["padding_bins"], nlohmann::json(nullptr));
  const double found = report["padding_attenuation"];
  EXPECT_NEAR(found, 3.0 / 75, 0.02 * 3 / 75);  // its diameter of 75 bins has the line integral 3
  EXPECT_NE(text_of(run / "found.toml").find("padding = \"circle:attenuation=0.0"), std::string::npos);
  for (const std::string again :
       {"--config found.toml", "--padding circle --slices 1:2", "--padding circle --memory 0.3"}) {
    ASSERT_EQ(run(recon + "-o w.mha --json s.json " + again).code, 0) << again;
    EXPECT_EQ(run.json("s.json")["padding_attenuation"], found) << again;
  }
  ASSERT_EQ(run(recon + "-o w.mha --config found.toml").code, 0);
  EXPECT_EQ(text_of(run / "v.mha"), text_of(run / "w.mha"));
  ASSERT_EQ(run(recon + "-o w.mha --padding circle --binning 2 --json s.json").code, 0);
  EXPECT_NEAR(run.json("s.json")["padding_attenuation"].get<double>(), 2 * found,
              1e-12);  // as pixels are larger
}

/// A sample within the field reads the same, bit for bit.
TEST(FieldOfView, CirclesChangeNothingWhereRowsComeDownToAir) {
  const Program run;
  for (const std::string beam : {"", "--geometry cone --sod 400 --sdd 600 --pixel-size 1.5 "}) {
    ASSERT_EQ(
        run("simulate -o scan.h5 --overwrite --phantom disc --size 48 --rows 3 --views 60 --photons 2000 "
            "--max-attenuation 2 " +
            beam)
            .code,
        0);
    for (const std::string padding : {"cosine", "circle"})
      ASSERT_EQ(
          run("recon scan.h5 --device cpu --overwrite --padding " + padding + " -o " + padding + ".mha").code,
          0);
    EXPECT_EQ(text_of(run / "cosine.mha"), text_of(run / "circle.mha")) << beam;
  }
}

/// Without `--padding` rows go on with circles if a few of them do not come down to air at an end that
/// counts.
TEST(FieldOfView, CirclesAreTheDefaultWhereRowsAreCutOff) {
  const Program run;
  const std::string cone = " --geometry cone --sod 400 --sdd 600 --pixel-size 1.5";
  const auto expect_default = [&](const std::string& scan, const std::string& how,
                                  const std::string& padding) {
    ASSERT_EQ(
        run("simulate -o scan.h5 --overwrite --phantom disc --rows 3 --photons 20000 --max-attenuation 3" +
            scan)
            .code,
        0);
    for (const std::string& given : {std::string(), " --padding " + padding}) {
      const Ended ended = run("recon scan.h5 --device cpu --overwrite --json r.json -o v" +
                              std::string(given.empty() ? "" : "w") + ".mha" + how + given);
      ASSERT_EQ(ended.code, 0) << ended.err;
      EXPECT_EQ(run.json("r.json")["padding"], padding) << scan << how;
    }
    EXPECT_TRUE(text_of(run / "v.mha") == text_of(run / "vw.mha")) << scan << how;
  };
  for (const std::string& beam : {std::string(), cone}) {
    const std::string scan = " --size 150 --bins 64 --views 60" + beam;
    expect_default(scan, "", "circle");
    expect_default(scan, " --memory 0.3 --slices 1:2", "circle");
    expect_default(scan, " --remove-stripe-method sf", "circle");
    expect_default(" --size 70 --bins 64 --views 60" + beam, "", "cosine");
  }
  // the nearer side of a half acquisition is made up for by opposite views
  const std::string half = " --size 80 --bins 48 --axis-bin 12 --views 90 --arc 360";
  expect_default(half, "", "cosine");
  expect_default(half, " --columns 0:32", "circle");
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
