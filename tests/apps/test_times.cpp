// Several scans in one file, along an axis of times.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "../io/sample_files.hpp"
#include "program.hpp"
#include "voxels.hpp"

namespace tandem::test {
namespace {

constexpr std::size_t times_here = 11, views_here = 6, rows_here = 2, bins_here = 16;

/// Transmissions exp(-0.01 k) at time k.
void write_times(const fs::path& path) {
  std::vector<double> pixels, degrees;
  for (std::size_t k = 0; k < times_here; ++k)
    pixels.insert(pixels.end(), views_here * rows_here * bins_here, std::exp(-0.01 * static_cast<double>(k)));
  for (std::size_t v = 0; v < views_here; ++v) degrees.push_back(30 * static_cast<double>(v));
  Hdf5Maker(path)
      .numbers("/exchange/data", "f32", {times_here, views_here, rows_here, bins_here}, pixels)
      .numbers("/exchange/data_white", "f32", {1, rows_here, bins_here},
               std::vector<double>(rows_here * bins_here, 1))
      .numbers("/exchange/theta", "f64", {views_here}, degrees);
}

TEST(Times, BecomeAVolumeEach) {
  const Program run;
  write_times(run / "dynamic.h5");
  const Ended all =
      run("recon dynamic.h5 --time all -o 'v_{time}.h5' --save-config '{name}_{time}.toml' --json "
          "'r_{time}.json' "
          "--rotation-axis 7.5");
  ASSERT_EQ(all.code, 0) << all.err;
  for (const char* time : {"00", "03", "10"}) {
    const std::string one =
        std::string("recon dynamic.h5 --rotation-axis 7.5 --overwrite -o w.h5 --time ") + time;
    ASSERT_EQ(run(one).code, 0);
    EXPECT_EQ(voxels(run / "w.h5"), voxels(run / (std::string("v_") + time + ".h5"))) << time;
    ASSERT_EQ(
        run(std::string("recon dynamic.h5 -o w.h5 --overwrite --config dynamic_") + time + ".toml").code, 0);
    EXPECT_EQ(voxels(run / "w.h5"), voxels(run / (std::string("v_") + time + ".h5"))) << time;
  }
  EXPECT_NE(voxels(run / "v_03.h5"), voxels(run / "v_10.h5"));
  EXPECT_FALSE(run.has("v_11.h5"));
  EXPECT_NE(all.out.find("v_10.h5"), std::string::npos) << all.out;  // the table
}

TEST(Times, AreRefusedWhereTheyMakeNoSense) {
  const Program run;
  write_times(run / "dynamic.h5");
  ASSERT_EQ(run("simulate -o scan.h5 --size 16 --views 8").code, 0);
  const auto refused = [&](const std::string& command, int code, const std::string& word) {
    const Ended ended = run(command);
    EXPECT_EQ(ended.code, code) << command << ended.err;
    EXPECT_NE(ended.err.find(word), std::string::npos) << ended.err;
  };
  refused("recon dynamic.h5 --time all -o v.h5", 2, "{time}");
  refused("recon dynamic.h5 -o v.h5", 3, "--time");
  refused("recon dynamic.h5 --time 11 -o v.h5", 3, "--time");
  refused("recon dynamic.h5 --time some -o v.h5", 2, "--time");
  refused("recon scan.h5 --time all -o 'v_{time}.h5'", 3, "has no times");
  refused("recon gone.h5 --time all -o 'v_{time}.h5'", 3, "gone.h5");
  refused("center dynamic.h5 --time all", 2, "goes with recon");
  refused("info dynamic.h5 --time ALL", 2, "goes with recon");
}

}  // namespace
}  // namespace tandem::test
