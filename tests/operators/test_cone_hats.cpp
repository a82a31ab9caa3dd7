// Joseph's projector and voxel-driven back-projection of a cone beam: their coefficients entry by entry, and
// the unmatched pair that they make.

#include <gtest/gtest.h>

#include "../../core/error.hpp"
#include "../../operators/adjointness.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/random.hpp"
#include "../support/cone_scans.hpp"
#include "../support/dense.hpp"
#include "../support/tolerances.hpp"

namespace tandem::test {
namespace {

constexpr Model models[] = {Model::joseph, Model::pixel_driven};

struct ConeCase {
  std::string name;
  ConeBeam scan;
  VolumeGrid grid;
};

/// Voxels of a quarter of a cell to three of them, a fan beam, a single view, a detector that cuts the body,
/// a region off the axis, views along the axes and diagonals.
std::vector<ConeCase> cone_cases() {
  std::vector<ConeCase> cases;
  for (const double pitch : {0.25, 1.0, 3.0})
    cases.push_back({"voxels of " + std::to_string(pitch),
                     odd_cone(3, 7, 11),
                     {{8, 9, 5}, {pitch, pitch, 0.8 * pitch}, {0.3, -0.2, 0.1}}});
  cases.push_back({"fan", odd_cone(5, 1, 13), {{7, 6, 1}, {1, 1, 1}, {}}});
  cases.push_back({"one view", odd_cone(1, 5, 5), {{8, 9, 5}, {1, 1, 2.5}, {}}});
  cases.push_back(
      {"region", odd_cone(3, 9, 17), region({{31, 29, 13}, {1, 1, 1}, {}}, {17, 25}, {2, 9}, {6, 11})});
  ConeBeam straight = odd_cone(8, 5, 9);
  for (std::size_t k = 0; k < 8; ++k) straight.angles[k] = static_cast<double>(k) * half_turn / 4;
  cases.push_back({"eighths of a turn", straight, {{7, 8, 5}, {1, 1, 1}, {}}});
  straight.detector.axis_bin = 4, straight.midplane_row = 2;
  cases.push_back({"rays through voxels", straight, {{7, 7, 5}, {1, 1, 1}, {}}});
  return cases;
}

TEST(ConeHats, EntriesAreTheirFormulasBothWays) {
  for (const ConeCase& c : cone_cases())
    for (const Model model : models) {
      SCOPED_TRACE(c.name + (model == Model::joseph ? ", Joseph" : ", pixel-driven"));
      const Eigen::MatrixXd expected = model == Model::joseph ? cone_joseph_matrix(c.scan, c.grid)
                                                              : cone_pixel_driven_matrix(c.scan, c.grid);
      const LinearOperator A = projector(c.scan, c.grid, model);
      const Eigen::MatrixXd forward = dense(A), back = dense(adjoint(A)).transpose();
      const double largest = expected.maxCoeff();
      EXPECT_GT(largest, 0);
      EXPECT_LE((forward - expected).cwiseAbs().maxCoeff(), tolerance::cone_coefficient * largest);
      EXPECT_LE((back - expected).cwiseAbs().maxCoeff(), tolerance::cone_coefficient * largest);
      EXPECT_LE((forward - back).cwiseAbs().maxCoeff(), tolerance::entries * largest);
      EXPECT_TRUE(((forward.array() == 0) == (back.array() == 0)).all()) << "support";
    }
}

/// beta = 0 never reads the output (dense starts from NaN), any other adds to it.
TEST(ConeHats, AddToTheOutput) {
  const ConeCase c = cone_cases()[1];
  for (const Model model : models)
    for (const bool back : {false, true}) {
      LinearOperator A = projector(c.scan, c.grid, model);
      if (back) A = adjoint(A);
      Random random(1);
      const Array x = uniform_array(A.domain(), random), truth = A * x;
      Array y = truth.clone();
      A.apply(2, x, -1, y, default_stream(Device::cpu()));  // 2 A x - A x
      EXPECT_LE((column(y) - column(truth)).norm(), tolerance::axpby * column(truth).norm());
    }
}

/// J/VD of Georgin et al. 2019: kappa hardly sees that they differ, mu does.
TEST(ConeHats, JosephAndPixelDrivenAreNoPair) {
  const ConeBeam scan = odd_cone(17, 11, 19);
  const VolumeGrid grid{{9, 8, 7}, {0.5, 0.5, 0.6}, {}};
  const Eigen::MatrixXd joseph = cone_joseph_matrix(scan, grid),
                        pixel_driven = cone_pixel_driven_matrix(scan, grid);
  const double expected = (joseph - pixel_driven).norm() / joseph.norm();
  const int trials = 64;
  const Adjointness a = adjointness(unmatched_pair(projector(scan, grid, Model::joseph),
                                                   adjoint(projector(scan, grid, Model::pixel_driven))),
                                    trials);
  RecordProperty("mismatch", std::to_string(a.mismatch));
  EXPECT_GT(a.mismatch, tolerance::unmatched);
  EXPECT_NEAR(a.mismatch, expected, tolerance::deviations * expected / std::sqrt(2.0 * trials));
  EXPECT_NEAR(a.coupling, 1, tolerance::unmatched_coupling);
}

TEST(ConeHats, ParallelBeamsHaveNoSeparableFootprint) {
  EXPECT_THROW(projector(scan_of(5, 1, 11), grid_of(7, 7, 1), Model::separable_footprint), GeometryError);
}

/// Neighbours of the outermost voxels must be on the detector's side of the source too.
TEST(ConeHats, SourcesWithinReachAreRefused) {
  const VolumeGrid grid{{9, 9, 3}, {1, 1, 1}, {}};
  ConeBeam scan = odd_cone(3, 5, 7);
  scan.sod = 6.7;  // voxels reach 6.4 from the axis, their neighbours 7.1
  EXPECT_NO_THROW(projector(scan, grid));
  for (const Model model : models) EXPECT_THROW(projector(scan, grid, model), GeometryError);
}

}  // namespace
}  // namespace tandem::test
