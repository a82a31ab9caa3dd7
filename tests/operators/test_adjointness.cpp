#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "../../operators/adjointness.hpp"
#include "../support/dense.hpp"
#include "../support/operators.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

TEST(Adjointness, HoldsForEverySingleOperator) {
  for (const auto& [name, A] : test::single_operators()) {
    SCOPED_TRACE(name);
    const Adjointness a = adjointness(A);
    EXPECT_LE(a.mismatch, tolerance::mismatch);
    EXPECT_NEAR(a.coupling, 1, tolerance::coupling);
  }
}

TEST(Adjointness, HoldsForEveryComposedOperator) {
  for (const auto& [name, A] : test::composed_operators()) {
    SCOPED_TRACE(name);
    const Adjointness a = adjointness(A);
    EXPECT_LE(a.mismatch, tolerance::composed_mismatch);
    EXPECT_NEAR(a.coupling, 1, tolerance::coupling);
  }
}

TEST(Adjointness, HoldsForEveryConeOperator) {
  for (const auto& [name, A] : test::cone_operators()) {
    SCOPED_TRACE(name);
    const Adjointness a = adjointness(A);
    EXPECT_LE(a.mismatch, tolerance::composed_mismatch);
    EXPECT_NEAR(a.coupling, 1, tolerance::coupling);
  }
}

TEST(Adjointness, IsTheSameInEveryRun) {
  const LinearOperator A = test::single_operators()[1].second;
  const Adjointness a = adjointness(A, 3, 5), b = adjointness(A, 3, 5);
  EXPECT_EQ(a.mismatch, b.mismatch);
  EXPECT_EQ(a.coupling, b.coupling);
  EXPECT_EQ(a.coupling_spread, b.coupling_spread);
}

/// The pair of `tolerance::unmatched_joseph`, with as many equal slices as unit vectors go through at once.
struct KnownPair {
  ParallelBeam scan;
  VolumeGrid grid;
  LinearOperator joseph, pixel_driven;

  explicit KnownPair(Index slices)
      : scan{.detector = {.bins = 95, .rows = slices, .axis_bin = 47}, .angles = test::regular_angles(90)},
        grid(test::grid_of(64, 64, slices)),
        joseph(projector(scan, grid, Model::joseph)),
        pixel_driven(projector(scan, grid, Model::pixel_driven)) {}
};

TEST(UnmatchedPair, OfJosephAndPixelDrivenIsAsFarApartAsKnown) {
  const KnownPair known(64);
  const Eigen::MatrixXd A = test::block_matrix(known.joseph);
  const double distance = (A - test::block_matrix(known.pixel_driven)).norm() / A.norm();
  EXPECT_NEAR(distance, tolerance::unmatched_joseph, tolerance::unmatched_joseph_within);
}

TEST(UnmatchedPair, IsSeenByTheMismatchAndNotByTheCoupling) {
  const KnownPair known(1);
  constexpr int trials = 100;
  const Adjointness a = adjointness(unmatched_pair(known.joseph, adjoint(known.pixel_driven)), trials);
  // three standard deviations of 1 / sqrt(trials) each
  EXPECT_NEAR(a.mismatch / tolerance::unmatched_joseph, 1, 3 / std::sqrt(trials));
  EXPECT_NEAR(a.coupling, 1, 1e-3) << "the coupling sees it after all";
  EXPECT_GT(a.coupling_spread, tolerance::coupling);
}

TEST(PlantedFault, OfOnePerCentIsSeen) {
  const LinearOperator A = projector(test::wobbling_scan(), test::odd_grid());
  const Adjointness a = adjointness(unmatched_pair(A, 1.01f * adjoint(A)));
  EXPECT_NEAR(a.mismatch, 0.01, tolerance::mismatch);
  EXPECT_NEAR(a.coupling, 1 / 1.01, tolerance::coupling);
}

TEST(PlantedFault, OfHalfABinIsSeenByTheMismatchOnly) {
  ParallelBeam scan = test::wobbling_scan();
  const LinearOperator A = projector(scan, test::odd_grid());
  scan.detector.axis_bin += 0.5;
  const LinearOperator shifted = projector(scan, test::odd_grid());
  const LinearOperator wrong = make_operator(
      A.domain(), A.range(),
      [A](ConstVectorView in, VectorView out, Stream& s) { A.apply(1, in, 0, out, s); },
      [shifted](ConstVectorView in, VectorView out, Stream& s) {
        shifted.apply_adjoint(1, ConstVectorView(in.data, shifted.range()), 0, out, s);
      });
  const Adjointness a = adjointness(wrong);
  EXPECT_GT(a.mismatch, 0.3);  // 0.88 at 16 x 16 pixels, 0.67 at 64 x 64
  EXPECT_NEAR(a.coupling, 1, 1e-2);
}

}  // namespace
}  // namespace tandem
