// Derivatives of A x by the views, against central differences in double and against the pair in float.

#include "../../operators/view_derivative.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "../../core/error.hpp"
#include "../../core/random.hpp"
#include "../../operators/adjointness.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/projector.hpp"
#include "../support/flexible_scans.hpp"
#include "../support/operators.hpp"
#include "../support/tolerances.hpp"

namespace tandem::test {
namespace {

/// Voxels that are higher than wide, bricks that are not whole, a grid aside.
const VolumeGrid grid{{9, 7, 10}, {0.9, 0.9, 1.3}, {0.4, -0.3, 0.2}};

FlexibleBeam views_about_it(bool parallel) {
  Random random(parallel ? 4 : 5);
  FlexibleBeam scan = random_views(3, 15, 17, 9, random, parallel);
  scan.leaning = true;  // the pair for any geometry
  return scan;
}

std::vector<double> random_numbers(Index count, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> all(static_cast<std::size_t>(count));
  for (double& number : all) number = random.uniform() - 0.3;
  return all;
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

/// The 12 numbers of a view.
std::array<double*, 12> numbers_of(FlexibleView& view) {
  std::array<double*, 12> all{};
  std::size_t k = 0;
  for (Vector3* vector : {&view.source, &view.detector, &view.bin_step, &view.row_step})
    for (double& number : *vector) all[k++] = &number;
  return all;
}

class ViewDerivative : public testing::TestWithParam<bool> {
 protected:
  FlexibleBeam scan = views_about_it(GetParam());
  Index voxels = cone_volume_space(grid).size(), cells = projection_space(scan).size();
  std::vector<double> x = random_numbers(voxels, 1), y = random_numbers(cells, 2);
};

/// In float, places have about 2^-17 of a cell (17 cells, 24 bits, and some roundings), as coefficients do
/// then.
TEST_P(ViewDerivative, IsOfTheCoefficientsOfThePair) {
  const LinearOperator A = projector(scan, grid);
  Array volume(A.domain());
  for (Index k = 0; k < voxels; ++k) volume.data()[k] = static_cast<float>(x[static_cast<std::size_t>(k)]);
  const Array wanted = A * volume;
  const std::vector<double> found = project_in_double(scan, grid, x);
  double most = 0;
  for (const double value : found) most = std::max(most, std::abs(value));
  for (Index k = 0; k < cells; ++k)
    ASSERT_NEAR(found[static_cast<std::size_t>(k)], static_cast<double>(wanted.data()[k]), 2e-5 * most) << k;
}

TEST_P(ViewDerivative, HasATransposeInDouble) {
  const double there = product(y, project_in_double(scan, grid, x)),
               back = product(back_project_in_double(scan, grid, y), x);
  EXPECT_NEAR(there, back, 1e-12 * std::abs(there));  // some thousand roundings of 1e-16
}

/// Central differences err by a part of step^2, and by a part of the step where a cell passes the corner of a
/// trapezoid within it; rounding adds 1e-16 / step.
TEST_P(ViewDerivative, IsThatOfCentralDifferences) {
  constexpr double step = 1e-6;
  const std::vector<FlexibleView> gradient = gradient_by_views(scan, grid, x, y);
  for (std::size_t v = 0; v < scan.views.size(); ++v) {
    FlexibleView by = gradient[v];
    const auto found = numbers_of(by);
    for (std::size_t k = 0; k < 12; ++k) {
      const auto at = [&](double change) {
        FlexibleBeam there = scan;
        *numbers_of(there.views[v])[k] += change;
        return product(y, project_in_double(there, grid, x));
      };
      const double wanted = (at(step) - at(-step)) / (2 * step);
      EXPECT_NEAR(*found[k], wanted, 1e-5 * std::abs(wanted) + 1e-6) << "view " << v << ", number " << k;
    }
  }
}

TEST_P(ViewDerivative, IsAnOperatorWithItsAdjoint) {
  Array volume(cone_volume_space(grid));
  for (Index k = 0; k < voxels; ++k) volume.data()[k] = static_cast<float>(x[static_cast<std::size_t>(k)]);
  const LinearOperator J = view_derivative(scan, grid, volume);
  EXPECT_EQ(J.domain().shape(), (Shape{3, 4, 3}));
  EXPECT_LT(adjointness(J, 4).mismatch, tolerance::mismatch);
  Array changes(J.domain());
  changes.data()[4] = 1;  // the y of the first view's detector
  const Array change = J * changes;
  double sum = 0;
  for (Index k = 0; k < cells; ++k)
    sum += static_cast<double>(change.data()[k]) * y[static_cast<std::size_t>(k)];
  const double wanted = gradient_by_views(scan, grid, x, y).front().detector[1];
  EXPECT_NEAR(sum, wanted, 1e-5 * std::abs(wanted) + 1e-5);  // x and the change were rounded to float
}

INSTANTIATE_TEST_SUITE_P(Beams, ViewDerivative, testing::Bool(),
                         [](const auto& each) { return each.param ? "parallel" : "cone"; });

/// Where edges of voxels cast no shadow along rows, trapezoids are boxes with flanks of a thousandth.
TEST(ViewDerivativeOfLevelViews, MovesABoxOverItsCells) {
  const FlexibleBeam scan = standing(1, 5, 5, 1, 2, {}, true);
  const VolumeGrid voxel{{1, 1, 1}, {0.2, 0.2, 1}, {0, 0, 0.25}};
  const FlexibleBeam flat = flexible_beam(5, 5, scan.views, true);
  const std::vector<double> seen = project_in_double(flat, voxel, std::vector<double>{1});
  std::vector<double> above(25), here(25);
  above[3 * 5 + 2] = 1, here[2 * 5 + 2] = 1;
  EXPECT_NEAR(seen[3 * 5 + 2] / seen[2 * 5 + 2], 1.0 / 3, 1e-9);  // the voxel covers 3/4 of a row and 1/4
  const double whole = seen[3 * 5 + 2] + seen[2 * 5 + 2];
  // a detector that rises by d sees d of the voxel less in the upper row
  EXPECT_NEAR(gradient_by_views(flat, voxel, std::vector<double>{1}, above)[0].detector[2], -whole, 1e-9);
  EXPECT_NEAR(gradient_by_views(flat, voxel, std::vector<double>{1}, here)[0].detector[2], whole, 1e-9);
}

TEST(ViewDerivatives, AreRefusedInOneLineWhereThereAreNone) {
  FlexibleBeam scan = views_about_it(false);
  const std::vector<double> x(630), few(7);
  EXPECT_THROW(project_in_double(scan, grid, few), SpaceError);
  for (FlexibleView& view : scan.views) view = standing(1, 15, 17, 40, 70, {}).views.front();
  scan.curved = true;
  EXPECT_THROW(project_in_double(scan, grid, x), GeometryError);
}

}  // namespace
}  // namespace tandem::test
