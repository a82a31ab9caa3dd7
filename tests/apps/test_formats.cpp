// Scans of all formats as a user gives them: one command, and the options that turn them or leave views out.

#include <gtest/gtest.h>

#include <algorithm>

#include "../../io/volumes/volume_file.hpp"
#include "../io/sample_files.hpp"
#include "program.hpp"

namespace tandem::test {

namespace {

std::vector<float> voxels(const std::filesystem::path& path) {
  io::VolumeReader reader(path);
  const Shape n = reader.shape();
  std::vector<float> all(static_cast<std::size_t>(n[0] * n[1] * n[2]));
  reader.read({0, n[0]}, all.data());
  return all;
}

void expect_refusal(const Ended& ended, int code, const std::string& words) {
  EXPECT_EQ(ended.code, code) << ended.err;
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  EXPECT_NE(ended.err.find(words), std::string::npos) << ended.err;
}

}  // namespace

TEST(Formats, ScannedFolderNeedsNoNumbers) {
  Program run;
  std::filesystem::create_directory(run / "scan");
  for (int k = 0; k < 9; ++k)
    write_edf(run / ("scan/s_" + std::to_string(k) + ".edf"), {frames(static_cast<std::size_t>(k) + 4, 1)});
  write_edf(run / "scan/refHST0000.edf", {std::vector<double>(15, 400)});
  write_edf(run / "scan/dark.edf", {std::vector<double>(15, 1)});
  write_lines(run / "scan/s_.info",
              {"ScanRange= 180", "TOMO_N= 9", "PixelSize= 7.5", "Energy= 19.5", "Distance= 50"});
  const Ended info = run("info scan");
  EXPECT_EQ(info.code, 0) << info.err;
  for (const char* said : {"EDF stack with ESRF settings", "9 views x 3 rows x 5 bins, uint16",
                           "parallel beam", "flats     1, darks 1", "pixel     0.0075 mm",
                           "energy    19.5 keV", "distance  50 mm from sample to detector"})
    EXPECT_NE(info.out.find(said), std::string::npos) << said << info.out;
  EXPECT_EQ(run("recon scan -o v.h5").code, 0);
  const Ended named = run("recon scan/s_.info -o w.h5");
  EXPECT_EQ(named.code, 0) << named.err;
  EXPECT_EQ(voxels(run / "v.h5"), voxels(run / "w.h5"));
  expect_refusal(run("recon scan/s_.info -o scan/s_.info --overwrite"), 2, "s_.info");
  expect_refusal(run("recon scan/s_.info -o scan/v.tif"), 2, "would overwrite");
}

TEST(Formats, ViewStepIsAScanOfFewerViews) {
  Program run;
  std::vector<double> all, half, all_angles, half_angles;
  for (std::size_t view = 0; view < 40; ++view) {
    const std::vector<double> frame = frames(view + 4, 1);
    all.insert(all.end(), frame.begin(), frame.end());
    all_angles.push_back(4.5 * static_cast<double>(view));
    if (view % 2 != 0) continue;
    half.insert(half.end(), frame.begin(), frame.end());
    half_angles.push_back(all_angles.back());
  }
  const auto write = [&](const std::string& name, const std::vector<double>& data,
                         const std::vector<double>& angles) {
    Hdf5Maker(run / name)
        .numbers("/exchange/data", "u16", {angles.size(), rows, bins}, data)
        .numbers("/exchange/data_white", "u16", {1, rows, bins}, std::vector<double>(15, 2000))
        .numbers("/exchange/theta", "f64", {angles.size()}, angles);
  };
  write("all.h5", all, all_angles);
  write("half.h5", half, half_angles);
  ASSERT_EQ(run("recon all.h5 -o step.h5 --views ::2").code, 0);
  ASSERT_EQ(run("recon half.h5 -o half_volume.h5").code, 0);
  EXPECT_EQ(voxels(run / "step.h5"), voxels(run / "half_volume.h5"));
  ASSERT_EQ(run("recon all.h5 -o some.h5 --views 5:24:3 --json some.json").code, 0);
  EXPECT_EQ(run.json("some.json")["geometry"]["views"], 7);  // 5, 8, ..., 23
  expect_refusal(run("recon all.h5 -o v.h5 --views :41:3"), 4, "empty or outside 0:40");
  expect_refusal(run("recon all.h5 -o v.h5 --views ::0"), 2, "--views");
  expect_refusal(run("recon all.h5 -o v.h5 --follow --views ::2 --rotation-axis 11.5"), 2, "--views");
}

TEST(Formats, OrientTurnsImagesBack) {
  Program run;
  ASSERT_EQ(run("simulate --size 24 --rows 3 --views 30 --axis-bin 10.25 -o a.h5").code, 0);
  ASSERT_EQ(run("recon a.h5 -o a_volume.h5 --rotation-axis 10.25").code, 0);
  ASSERT_EQ(
      run("recon a.h5 -o b.h5 --rotation-axis 10.25 --orient flip-rows,flip-columns,flip-rows,Flip-Columns")
          .code,
      0);
  EXPECT_EQ(voxels(run / "a_volume.h5"), voxels(run / "b.h5"));
  ASSERT_EQ(run("info a.h5 --orient flip-columns --json i.json").code, 0);
  EXPECT_EQ(run.json("i.json")["geometry"]["axis_bin"], 12.75);
  expect_refusal(run("info a.h5 --orient flip"), 2, "--orient 'flip' is not a list of transpose");
  expect_refusal(run("info a.h5 --time 0"), 3, "a.h5: has no times; leave out --time");
  expect_refusal(run("info a.h5 --time -1"), 2, "--time");
}

}  // namespace tandem::test
