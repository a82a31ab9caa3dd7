#include "../../solvers/osem.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "../../core/error.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/vector.hpp"
#include "../../solvers/mlem.hpp"
#include "../support/dense.hpp"
#include "../support/operators.hpp"
#include "../support/poisoned_memory.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

static_assert(IterativeSolver<Osem>);

Array positive_array(const Space& space, std::uint64_t seed) {
  Random random(seed);
  return drawn_array(space, [&] { return 0.1f + static_cast<float>(random.uniform()); });
}

/// 13 views of two slices of 5 x 7 pixels, in so many subsets.
struct SmallScan {
  ParallelBeam scan = test::scan_of(13, 2, 17);
  VolumeGrid grid = test::grid_of(5, 7, 2);
  LinearOperator A = projector(scan, grid, Model::joseph);
  Array b = positive_array(A.range(), 1);

  std::vector<std::vector<Index>> views(Index count) const {
    return view_subsets(scan.angles, ParallelBeam::period, count);
  }
  Subsets subsets(Index count) const {
    std::vector<LinearOperator> parts;
    for (const auto& some : views(count))
      parts.push_back(projector(std::get<ParallelBeam>(with_views(scan, some)), grid, Model::joseph));
    return {std::move(parts), views(count)};
  }
  Osem solver(Index count) const { return {subsets(count), b, Array(A.domain())}; }
};

TEST(Osem, IsMlemIfThereIsOneSubset) {
  const SmallScan small;
  Osem osem = small.solver(1);
  Mlem mlem(small.A, small.b, Array(small.A.domain()));
  run(osem, max_iterations(5));
  run(mlem, max_iterations(5));
  EXPECT_LE(test::relative_error(osem.solution(), mlem.solution()), tolerance::solver_steps);
}

/// A step for one subset after the other, in dense double arithmetic. `last`: the matrix of the last subset,
/// and the sum of its data whose rays meet something.
struct ExactStep {
  Eigen::VectorXd x;
  Eigen::MatrixXd last;
  double counts = 0;

  ExactStep(const Subsets& subsets, const Array& sorted, Eigen::VectorXd start) : x(std::move(start)) {
    Index first = 0;
    for (std::size_t i = 0; i < subsets.count(); ++i) {
      last = test::dense(subsets[i]);
      const Eigen::VectorXd b = test::column(sorted).segment(first, last.rows()), means = last * x;
      first += last.rows();
      const Eigen::VectorXd ratio = (means.array() > 0).select(b.cwiseQuotient(means), 0),
                            back = last.transpose() * ratio, sums = last.colwise().sum();
      x = (sums.array() > 0).select(x.cwiseProduct(back.cwiseQuotient(sums)), x);
      counts = (means.array() > 0).select(b, 0).sum();
    }
  }
};

/// The sum of counts is that of the last subset's data.
TEST(Osem, TakesTheStepsOfItsFormula) {
  const SmallScan small;
  for (const Index count : {3, 13}) {
    Osem solver = small.solver(count);
    solver.step({true, true});
    const Subsets subsets = small.subsets(count);
    const ExactStep exact(subsets, subsets.ordered(small.b), Eigen::VectorXd::Ones(small.A.domain().size()));
    const Eigen::VectorXd x = test::column(solver.solution());
    EXPECT_LE((x - exact.x).norm(), tolerance::solver_steps * exact.x.norm()) << count;
    EXPECT_NEAR((exact.last * x).sum(), exact.counts, tolerance::solver_steps * exact.counts) << count;
  }
}

/// In air with noise half of the data are zero, and one subset may make a voxel much less than it was, or
/// zero. The next one divides by that.
TEST(Osem, KeepsTheAccuracyOfEachVoxelWhereDataAreZero) {
  SmallScan small;
  Random random(4);
  for (Index i = 0; i < small.b.size(); ++i)
    if (random.uniform() < 0.5) small.b.data()[i] = random.uniform() < 0.9 ? 0 : 1e-4f;
  for (const Index count : {1, 4, 7}) {
    Osem solver = small.solver(count);
    const Subsets subsets = small.subsets(count);
    Eigen::VectorXd exact = Eigen::VectorXd::Ones(small.A.domain().size());
    for (int k = 0; k < 3; ++k) {
      solver.step({true, true});
      exact = ExactStep(subsets, subsets.ordered(small.b), exact).x;
      const Eigen::VectorXd x = test::column(solver.solution());
      for (Index i = 0; i < x.size(); ++i)
        EXPECT_NEAR(x(i), exact(i), tolerance::solver_steps * exact(i)) << i << ", " << count << ", " << k;
    }
  }
}

TEST(Osem, IsNeverNegativeAndFasterThanMlem) {
  const SmallScan small;
  const Array x = positive_array(small.A.domain(), 5);
  Osem osem(small.subsets(4), small.A * x, Array(small.A.domain()));
  Mlem mlem(small.A, small.A * x, Array(small.A.domain()));
  for (int k = 0; k < 10; ++k) {
    osem.step({true, true});
    mlem.step({true, true});
    ASSERT_GE(test::column(osem.solution()).minCoeff(), 0);
  }
  EXPECT_LT(joint_norm(osem.residual_norms()), 0.5 * joint_norm(mlem.residual_norms()));
}

TEST(Osem, TellsTheResidualOfItsSolution) {
  const SmallScan small;
  Osem solver = small.solver(4);
  run(solver, max_iterations(3));
  const double exact =
      (test::column(small.b) - test::dense(small.A) * test::column(solver.solution())).norm();
  EXPECT_NEAR(joint_norm(solver.residual_norms()), exact, tolerance::small_sum * exact);
}

TEST(Osem, LetsASliceBe) {
  const auto first_slice = [&](int steps_of_first, int steps, float second) {
    SmallScan small;
    for (Index i = 0; i < small.b.size(); ++i)
      if (i / 17 % 2 == 1) small.b.data()[i] *= second;
    Osem solver = small.solver(3);
    for (int k = 0; k < steps; ++k) solver.step({k < steps_of_first, true});
    return Eigen::VectorXd(test::column(solver.solution()).head(35));
  };
  const Eigen::VectorXd alone = first_slice(4, 4, 1);
  EXPECT_EQ(first_slice(4, 9, 3), alone);
  EXPECT_EQ(first_slice(4, 4, 0), alone);
}

TEST(Osem, ReadsNoMemoryThatNobodyHasSet) {
  if (!test::PoisonedMemory::works()) GTEST_SKIP() << "this allocator cannot fill what it gives";
  const SmallScan small;
  const auto solution = [&] {
    Osem solver = small.solver(4);
    run(solver, max_iterations(3));
    return test::column(solver.solution());
  };
  const Eigen::VectorXd clean = solution();
  const test::PoisonedMemory poisoned;
  EXPECT_EQ(solution(), clean);
}

TEST(Osem, RefusesNegativeDataAndVectorsOfAnotherSpace) {
  SmallScan small;
  EXPECT_THROW(Osem(small.subsets(3), Array(small.A.domain()), Array(small.A.domain())), SpaceError);
  small.b.data()[40] = -1e-6f;
  EXPECT_THROW(small.solver(3), GeometryError);
}

}  // namespace
}  // namespace tandem
