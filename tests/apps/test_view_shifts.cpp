// Shifts of views from the command line.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "../../io/scans/scan_reader.hpp"
#include "../io/sample_files.hpp"
#include "program.hpp"
#include "voxels.hpp"

namespace tandem::test {
namespace {

TEST(ViewShiftOption, TakesOneNumberPerView) {
  const Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --size 24 --views 20 --truth truth.h5").code, 0);
  std::ofstream(run / "none.txt") << "# still\n"
                                  << [] {
                                       std::string zeros;
                                       for (int v = 0; v < 20; ++v) zeros += "0\n";
                                       return zeros;
                                     }();
  std::ofstream(run / "one.txt") << [] {
    std::string ones;
    for (int v = 0; v < 20; ++v) ones += "1.0\n";
    return ones;
  }();
  std::ofstream(run / "words.txt") << "far\n";
  std::ofstream(run / "few.txt") << "0\n0.5\n";
  std::ofstream(run / "far.txt") << "99\n";
  const auto psnr = [&](const std::string& options) {
    const Ended ended =
        run("recon scan.h5 -o v.h5 --overwrite --device cpu --truth truth.h5 --json r.json " + options);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return run.json("r.json")["quality"]["psnr_db"].get<double>();
  };
  const double still = psnr("");
  EXPECT_FALSE(run.json("r.json")["geometry"]["view_shifts"]);
  EXPECT_EQ(psnr("--view-shifts none.txt"), still);
  EXPECT_TRUE(run.json("r.json")["geometry"]["view_shifts"]);
  EXPECT_LT(psnr("--view-shifts one.txt"), still - 1);
  EXPECT_EQ(psnr("--view-shifts one.txt --rotation-axis 10.5"), still);  // bin 10.5 of 0:24, moved back
  const auto refused = [&](const std::string& command, int code, const std::string& word) {
    const Ended ended = run(command);
    EXPECT_EQ(ended.code, code) << command;
    EXPECT_NE(ended.err.find(word), std::string::npos) << ended.err;
  };
  refused("recon scan.h5 -o w.h5 --view-shifts few.txt", 3, "2 shifts for 20 views");
  refused("recon scan.h5 -o w.h5 --view-shifts gone.txt", 3, "gone.txt");
  refused("recon scan.h5 -o w.h5 --view-shifts words.txt", 3, "one shift per line, in bins");
  refused("recon scan.h5 -o w.h5 --view-shifts one.txt --rotation-axis auto", 4, "--view-shifts");
  refused("center scan.h5 --view-shifts one.txt", 4, "--sweep");
  refused("recon scan.h5 -o w.h5 --view-shifts one.txt --sod 100 --sdd 200 --pixel-size 1", 4, "cone beam");
  EXPECT_EQ(run("recon scan.h5 --view-shifts one.txt --sweep rotation-axis=10:11:0.5 --json c.json").code, 0);
  EXPECT_EQ(run.json("c.json")["trials"].size(), 3u);
}

/// Writes the scan with its rows moved by whole rows in each view, as a stage makes them that goes up and
/// down. Rows from outside the detector repeat the outer ones.
void write_moved(const fs::path& from, const fs::path& to, const std::vector<int>& by, bool recorded) {
  const auto reader = io::open_scan(from);
  const Scan& scan = reader->info().scan;
  const Index views = views_of(scan);
  const Index rows = detector_of(scan).rows, bins = detector_of(scan).bins;
  const auto read = [&](io::FrameKind kind, Index count) {
    const io::Frames frames = reader->read(kind, {0, count}, {0, rows}, {0, bins});
    const auto* y = reinterpret_cast<const float*>(frames.bytes.data());
    return std::vector<double>(y, y + count * rows * bins);
  };
  const std::vector<double> still = read(io::FrameKind::projection, views);
  std::vector<double> moved, degrees;
  for (Index v = 0; v < views; ++v) {
    degrees.push_back(180 * static_cast<double>(v) / static_cast<double>(views));
    for (Index r = 0; r < rows; ++r) {
      const Index row = std::clamp<Index>(r - by[static_cast<std::size_t>(v)], 0, rows - 1);
      const auto at = still.begin() + (v * rows + row) * bins;
      moved.insert(moved.end(), at, at + bins);
    }
  }
  const auto count = [](Index n) { return static_cast<unsigned long long>(n); };
  Hdf5Maker file(to);
  file.numbers("/exchange/data", "f32", {count(views), count(rows), count(bins)}, moved)
      .numbers("/exchange/data_white", "f32", {1, count(rows), count(bins)}, read(io::FrameKind::flat, 1))
      .numbers("/exchange/theta", "f64", {count(views)}, degrees)
      .numbers("/measurement/instrument/tandem/axis_bin", "f64", {}, {detector_of(scan).axis_bin});
  if (recorded) file.numbers("/exchange/data_shift_y", "f64", {count(views)}, {by.begin(), by.end()});
}

/// Whole rows are not interpolated: they have the same bits, away from the ends, in all chunks, as the file
/// records them and as a text file says them.
TEST(ViewRowShifts, AreTakenAway) {
  const Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --phantom ellipsoids --size 24 --rows 13 --views 20").code, 0);
  std::vector<int> by;
  std::ofstream lines(run / "rows.txt");
  for (int v = 0; v < 20; ++v) by.push_back(v * 7 % 5 - 2), lines << by.back() << '\n';
  lines.close();
  write_moved(run / "scan.h5", run / "recorded.h5", by, true);
  write_moved(run / "scan.h5", run / "moved.h5", by, false);
  const auto slices = [&](const std::string& scan, Index first, Index last) {
    const Ended ended = run("recon " + scan + " -o v.h5 --overwrite --device cpu --json r.json");
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(run.json("r.json")["geometry"]["row_shifts"],
              scan.find("rows.txt") < scan.size() || scan == "recorded.h5");
    const std::vector<float> all = voxels(run / "v.h5");
    return std::vector<float>(all.begin() + first * 24 * 24, all.begin() + last * 24 * 24);
  };
  const std::vector<float> still = slices("scan.h5", 2, 11);
  EXPECT_EQ(slices("recorded.h5", 2, 11), still);
  EXPECT_EQ(slices("moved.h5 --view-row-shifts rows.txt", 2, 11), still);
  EXPECT_NE(slices("moved.h5", 2, 11), still);
  EXPECT_EQ(slices("moved.h5 --view-row-shifts rows.txt --slices 2:11", 0, 9), still);
  EXPECT_NE(run("recon recorded.h5 -o v.h5 --overwrite").err.find("data_shift_y is taken away"),
            std::string::npos);
  EXPECT_EQ(run("center moved.h5 --view-row-shifts rows.txt").code, 0);
  std::ofstream(run / "few.txt") << "0\n1\n";
  std::ofstream(run / "far.txt") << [] {
    std::string far;
    for (int v = 0; v < 20; ++v) far += "13\n";
    return far;
  }();
  const auto refused = [&](const std::string& command, int code, const std::string& word) {
    const Ended ended = run(command);
    EXPECT_EQ(ended.code, code) << command;
    EXPECT_NE(ended.err.find(word), std::string::npos) << ended.err;
  };
  refused("recon moved.h5 -o w.h5 --view-row-shifts few.txt", 3, "2 shifts for 20 views");
  refused("recon moved.h5 -o w.h5 --view-row-shifts far.txt", 4, "13 rows");
  refused("recon moved.h5 -o w.h5 --view-row-shifts rows.txt --sod 9 --sdd 20 --pixel-size 1", 4,
          "cone beam");
  const std::string discrepancy =
      "recon moved.h5 -o w.h5 --view-row-shifts rows.txt --stop discrepancy --reconstruction-algorithm cgls";
  refused(discrepancy + " --resample-frames", 4, "discrepancy");
  EXPECT_EQ(
      run("recon moved.h5 -o w.h5 --view-row-shifts rows.txt --reconstruction-algorithm cgls --iterations "
          "2 --json r.json")
          .code,
      0);
  EXPECT_EQ(run.json("r.json")["geometry"]["stands_by"], "views");
  refused("recon moved.h5 -o rows.txt.h5 --follow --view-row-shifts rows.txt", 2, "--view-row-shifts");
}

}  // namespace
}  // namespace tandem::test
