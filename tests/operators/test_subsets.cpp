#include <gtest/gtest.h>

#include "../../core/error.hpp"
#include "../support/operators.hpp"
#include "../support/subsets.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

/// Each part against the rows of the whole operator that belong to it.
template <class Beam>
void expect_parts_of_the_whole(const Beam& scan, const VolumeGrid& grid, Index count) {
  const LinearOperator A = projector(scan, grid);
  const Subsets subsets = test::subsets_of(scan, grid, count);
  const Array x = test::random_array(A.domain(), 3), y = A * x;
  const Array whole = LinearOperator(subsets) * x, sorted = subsets.ordered(y);
  EXPECT_TRUE(test::same_bits(whole, sorted)) << Beam::kind << ' ' << count;
  const Array data = test::random_array(A.range(), 4);
  const Array back = adjoint(LinearOperator(subsets)) * subsets.ordered(data);
  EXPECT_LE(test::relative_error(back, adjoint(A) * data), tolerance::tiles) << Beam::kind << ' ' << count;
}

TEST(Subsets, AreTheWholeInAnotherOrderForEachKindOfBeam) {
  for (const Index count : {1, 4, 13}) {
    ParallelBeam shifted = test::scan_of(13, 3, 17);
    shifted.view_shift_bins = std::vector<double>(13);
    for (std::size_t k = 0; k < 13; ++k) shifted.view_shift_bins[k] = 0.1 * static_cast<double>(k);
    expect_parts_of_the_whole(shifted, test::grid_of(11, 13, 3), count);
    expect_parts_of_the_whole(test::far_cone(13, 5, 17), test::box(9, 11, 3, 0.7), count);
    expect_parts_of_the_whole(FanBeam{test::far_cone(13, 1, 17)}, test::box(9, 11, 1, 0.7), count);
  }
}

TEST(Subsets, DataOfASubsetLieTogether) {
  const ParallelBeam scan = test::scan_of(7, 2, 5);
  const Subsets subsets = test::subsets_of(scan, test::grid_of(3, 3, 2), 3);
  Array y(projection_space(scan));
  for (Index i = 0; i < y.size(); ++i) y.data()[i] = static_cast<float>(i / 10);  // the view
  Array sorted = subsets.ordered(y);
  const auto views = view_subsets(scan.angles, half_turn, 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const VectorView part = subsets.part(VectorView(sorted), i);
    ASSERT_EQ(part.space.shape()[0], subsets.views(i));
    for (Index k = 0; k < part.space.size(); ++k)
      EXPECT_EQ(part.data[k], static_cast<float>(views[i][static_cast<std::size_t>(k / 10)]));
  }
}

TEST(Subsets, AreWeighedInTheOrderOfTheScan) {
  const ParallelBeam scan = test::scan_of(13, 3, 17);
  const VolumeGrid grid = test::grid_of(11, 13, 3);
  const Subsets subsets = test::subsets_of(scan, grid, 4);
  const Array x = test::random_array(subsets.domain(), 3), w = test::random_array(projection_space(scan), 5);
  const Array weighed = LinearOperator(subsets.weighed(w)) * x;
  Array wanted = projector(scan, grid) * x;
  for (Index k = 0; k < wanted.size(); ++k) wanted.data()[k] *= w.data()[k];
  EXPECT_TRUE(test::same_bits(weighed, subsets.ordered(wanted)));
}

TEST(Subsets, RefuseViewsThatAreNotThereTwiceOrElsewhere) {
  const VolumeGrid grid = test::grid_of(3, 3, 2);
  const ParallelBeam scan = test::scan_of(2, 2, 5);
  const LinearOperator A = projector(scan, grid), other = projector(test::scan_of(2, 2, 6), grid);
  EXPECT_NO_THROW(Subsets({A, A}, {{0, 2}, {1, 3}}));
  EXPECT_THROW(Subsets({}, {}), SpaceError);
  EXPECT_THROW(Subsets({A}, {{0, 1}, {2}}), SpaceError);
  EXPECT_THROW(Subsets({A}, {{0}}), SpaceError);
  EXPECT_THROW(Subsets({A, A}, {{0, 1}, {1, 2}}), SpaceError);
  EXPECT_THROW(Subsets({A, A}, {{0, 1}, {2, 4}}), SpaceError);
  EXPECT_THROW(Subsets({A, other}, {{0, 1}, {2, 3}}), SpaceError);
  EXPECT_THROW(Subsets({A}, {{0, 1}}).ordered(Array(other.range())), SpaceError);
}

}  // namespace
}  // namespace tandem
