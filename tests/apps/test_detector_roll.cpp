// A rolled detector: rows levelled, an axis for each row, and the roll found from opposite views.

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../core/units.hpp"
#include "../../geometry/phantom.hpp"
#include "../../io/scans/memory_scan.hpp"
#include "../support/reconstructions.hpp"
#include "../support/scans.hpp"
#include "program.hpp"

namespace tandem {
namespace {

constexpr Index bins = 161, rows = 61, views = 120;
constexpr double axis = 83.4;

/// Balls within a cylinder, so that no two rows are alike.
Phantom body() {
  Phantom all{{{0.01, {60, 60, INFINITY}, {0, 0, 0}, 0}}};
  Random random(2);
  for (int k = 0; k < 60; ++k) {
    const double at = 6.2831853 * random.uniform(), far = 45 * std::sqrt(random.uniform()),
                 size = 3 + 6 * random.uniform();
    all.ellipsoids.push_back(
        {0.02, {size, size, size}, {far * std::cos(at), far * std::sin(at), 90 * random.uniform() - 45}, 0});
  }
  return all;
}

/// Line integrals as a detector sees them that is rolled about the axis in its middle row.
void write_rolled(const std::filesystem::path& path, double degrees, double arc) {
  const double roll = in_radians(degrees), c = std::cos(roll), s = std::sin(roll);
  const ParallelBeam scan{{bins, rows, 1, 1, axis}, test::regular_angles(views, arc), {}};
  const Phantom phantom = body();
  io::Frames frames{io::PixelType::float32, {views, rows, bins}, {}};
  frames.bytes.resize(static_cast<std::size_t>(views * rows * bins) * sizeof(float));
  auto* y = reinterpret_cast<float*>(frames.bytes.data());
  parallel_for(views, [&](Index v) {
    for (Index r = 0; r < rows; ++r)
      for (Index b = 0; b < bins; ++b) {
        const double u = static_cast<double>(b) - axis, w = static_cast<double>(r) - 0.5 * (rows - 1);
        const double line =
            line_integral(phantom, scan.angles[static_cast<std::size_t>(v)], u * c - w * s, u * s + w * c);
        y[(v * rows + r) * bins + b] = static_cast<float>(std::exp(-line));
      }
  });
  io::ScanWriter writer({path, io::Content::scan}, scan, {}, io::PixelType::float32, 1, 1);
  writer.write(io::FrameKind::projection, {0, rows}, frames);
  for (const io::FrameKind kind : {io::FrameKind::flat, io::FrameKind::dark}) {
    io::Frames one{io::PixelType::float32, {1, rows, bins}, {}};
    one.bytes.resize(static_cast<std::size_t>(rows * bins) * sizeof(float));
    std::fill_n(reinterpret_cast<float*>(one.bytes.data()), rows * bins,
                kind == io::FrameKind::flat ? 1.0f : 0.0f);
    writer.write(kind, {0, rows}, one);
  }
  writer.finish("{}");
}

/// The slices that have all their rows.
std::vector<float> slices_of(const std::filesystem::path& path, const pipeline::StepValues& steps) {
  pipeline::Recipe recipe;
  recipe.steps = steps;
  recipe.axis_bin = axis;
  recipe.fbp_filter.window = Window::hann;
  const std::vector<float> x = test::reconstructed(path, recipe);
  const Index first = 10 * bins * bins, last = (rows - 10) * bins * bins;
  return {x.begin() + first, x.begin() + last};
}

/// The blur between two rows is left, which is the same for every roll.
TEST(DetectorRoll, IsTakenAwayInTheGeometry) {
  const test::TemporaryFolder folder;
  write_rolled(folder / "level.h5", 0, half_turn);
  const std::vector<float> level = slices_of(folder / "level.h5", {});
  for (const double degrees : {1.0, -1.5}) {
    write_rolled(folder / "rolled.h5", degrees, half_turn);
    const auto error = [&](const pipeline::StepValues& steps) {
      return test::relative_error(slices_of(folder / "rolled.h5", steps), level);
    };
    const double left = error({}), taken = error({{"detector-roll", degrees}}),
                 wrong = error({{"detector-roll", -degrees}});
    std::cout << degrees << " degrees: beside a level detector " << taken << ", left " << left
              << ", wrong sign " << wrong << '\n';
    EXPECT_LE(taken, 0.5 * left);
    EXPECT_GE(wrong, 1.5 * left);
  }
}

TEST(DetectorRoll, DoesNotDependOnChunks) {
  const test::TemporaryFolder folder;
  write_rolled(folder / "rolled.h5", 1, half_turn);
  pipeline::Recipe recipe;
  recipe.steps = {{"detector-roll", 1.0}};
  recipe.axis_bin = axis;
  const std::vector<float> all = test::reconstructed(folder / "rolled.h5", recipe);
  EXPECT_TRUE(test::same_bits(all, test::reconstructed(folder / "rolled.h5", recipe, 7)));
  recipe.rows = Range{0, rows};
  recipe.region_z = Range{20, 31};
  const std::vector<float> some = test::reconstructed(folder / "rolled.h5", recipe);
  EXPECT_TRUE(test::same_bits(some, {all.begin() + 20 * bins * bins, all.begin() + 31 * bins * bins}));
}

TEST(DetectorRoll, IsFoundFromOppositeViews) {
  for (const auto& [degrees, arc] :
       {std::pair{0.5, whole_turn}, {-1.2, whole_turn}, {0.0, whole_turn}, {0.5, half_turn}}) {
    const test::Program run;
    write_rolled(run / "scan.h5", degrees, arc);
    const test::Ended ended = run("center scan.h5 --roll --json r.json");
    ASSERT_EQ(ended.code, 0) << ended.err;
    const auto report = run.json("r.json");
    std::cout << degrees << " degrees: " << report["detector_roll_deg"] << " +- "
              << report["detector_roll_uncertainty_deg"] << ", axis " << report["axis_bin"] << " +- "
              << report["uncertainty"] << ", " << report["method"] << '\n';
    EXPECT_NEAR(report["detector_roll_deg"], degrees, 0.05);
    EXPECT_LE(report["detector_roll_uncertainty_deg"], 0.05 / 3);
    EXPECT_NEAR(report["axis_bin"], axis, 0.3);
    EXPECT_NE(ended.out.find("roll      "), std::string::npos) << ended.out;
  }
}

TEST(DetectorRoll, IsRefusedWhereItSaysNothing) {
  const test::Program run;
  ASSERT_EQ(run("simulate -o one.h5 --size 24 --rows 1 --views 20").code, 0);
  ASSERT_EQ(run("simulate -o cone.h5 --geometry cone --sod 40 --sdd 60 --pixel-size 0.3 --size 24 --rows 8 "
                "--views 20")
                .code,
            0);
  const auto refused = [&](const std::string& command, int code, const std::string& word) {
    const test::Ended ended = run(command);
    EXPECT_EQ(ended.code, code) << command << ": " << ended.err;
    EXPECT_NE(ended.err.find(word), std::string::npos) << ended.err;
  };
  refused("recon one.h5 -o v.h5 --detector-roll 0.5", 4, "one row");
  refused("recon one.h5 -o v.h5 --axis-tilt 0.5", 4, "one row");
  EXPECT_EQ(run("recon cone.h5 -o part.h5 --detector-roll 0.5 --detector-rows 3:4").code, 0)
      << "the rows beside are read";
  ASSERT_EQ(run("simulate -o rows.h5 --size 24 --rows 4 --views 20").code, 0);
  refused("recon rows.h5 -o v.h5 --axis-tilt 0.5", 4, "cone beam");
  refused("recon none.h5 -o v.h5 --detector-roll 3", 2, "--detector-roll");
  refused("center one.h5 --roll", 4, "3 are needed");
  refused("center cone.h5 --roll", 4, "parallel beam");
  refused("center cone.h5 --detector-roll 0.5", 4, "not searched");
  refused("recon cone.h5 -o v.h5 --axis-tilt 0.5 --rotation-axis auto", 4, "not searched");
  EXPECT_EQ(run("recon one.h5 -o v.h5 --detector-roll 0 --axis-tilt 0").code, 0);
  EXPECT_EQ(run("recon cone.h5 -o c.h5 --detector-roll 0.5 --axis-tilt 0.5").code, 0);
}

}  // namespace
}  // namespace tandem
