// tandem project: units of length, and rows with axes of their own.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "../../io/scans/scan_reader.hpp"
#include "../../io/scans/scan_writer.hpp"
#include "../support/tolerances.hpp"
#include "program.hpp"

namespace tandem::test {
namespace {

constexpr const char* disc = "--phantom disc --size 48 --views 60 --rows 3 ";

/// Line integrals (view, row, bin) of a file with transmissions.
std::vector<double> lines_of(const std::filesystem::path& path) {
  const auto reader = io::open_scan(path);
  const io::ScanInfo& info = reader->info();
  const Index views = views_of(info.scan);
  const io::Frames frames = reader->read(io::FrameKind::projection, {0, views},
                                         {0, detector_of(info.scan).rows}, {0, detector_of(info.scan).bins});
  std::vector<double> lines;
  for (std::size_t i = 0; i < frames.bytes.size(); i += sizeof(float)) {
    float transmission = 0;
    std::memcpy(&transmission, frames.bytes.data() + i, sizeof transmission);
    lines.push_back(-std::log(transmission));
  }
  return lines;
}

/// |a - b| / |a|
double distance(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    norm += a[i] * a[i];
  }
  return std::sqrt(difference / norm);
}

double sum_of(const std::vector<double>& lines, std::size_t first, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += lines[first + i];
  return sum;
}

/// The centroid of one row of one view, in bins.
double centroid(const std::vector<double>& lines, std::size_t first, std::size_t bins) {
  double moment = 0;
  for (std::size_t bin = 0; bin < bins; ++bin) moment += static_cast<double>(bin) * lines[first + bin];
  return moment / sum_of(lines, first, bins);
}

nlohmann::json info_of(const Program& run, const std::string& name) {
  return nlohmann::json::parse(run("info " + name + " --json -").out);
}

/// The disc's edge crosses pixels: its projections differ from the exact ones by about this, whatever the
/// unit.
constexpr double discretised = 0.03;

class Project : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(run(std::string("simulate -o mm.h5 --truth mm_truth.h5 --pixel-size 0.25 ") + disc).code, 0);
    ASSERT_EQ(run(std::string("simulate -o pixel.h5 --truth pixel_truth.h5 ") + disc).code, 0);
  }
  /// The line integrals are the same in both units: `simulate` scales to the largest.
  void projects(const std::string& volume, const std::string& options, const nlohmann::json& pixel_size) {
    const Ended ended = run("project " + volume + " -o out.h5 " + options);
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(info_of(run, "out.h5")["geometry"]["pixel_size_mm"], pixel_size);
    EXPECT_LE(distance(lines_of(run / "mm.h5"), lines_of(run / "out.h5")), discretised);
  }
  Program run;
};

TEST_F(Project, InTheUnitOfTheVolume) {
  projects("mm_truth.h5", "--views 60", 0.25);
  projects("pixel_truth.h5", "--views 60", nullptr);
}

TEST_F(Project, LikeAScanInAnotherUnit) {
  projects("mm_truth.h5", "--like mm.h5", 0.25);
  projects("pixel_truth.h5", "--like pixel.h5", nullptr);
  projects("pixel_truth.h5", "--like mm.h5", nullptr);
  projects("mm_truth.h5", "--like pixel.h5", 0.25);
}

TEST_F(Project, LikeAScanWhoseAnglesAreGiven) {
  const std::string like = "mm_truth.h5 -o out.h5 --overwrite --like mm.h5:/exchange/data ";
  EXPECT_EQ(run("project " + like).code, 3);
  for (const char* angles : {"--angles mm.h5:/exchange/theta", "--arc 180"}) {
    const Ended ended = run("project " + like + angles);
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_LE(distance(lines_of(run / "mm.h5"), lines_of(run / "out.h5")), discretised);
  }
  EXPECT_EQ(run("project " + like + "--angles mm.h5:/exchange/theta --arc 180").code, 2);
}

TEST_F(Project, OnADetectorOfAnotherPitch) {
  ASSERT_EQ(run("project mm_truth.h5 -o fine.h5 --views 4 --bins 96 --pixel-size 0.125").code, 0);
  // the area under a view is that of the body; the peaks are not kept, as voxels are wider than bins
  EXPECT_NEAR(0.125 * sum_of(lines_of(run / "fine.h5"), 0, 96), 0.25 * sum_of(lines_of(run / "mm.h5"), 0, 48),
              0.01 * 0.25 * sum_of(lines_of(run / "mm.h5"), 0, 48));
  EXPECT_EQ(info_of(run, "fine.h5")["geometry"]["pixel_size_mm"], 0.125);
}

