// Flats of several sets, methods and monitors, from the command line.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "../../io/volumes/volume_file.hpp"
#include "../io/sample_files.hpp"
#include "program.hpp"

namespace tandem::test {
namespace {

constexpr unsigned long long rows_here = 4, bins_here = 16, views_here = 12;

/// A scan of nothing but air, in a beam that falls from one set of flats to the other: frames are dark, two
/// flats, the views, two flats. `beam_at`: where the entry says what the beam was. The file is packed, so
/// that several chunks are of one reading.
void write_air(const fs::path& path, const std::string& beam_at = {}) {
  const std::string entry = "/entry", detector = entry + "/instrument/detector";
  std::vector<double> keys{2, 1, 1}, angles, pixels, beam;
  for (std::size_t v = 0; v < views_here; ++v) keys.push_back(0);
  keys.insert(keys.end(), {1, 1});
  for (std::size_t f = 0; f < keys.size(); ++f) {
    beam.push_back(1000 - 20 * static_cast<double>(f));
    angles.push_back(15 * static_cast<double>(f));
    for (std::size_t i = 0; i < rows_here * bins_here; ++i)
      pixels.push_back(keys[f] == 2 ? 10 : 10 + beam[f] * (1 + 0.01 * static_cast<double>(i % 7)));
  }
  Hdf5Maker file(path);
  file.text(entry + "/definition", "NXtomo")
      .numbers(detector + "/data", "f32", {keys.size(), rows_here, bins_here}, pixels,
               {1, rows_here, bins_here}, true)
      .numbers(detector + "/image_key", "i32", {keys.size()}, keys)
      .numbers(entry + "/sample/rotation_angle", "f64", {keys.size()}, angles);
  if (!beam_at.empty()) file.numbers(entry + beam_at, "f64", {keys.size()}, beam);
}

double largest(const fs::path& volume) {
  io::VolumeReader reader(volume);
  const Shape n = reader.shape();
  std::vector<float> all(static_cast<std::size_t>(n[0] * n[1] * n[2]));
  reader.read({0, n[0]}, all.data());
  double most = 0;
  for (const float v : all) most = std::max(most, std::abs(double{v}));
  return most;
}

TEST(References, OfSeveralSetsAreInterpolatedByDefault) {
  Program run;
  write_air(run / "scan.nxs");
  const Ended info = run("info scan.nxs --json i.json");
  EXPECT_NE(info.out.find("flats     4 in 2 sets, darks 1"), std::string::npos) << info.out;
  EXPECT_EQ(run.json("i.json")["flat_sets"], 2);
  const auto seen = [&](const std::string& options) {
    const Ended ended = run("recon scan.nxs -o v.h5 --overwrite --json r.json " + options);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return largest(run / "v.h5");
  };
  EXPECT_LT(seen(""), 1e-6);
  EXPECT_EQ(run.json("r.json")["references"], nlohmann::json({{"flats", 4},
                                                              {"darks", 1},
                                                              {"flat_method", "mean"},
                                                              {"dark_method", "mean"},
                                                              {"flat_sets", 2},
                                                              {"between_sets", "linear"},
                                                              {"monitor", false},
                                                              {"exposures", false}}));
  EXPECT_LT(seen("--flat-sets linear --flat-method median --dark-method trimmed"), 1e-6);
  EXPECT_EQ(run.json("r.json")["references"]["flat_method"], "median");
  EXPECT_GT(seen("--flat-sets together"), 1e-3);
  EXPECT_GT(seen("--flat-sets NEAREST"), 1e-3);
  EXPECT_LT(seen("--flat-loc 0,12"), 1e-2);  // before the first and behind the last view: almost right
}

TEST(References, AreDividedByTheMonitorIfAsked) {
  Program run;
  write_air(run / "scan.nxs", "/control/data");
  EXPECT_NE(run("info scan.nxs").out.find("monitor"), std::string::npos);
  const auto recon = [&](const std::string& options) {
    const Ended ended = run("recon scan.nxs -o v.h5 --overwrite --json r.json " + options);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return largest(run / "v.h5");
  };
  EXPECT_LT(recon("--normalize-monitor true --flat-sets together"), 1e-6);
  EXPECT_LT(recon("--normalize-monitor true"), 1e-6);
  EXPECT_EQ(run.json("r.json")["references"]["monitor"], true);
}

TEST(References, DoNotDependOnChunks) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --size 24 --rows 7 --views 30 --photons 500 --flats 6").code, 0);
  const auto volume = [&](const std::string& options) {
    const Ended ended = run("recon scan.h5 -o v.h5 --overwrite --flat-loc 0,30 --dezinger 3 " + options);
    EXPECT_EQ(ended.code, 0) << ended.err;
    io::VolumeReader reader(run / "v.h5");
    const Shape n = reader.shape();
    std::vector<float> all(static_cast<std::size_t>(n[0] * n[1] * n[2]));
    reader.read({0, n[0]}, all.data());
    return all;
  };
  const std::vector<float> whole = volume("");
  const std::vector<float> some = volume("--detector-rows 2:5");
  const std::size_t slice = whole.size() / 7;
  EXPECT_TRUE(std::equal(some.begin(), some.end(), whole.begin() + static_cast<std::ptrdiff_t>(2 * slice)));
}

/// Air whose views and flats were exposed for different times has no attenuation.
TEST(References, AreDividedByTimesOfExposure) {
  Program run;
  write_air(run / "scan.nxs", "/instrument/detector/count_time");
  const Ended ended = run("recon scan.nxs -o v.h5 --json r.json --flat-sets together");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_LT(largest(run / "v.h5"), 1e-6);
  EXPECT_EQ(run.json("r.json")["references"]["exposures"], true);
}

/// A beam that jumps from view to view, with a flat for each view.
TEST(References, MayBeOneForEachView) {
  Program run;
  std::vector<double> views, flats, angles;
  for (std::size_t v = 0; v < views_here; ++v) {
    angles.push_back(15 * static_cast<double>(v));
    for (std::size_t i = 0; i < rows_here * bins_here; ++i)
      for (std::vector<double>* frames : {&views, &flats})
        frames->push_back(100 * (1 + static_cast<double>(v * 5 % 7)) *
                          (1 + 0.01 * static_cast<double>(i % 7)));
  }
  const std::vector<unsigned long long> extents{views_here, rows_here, bins_here};
  Hdf5Maker(run / "scan.h5")
      .numbers("/exchange/data", "f32", extents, views)
      .numbers("/exchange/data_white", "f32", extents, flats)
      .numbers("/exchange/theta", "f64", {views_here}, angles);
  const auto seen = [&](const std::string& options) {
    const Ended ended = run("recon scan.h5 -o v.h5 --overwrite --rotation-axis 7.5 --json r.json " + options);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return largest(run / "v.h5");
  };
  EXPECT_LT(seen("--flat-sets each"), 1e-6);
  EXPECT_EQ(run.json("r.json")["references"]["between_sets"], "each");
  EXPECT_LT(seen("--flat-sets each --views 1::5"), 1e-6);
  EXPECT_LT(seen("--flat-sets each --views 3:9 --binning 2"), 1e-6);
  EXPECT_GT(seen(""), 1e-2);
  EXPECT_NE(run("info scan.h5").out.find("--flat-sets each"), std::string::npos);
}

/// The beam leans to one side by another share in each view.
TEST(References, OfAirOnBothSidesAreALine) {
  Program run;
  std::vector<double> views, angles;
  for (std::size_t v = 0; v < views_here; ++v) {
    angles.push_back(15 * static_cast<double>(v));
    for (std::size_t i = 0; i < rows_here * bins_here; ++i)
      views.push_back(1000 * (1 + 0.003 * static_cast<double>(v) * static_cast<double>(i % bins_here)));
  }
  Hdf5Maker(run / "scan.h5")
      .numbers("/exchange/data", "f32", {views_here, rows_here, bins_here}, views)
      .numbers("/exchange/theta", "f64", {views_here}, angles);
  const auto seen = [&](const std::string& options) {
    const Ended ended = run("recon scan.h5 -o v.h5 --overwrite --rotation-axis 7.5 " + options);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return largest(run / "v.h5");
  };
  EXPECT_LT(seen("--air-columns 0:3,14:16 --save-config c.toml"), 1e-6);
  EXPECT_LT(seen("--config c.toml"), 1e-6);
  EXPECT_GT(seen("--air-columns 0:3"), 1e-3);
  EXPECT_EQ(run("recon scan.h5 -o w.h5 --air-columns 0:3,14:17").code, 4);
  EXPECT_EQ(run("recon scan.h5 -o w.h5 --air-columns 0:3,2:4").code, 4);
  for (const char* wrong : {"0:3,", "0:3,4:5,6:7", ",", "0:3;4:5"})
    EXPECT_EQ(run(std::string("recon scan.h5 -o w.h5 --air-columns '") + wrong + "'").code, 2) << wrong;
}

TEST(References, ThatCannotBeHadAreRefusedInOneLine) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --size 16 --views 20 --photons 500 --flats 5").code, 0);
  const auto refused = [&](const std::string& options, int code, const std::string& word) {
    const Ended ended = run("recon scan.h5 -o v.h5 " + options);
    EXPECT_EQ(ended.code, code) << options << ended.err;
    EXPECT_NE(ended.err.find(word), std::string::npos) << ended.err;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
    EXPECT_FALSE(run.has("v.h5"));
  };
  refused("--flat-sets linear", 3, "--flat-loc");
  refused("--flat-sets nearest", 3, "--flat-loc");
  refused("--flat-sets each", 3, "5 flats for 20 views");
  refused("--flat-loc 0,20", 3, "2 views for 5 flats");
  refused("--flat-loc 0,x", 2, "--flat-loc");
  refused("--normalize-monitor true", 3, "control/data");
  refused("--flat-method mode", 2, "mean, median, trimmed");
}

}  // namespace
}  // namespace tandem::test
