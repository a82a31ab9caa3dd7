// A long sample goes on above and below the detector, or beyond the rows that are selected.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../../core/units.hpp"
#include "../../geometry/phantom.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"
#include "../support/tolerances.hpp"

namespace tandem::pipeline {
namespace {

using test::reconstructed;

constexpr Index bins = 48, rows = 32, views = 72, n = bins;
constexpr double tilt_deg = 2;

/// A disc off the axis, which every row sees alike, at cone angles of up to 9 degrees.
Simulation long_sample(bool of_air = false) {
  Simulation s;
  s.phantom = of_air ? "ellipsoids" : "disc";
  s.scan = ConeBeam{
      {bins, rows, 0.8, 0.8, 23.8}, test::regular_angles(views, whole_turn), 45, 80, 0.5 * (rows - 1)};
  s.grid = fitting_grid(s.scan);
  if (of_air) s.grid.size = {20, 20, rows};  // the ball falls on the middle rows alone
  return s;
}

class LongSample : public ::testing::Test {
 protected:
  LongSample() : made_(long_sample()) { test::write_scan(path_, made_); }

  /// As if the axis leaned.
  void tilt() {
    const Scan& scan = made_.simulation().scan;
    const FlexibleBeam leaning = as_free_views(scan, OffCircle{.tilt = in_radians(tilt_deg)});
    test::write_scan(path_, made_, [&](io::Frames& frames) {
      auto* y = reinterpret_cast<float*>(frames.bytes.data());
      project(made_.phantom(), leaning, {0, rows}, {y, static_cast<std::size_t>(views * rows * bins)}, 2);
      std::transform(y, y + views * rows * bins, y, [](float line) { return std::exp(-line); });
    });
    recipe_.steps["axis-tilt"] = tilt_deg;
  }

  std::vector<float> volume(Outcome* outcome = nullptr, Index at_once = 0) {
    return reconstructed(path_, recipe_, at_once, outcome);
  }

  /// The largest relative error of the mean of a ring of a slice, inside 0.8 of the radius of the disc.
  double worst_ring(const std::vector<float>& x, Index slice) const {
    const Ellipsoid& disc = made_.phantom().ellipsoids[0];
    const VolumeGrid& grid = made_.simulation().grid;
    double sums[8] = {}, counts[8] = {}, worst = 0;
    for (Index i = 0; i < n * n; ++i) {
      const double r = std::hypot(grid.x(static_cast<double>(i % n)) - disc.centre[0],
                                  grid.y(static_cast<double>(i / n)) - disc.centre[1]) /
                       disc.semi_axes[0];
      if (r >= 0.8) continue;
      const auto ring = static_cast<std::size_t>(10 * r);
      sums[ring] += static_cast<double>(x[static_cast<std::size_t>(slice * n * n + i)]), ++counts[ring];
    }
    for (int k = 0; k < 8; ++k) worst = std::max(worst, std::abs(sums[k] / counts[k] / disc.attenuation - 1));
    return worst;
  }

  test::TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "scan.h5";
  const SimulatedScan made_;
  Recipe recipe_;
};

TEST_F(LongSample, IsFlatToTheLastSliceByFdk) {
  for (const Model model : {Model::separable_footprint, Model::hierarchical}) {
    recipe_.model = model;
    for (const Index at_once : {0, 5, 1}) {
      const std::vector<float> x = volume(nullptr, at_once);
      for (const Index slice : {0, 3, 15, 31})
        EXPECT_LE(worst_ring(x, slice), tolerance::long_cylinder) << slice << ", " << at_once << " at once";
    }
  }
}

TEST_F(LongSample, IsFlatToTheLastSliceOfATiltedAxis) {
  tilt();
  const std::vector<float> x = volume();
  for (const Index slice : {0, 31}) EXPECT_LE(worst_ring(x, slice), tolerance::long_cylinder) << slice;
}

/// The slices that some views do not see whole are named, if the sample is there.
TEST_F(LongSample, IsSaidToGoOn) {
  Outcome outcome;
  volume(&outcome);
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_NE(outcome.warnings[0].find("the outermost rows see the sample"), std::string::npos);
  EXPECT_NE(outcome.warnings[0].find("slices 0:4 and 28:32, of the outermost one from 0 mm"),
            std::string::npos)
      << outcome.warnings[0];

  recipe_.slices = rows;  // as many, of which the inner ones are asked for
  recipe_.region_z = Range{6, 26};
  volume(&outcome);
  EXPECT_TRUE(outcome.warnings.empty());

  test::write_scan(path_, SimulatedScan(long_sample(true)));
  recipe_ = {};
  volume(&outcome);
  EXPECT_TRUE(outcome.warnings.empty()) << outcome.warnings[0];
}

/// A solver reads the rows that rays of the selected slices need, too.
TEST_F(LongSample, IsFlatInSelectedRowsBySolvers) {
  recipe_.method = "cgls";
  recipe_.iterations = 20;
  recipe_.rows = Range{11, 21};
  for (const bool leans : {false, true}) {
    if (leans) tilt();
    const std::vector<float> x = volume();
    ASSERT_EQ(std::ssize(x), 10 * n * n);
    for (const Index slice : {0, 5, 9})
      EXPECT_LE(worst_ring(x, slice), tolerance::solved_cylinder) << slice << (leans ? ", tilted" : "");
  }
}

}  // namespace
}  // namespace tandem::pipeline
