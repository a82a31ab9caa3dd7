#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "../../core/error.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/projector.hpp"
#include "../support/dense.hpp"
#include "../support/property.hpp"
#include "../support/reference.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

constexpr Model models[] = {Model::pixel_driven, Model::joseph};
constexpr Index side_by_side = 19;  // slices that unit vectors fill: batches of 16 and of 3

/// A projector with more slices than the case has: they are all alike.
LinearOperator projector_of(const test::ProjectorCase& c, Model model, Index slices) {
  return projector(test::with_rows(c.scan, slices), test::with_slices(c.grid, slices), model);
}

/// The largest error of a view's coefficients, in units of what is allowed for that view.
double worst_of_bound(const test::ProjectorCase& c, Model model, const Eigen::MatrixXd& error) {
  const ParallelViews packed = pack(c.scan, c.grid, model);
  double worst = 0;
  for (std::size_t v = 0; v < packed.views.size(); ++v) {
    const ParallelView& p = packed.views[v];
    const double bound =
        tolerance::coefficient(static_cast<double>(packed.scale), static_cast<double>(p.height),
                               static_cast<double>(p.slope), std::abs(p.step_x) + std::abs(p.step_y));
    const Index bins = c.scan.detector.bins;
    const double largest = error.middleRows(static_cast<Index>(v) * bins, bins).cwiseAbs().maxCoeff();
    worst = std::max(worst, largest / bound);
  }
  return worst;
}

TEST(Projector, MatchesItsCoefficientsEntryByEntry) {
  for (const test::ProjectorCase& c : test::projector_cases())
    for (Model model : models) {
      SCOPED_TRACE(c.name + (model == Model::joseph ? ", Joseph" : ", pixel-driven"));
      const Eigen::MatrixXd expected = test::reference_matrix(c.scan, c.grid, model);
      for (Index slices : {Index{1}, side_by_side}) {
        if (slices == 1 && expected.cols() > 500) continue;  // too many single applications
        const Eigen::MatrixXd forward = test::block_matrix(projector_of(c, model, slices));
        EXPECT_FALSE(forward.hasNaN());
        EXPECT_LE(worst_of_bound(c, model, forward - expected), 1);
      }
    }
}

TEST(Projector, TransposeMatchesItsCoefficientsEntryByEntry) {
  for (const test::ProjectorCase& c : test::projector_cases())
    for (Model model : models) {
      SCOPED_TRACE(c.name + (model == Model::joseph ? ", Joseph" : ", pixel-driven"));
      const Eigen::MatrixXd expected = test::reference_matrix(c.scan, c.grid, model);
      for (Index slices : {Index{1}, side_by_side}) {
        if (slices == 1 && expected.rows() > 500) continue;
        const Eigen::MatrixXd backward = test::block_matrix(adjoint(projector_of(c, model, slices)));
        EXPECT_FALSE(backward.hasNaN());
        EXPECT_LE(worst_of_bound(c, model, backward.transpose() - expected), 1);
      }
    }
}

TEST(Projector, MatchesItsCoefficientsForAnyScanAndGrid) {
  EXPECT_TRUE(test::holds("coefficients of random scans, both ways", [] {
    const auto within = [](int first, int last) { return *rc::gen::inRange(first, last + 1); };
    test::ProjectorCase c{"random", test::scan_of(within(1, 5), 1, within(1, 23)),
                          test::grid_of(within(1, 19), within(1, 19), 1, 0.01 * within(5, 500))};
    Detector& d = c.scan.detector;
    d.axis_bin = 0.01 * within(static_cast<int>(-100 * d.bins), static_cast<int>(200 * d.bins - 100));
    d.bin_pitch = 0.01 * within(20, 200);
    for (double& angle : c.scan.angles) angle += 0.1 * within(-100, 100);
    if (within(0, 3) == 0) c.scan.angles[0] = within(-4, 4) * std::numbers::pi / 4;
    for (double& centre : c.grid.centre) centre = 0.1 * within(-50, 50);
    const Model model = models[within(0, 1)];
    const Eigen::MatrixXd expected = test::reference_matrix(c.scan, c.grid, model);
    const LinearOperator A = projector_of(c, model, side_by_side);
    RC_ASSERT(worst_of_bound(c, model, test::block_matrix(A) - expected) <= 1);
    RC_ASSERT(worst_of_bound(c, model, test::block_matrix(adjoint(A)).transpose() - expected) <= 1);
  }));
}