TEST_F(Project, PutsRowsWhereTheScanRecordsThem) {
  const std::vector<double> axes{21.5, 23.5, 26};
  {
    const auto reader = io::open_scan(run / "pixel.h5");
    auto scan = std::get<ParallelBeam>(reader->info().scan);
    scan.row_axis_bins = axes;
    io::ScanWriter writer({run / "wavy.h5", io::Content::scan}, scan, std::nullopt, io::PixelType::float32, 0,
                          0);
    io::Frames frames = reader->read(io::FrameKind::projection, {0, 60}, {0, 3}, {0, 48});
    writer.write(io::FrameKind::projection, {0, 3}, frames);
    writer.finish("{}");
  }
  ASSERT_EQ(run("project pixel_truth.h5 -o out.h5 --like wavy.h5").code, 0);
  EXPECT_EQ(std::get<ParallelBeam>(io::open_scan(run / "out.h5")->info().scan).row_axis_bins, axes);
  const std::vector<double> lines = lines_of(run / "out.h5");
  const std::vector<double> straight = lines_of(run / "pixel.h5");
  for (std::size_t row = 0; row < 3; ++row)
    EXPECT_NEAR(centroid(lines, 48 * row, 48) - centroid(straight, 48 * row, 48), axes[row] - 23.5, 0.05)
        << row;
  ASSERT_EQ(run("recon out.h5 -o v.h5 --truth pixel_truth.h5 --json r.json").code, 0);
  EXPECT_GT(run.json("r.json")["quality"]["psnr_db"], 20);
}

/// A fan that saw the ends of its voxels would miss some of a body that is farther away than the axis.
TEST(FanProject, SeesABodyWholeFromEverySide) {
  Program run;
  const std::string fan = " --geometry cone --sod 60 --sdd 90 --pixel-size 0.5 --bins 72 --views 20 ";
  ASSERT_EQ(run("simulate -o exact.h5 --truth truth.h5 --phantom disc --size 60" + fan).code, 0);
  ASSERT_EQ(run("project truth.h5 -o made.h5" + fan).code, 0);
  const std::vector<double> exact = lines_of(run / "exact.h5"), made = lines_of(run / "made.h5");
  // the disc has a radius of 15 bins, and pi / 2 times its peak and radius of area
  const double sampled = tolerance::half_ellipse_sum * std::pow(15, -1.5) * 2 / std::numbers::pi;
  for (std::size_t view = 0; view < 20; ++view)
    EXPECT_NEAR(sum_of(made, 72 * view, 72) / sum_of(exact, 72 * view, 72), 1, sampled) << view;
}

/// Rows are moved by 18 bins from the common axis, where the detector has fewer bins than the volume is wide:
/// as if each row were projected about its own axis.
TEST_F(Project, KeepsWhatRowsSeeWhoseAxesDifferMuch) {
  const std::vector<double> axes{5.5, 23.5, 41.5};
  ASSERT_EQ(run("simulate -o wide.h5 --truth wide_truth.h5 --size 80 --bins 48 --rows 3 --views 20").code, 0);
  const auto like = [&](const std::string& name, double axis, const std::vector<double>& rows) {
    auto scan = std::get<ParallelBeam>(io::open_scan(run / "wide.h5")->info().scan);
    scan.detector.axis_bin = axis, scan.row_axis_bins = rows;
    io::ScanWriter writer({run / name, io::Content::scan}, scan, std::nullopt, io::PixelType::float32, 0, 0);
    writer.write(io::FrameKind::projection, {0, 3},
                 io::open_scan(run / "wide.h5")->read(io::FrameKind::projection, {0, 20}, {0, 3}, {0, 48}));
    writer.finish("{}");
    EXPECT_EQ(run("project wide_truth.h5 -o of_" + name + " --like " + name).code, 0);
    return lines_of(run / ("of_" + name));
  };
  const std::vector<double> together = like("together.h5", 23.5, axes);
  for (std::size_t row = 0; row < 3; ++row) {
    const std::vector<double> alone = like("alone_" + std::to_string(row) + ".h5", axes[row], {});
    for (std::size_t i = 48 * row; i < alone.size(); i += 3 * 48)
      for (std::size_t bin = 0; bin < 48; ++bin)
        ASSERT_NEAR(together[i + bin], alone[i + bin], 1e-4 * 3) << row << ", bin " << bin;
  }
}

}  // namespace
}  // namespace tandem::test
