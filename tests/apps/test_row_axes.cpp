// An axis for each row, from a file.

#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include "../../io/scans/scan_reader.hpp"
#include "../io/sample_files.hpp"
#include "program.hpp"

namespace tandem::test {
namespace {

constexpr std::size_t bins_here = 40, rows_here = 5, views_here = 60;

/// The scan with row r moved by r - 2 bins to the right.
void write_moved(const fs::path& from, const fs::path& to) {
  const auto reader = io::open_scan(from);
  const Index views = views_here, rows = rows_here, bins = bins_here;
  const io::Frames frames = reader->read(io::FrameKind::projection, {0, views}, {0, rows}, {0, bins});
  const auto* y = reinterpret_cast<const float*>(frames.bytes.data());
  std::vector<double> moved, degrees;
  for (Index v = 0; v < views; ++v) {
    degrees.push_back(180 * static_cast<double>(v) / static_cast<double>(views));
    for (Index r = 0; r < rows; ++r)
      for (Index b = 0; b < bins; ++b) {
        const Index at = b - (r - 2);
        moved.push_back(at < 0 || at >= bins ? 1 : y[(v * rows + r) * bins + at]);  // air
      }
  }
  Hdf5Maker(to)
      .numbers("/exchange/data", "f32", {views_here, rows_here, bins_here}, moved)
      .numbers("/exchange/data_white", "f32", {1, rows_here, bins_here},
               std::vector<double>(rows_here * bins_here, 1))
      .numbers("/exchange/theta", "f64", {views_here}, degrees);
}

TEST(RowAxes, ComeFromAFile) {
  const Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --phantom disc --size 30 --bins 40 --rows 5 --views 60 --axis-bin 19 "
                "--truth truth.h5")
                .code,
            0);
  write_moved(run / "scan.h5", run / "moved.h5");
  std::ofstream(run / "axes.txt") << "# of rows 0 to 4\n17\n18\n19\n20\n21\n";
  std::ofstream(run / "few.txt") << "17\n18\n";
  std::ofstream(run / "words.txt") << "left\n";
  const auto psnr = [&](const std::string& scan, const std::string& more = "") {
    const Ended ended =
        run("recon " + scan + " -o v.h5 --overwrite --size 30 --truth truth.h5 --json r.json " + more);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_TRUE(run.json("r.json")["warnings"].empty()) << run.json("r.json")["warnings"];
    return run.json("r.json")["quality"]["psnr_db"].get<double>();
  };
  const double straight = psnr("scan.h5");
  EXPECT_NEAR(psnr("moved.h5 --row-axes axes.txt --save-config c.toml"), straight, 0.05);
  EXPECT_EQ(run.json("r.json")["geometry"]["axis_bin"], 19);
  EXPECT_NEAR(psnr("moved.h5 --config c.toml"), straight, 0.05);
  EXPECT_LT(psnr("moved.h5 --rotation-axis 19"), straight - 1);
  EXPECT_NEAR(psnr("moved.h5 --row-axes axes.txt", "--reconstruction-algorithm cgls --iterations 10"),
              psnr("scan.h5", "--reconstruction-algorithm cgls --iterations 10"), 0.3);
  EXPECT_EQ(run("recon moved.h5 -o part.h5 --row-axes axes.txt --detector-rows 1:4").code, 0);
  const auto refused = [&](const std::string& options, int code, const std::string& word) {
    const Ended ended = run("recon moved.h5 -o w.h5 " + options);
    EXPECT_EQ(ended.code, code) << options << ended.err;
    EXPECT_NE(ended.err.find(word), std::string::npos) << ended.err;
  };
  refused("--row-axes few.txt", 4, "2 axes for 5 rows");
  refused("--row-axes words.txt", 3, "line 1");
  refused("--row-axes gone.txt", 3, "gone.txt");
  refused("--row-axes axes.txt --rotation-axis 19", 2, "--rotation-axis");
  refused("--row-axes axes.txt --rotation-axis auto", 2, "--rotation-axis");
  refused("--row-axes axes.txt --detector-roll 0.3", 2, "--detector-roll");
  refused("--row-axes axes.txt --sod 90 --sdd 200 --pixel-size 1", 4, "parallel beam");
}

}  // namespace
}  // namespace tandem::test