TEST(Projector, HasTheSameCoefficientsBothWaysToTheLastBit) {
  for (const test::ProjectorCase& c : test::projector_cases())
    for (Model model : models) {
      SCOPED_TRACE(c.name);
      const LinearOperator A = projector_of(c, model, side_by_side);
      EXPECT_EQ((test::block_matrix(A) - test::block_matrix(adjoint(A)).transpose()).cwiseAbs().maxCoeff(),
                0);
    }
}

TEST(Projector, ScalesWithThePitch) {
  for (Model model : models) {
    const ParallelBeam unit = test::scan_of(11, 3, 29), fine = test::scan_of(11, 3, 29, 0.25);
    const Eigen::MatrixXd in_bins = test::block_matrix(projector(unit, fitting_grid(unit), model));
    const Eigen::MatrixXd in_mm = test::block_matrix(projector(fine, fitting_grid(fine), model));
    EXPECT_EQ((in_bins * 0.25 - in_mm).cwiseAbs().maxCoeff(), 0);  // a power of two: no rounding
  }
}

/// A smooth blob of width 2.5 pixels inside the field of view; at its edges it is below rounding.
Array blobs(const VolumeGrid& grid) {
  Array volume(volume_space(grid));
  const Shape n = grid.shape();
  for (Index z = 0; z < n[0]; ++z)
    for (Index y = 0; y < n[1]; ++y)
      for (Index x = 0; x < n[2]; ++x) {
        const double dx = grid.x(static_cast<double>(x)) - (2 + static_cast<double>(z)) * grid.pitch[0];
        const double dy = grid.y(static_cast<double>(y)) + 3 * grid.pitch[0], width = 2.5 * grid.pitch[0];
        volume.data()[(z * n[1] + y) * n[2] + x] =
            static_cast<float>(std::exp(-0.5 * (dx * dx + dy * dy) / (width * width)));
      }
  return volume;
}

TEST(Projector, ConservesWhatIsInsideTheFieldOfView) {
  for (Model model : models)
    for (double ratio : {0.5, 1.0, 2.3}) {
      const ParallelBeam scan = test::scan_of(23, 3, ratio > 2 ? 131 : 61, 0.7);
      const VolumeGrid grid = test::grid_of(37, 41, 3, 0.7 * ratio);
      const Array volume = blobs(grid), shadow = projector(scan, grid, model) * volume;
      const Eigen::VectorXd x = test::column(volume);
      const Index slice = 37 * 41, bins = scan.detector.bins;
      for (Index z = 0; z < 3; ++z) {
        const double mass = x.segment(z * slice, slice).sum() * grid.pitch[0] * grid.pitch[1];
        for (Index v = 0; v < 23; ++v) {
          double sum = 0;
          for (Index b = 0; b < bins; ++b) sum += static_cast<double>(shadow.data()[(v * 3 + z) * bins + b]);
          const double bound =
              model == Model::joseph ? tolerance::conservation_joseph : tolerance::conservation;
          EXPECT_NEAR(sum * scan.detector.bin_pitch / mass, 1, bound) << ratio << ' ' << v;
        }
      }
    }
}

TEST(Projector, RegionSeesWhatItSeesInTheWhole) {
  const ParallelBeam scan = test::scan_of(11, 2, 43);
  const VolumeGrid whole = test::grid_of(41, 37, 2), part = region(whole, {16, 33}, {7, 20}, {0, 2});
  Random random(3);
  Array inside(volume_space(part)), around(volume_space(whole));
  for (Index z = 0; z < 2; ++z)
    for (Index y = 0; y < 13; ++y)
      for (Index x = 0; x < 17; ++x) {
        const float value = static_cast<float>(random.uniform());
        inside.data()[(z * 13 + y) * 17 + x] = value;
        around.data()[(z * 37 + y + 7) * 41 + x + 16] = value;
      }
  for (Model model : models) {
    const Array a = projector(scan, part, model) * inside, b = projector(scan, whole, model) * around;
    const double largest = test::column(b).maxCoeff();
    EXPECT_LE((test::column(a) - test::column(b)).cwiseAbs().maxCoeff(), tolerance::conservation * largest);
  }
}

TEST(Projector, RefusesAScanAGridOrADeviceThatIsNotPossible) {
  EXPECT_THROW(projector(test::scan_of(5, 3, 11), test::grid_of(7, 7, 2)), GeometryError);
  EXPECT_THROW(projector(test::scan_of(5, 2, 11, -1.0), test::grid_of(7, 7, 2)), GeometryError);
  EXPECT_THROW(projector(test::scan_of(5, 2, 11), test::grid_of(7, 7, 2), Model::joseph, Device::cuda(1000)),
               DeviceError);
}

}  // namespace
}  // namespace tandem
