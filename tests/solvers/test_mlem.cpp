#include "../../solvers/mlem.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "../../core/error.hpp"
#include "../../operators/gradient.hpp"
#include "../../operators/projector.hpp"
#include "../support/dense.hpp"
#include "../support/operators.hpp"
#include "../support/poisoned_memory.hpp"
#include "../support/property.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

static_assert(IterativeSolver<Mlem>);

Array positive_array(const Space& space, std::uint64_t seed) {
  Random random(seed);
  return drawn_array(space, [&] { return 0.1f + static_cast<float>(random.uniform()); });
}

/// 13 views of two slices of 5 x 7 pixels.
struct SmallScan {
  LinearOperator A = projector(test::scan_of(13, 2, 17), test::grid_of(5, 7, 2), Model::joseph);
};

TEST(Mlem, TakesTheStepOfItsFormula) {
  const SmallScan small;
  const Array b = positive_array(small.A.range(), 1), x0 = positive_array(small.A.domain(), 2);
  Mlem solver(small.A, b, x0.clone());
  solver.step({true, true});
  const Eigen::MatrixXd a = test::dense(small.A);
  const Eigen::VectorXd x = test::column(x0), means = a * x;
  Eigen::VectorXd ratio = test::column(b).cwiseQuotient(means);
  for (Index i = 0; i < ratio.size(); ++i)
    if (means(i) == 0) ratio(i) = 0;
  const Eigen::VectorXd sums = a.colwise().sum();
  const Eigen::VectorXd expected = x.cwiseProduct(a.transpose() * ratio).cwiseQuotient(sums);
  EXPECT_LE((test::column(solver.solution()) - expected).cwiseAbs().maxCoeff(),
            tolerance::small_sum * expected.maxCoeff());
  const Eigen::VectorXd residual = test::column(b) - a * expected;
  EXPECT_NEAR(std::hypot(solver.residual_norms()[0], solver.residual_norms()[1]), residual.norm(),
              tolerance::small_sum * residual.norm());
}

/// A matrix from 0 on with some columns of zeros, data with some zeros.
struct RandomCounts {
  Eigen::MatrixXf matrix;
  LinearOperator A;
  Array b, x0;

  static RandomCounts draw() {
    const Index rows = *rc::gen::inRange<Index>(1, 14), columns = *rc::gen::inRange<Index>(1, 14);
    std::srand(*rc::gen::arbitrary<unsigned>());
    Eigen::MatrixXf matrix = Eigen::MatrixXf::Random(rows, columns).cwiseMax(0);
    matrix.col(std::rand() % columns).setZero();
    const LinearOperator A = test::MatrixOperator{matrix};
    Array b = positive_array(A.range(), *rc::gen::arbitrary<std::uint64_t>());
    b.data()[std::rand() % rows] = 0;
    return {matrix, A, std::move(b), positive_array(A.domain(), 3)};
  }
  /// The counts of the rays that meet a voxel.
  double counts() const {
    double sum = 0;
    for (Index i = 0; i < b.size(); ++i)
      if (matrix.row(i).maxCoeff() > 0) sum += static_cast<double>(b.data()[i]);
    return sum;
  }
  double counts_of(const Array& x) const { return (matrix.cast<double>() * test::column(x)).sum(); }
  /// Kullback and Leibler's distance of Ax from b, less what does not depend on x.
  double distance(const Array& x) const {
    const Eigen::VectorXd means = matrix.cast<double>() * test::column(x);
    double sum = 0;
    for (Index i = 0; i < b.size(); ++i) {
      const auto count = static_cast<double>(b.data()[i]);
      if (means(i) > 0) sum += means(i) - (count > 0 ? count * std::log(means(i)) : 0);
    }
    return sum;
  }
};

TEST(Mlem, KeepsTheSumOfCountsAndIsNeverNegative) {
  EXPECT_TRUE(test::holds("the sum of Ax is that of b, and x >= 0", [] {
    const RandomCounts random = RandomCounts::draw();
    Mlem solver(random.A, random.b, random.x0.clone());
    const double size = random.counts() + random.counts_of(random.x0);
    for (int k = 0; k < 10; ++k) {
      solver.step({true});
      RC_ASSERT(test::column(solver.solution()).minCoeff() >= 0);
      const double sum = random.counts_of(solver.solution());
      RC_ASSERT(std::abs(sum - random.counts()) <= tolerance::small_sum * size);
    }
  }));
}

TEST(Mlem, BecomesMoreLikelyWithEachStep) {
  EXPECT_TRUE(test::holds("the distance of Ax from b never grows by more than its rounding", [] {
    const RandomCounts random = RandomCounts::draw();
    Mlem solver(random.A, random.b, random.x0.clone());
    double before = random.distance(solver.solution());
    for (int k = 0; k < 20; ++k) {
      solver.step({true});
      const double now = random.distance(solver.solution());
      RC_ASSERT(now <= before + tolerance::small_sum * (random.counts() + std::abs(before)));
      before = now;
    }
  }));
}

TEST(Mlem, StaysAtAFixedPoint) {
  const SmallScan small;
  const Array x = positive_array(small.A.domain(), 3);
  Mlem solver(small.A, small.A * x, x.clone());
  run(solver, max_iterations(5));
  EXPECT_EQ(test::column(solver.solution()), test::column(x));
}

TEST(Mlem, ComesFromZeroToWhereItComesFromOnes) {
  const SmallScan small;
  const Array b = positive_array(small.A.range(), 1);
  Array ones(small.A.domain()), below(small.A.domain());
  std::fill_n(ones.data(), ones.size(), 1.0f);
  std::fill_n(below.data(), below.size(), -1.0f);
  Mlem from_zero(small.A, b, Array(small.A.domain())), from_ones(small.A, b, ones.clone()),
      from_below(small.A, b, std::move(below));
  for (Mlem* solver : {&from_zero, &from_ones, &from_below}) run(*solver, max_iterations(7));
  EXPECT_LE(test::relative_error(from_zero.solution(), from_ones.solution()), tolerance::small_sum);
  EXPECT_TRUE(test::same_bits(from_zero.solution(), from_below.solution()));
}

TEST(Mlem, StartsWithTheTotalOfTheDataInAnyUnit) {
  const SmallScan small;
  for (const float unit : {1e-4f, 1.0f, 1e4f}) {
    Array b = positive_array(small.A.range(), 1);
    for (Index i = 0; i < b.size(); ++i) b.data()[i] *= unit * (i / 17 % 2 == 1 ? 3.0f : 1.0f);
    const Mlem solver(small.A, b, Array(small.A.domain()));
    const Array start = small.A * solver.solution();
    Stream& stream = default_stream(Device::cpu());
    const std::vector<double> sums = sum_lengths(start, stream), data = sum_lengths(b, stream);
    for (const std::size_t slice : {0, 1})
      EXPECT_NEAR(sums[slice], data[slice], tolerance::small_sum * data[slice]) << unit;
    const Eigen::VectorXd x = test::column(solver.solution());
    EXPECT_EQ(x.head(35).minCoeff(), x.head(35).maxCoeff());
  }
}

TEST(Mlem, KeepsVoxelsThatNoRayMeets) {
  ParallelBeam scan = test::scan_of(3, 1, 5);
  scan.angles = {0.1, 0.2, 0.3};  // 5 bins over a slice of 31: most of it is not seen
  const LinearOperator A = projector(scan, test::grid_of(31, 31, 1));
  const Eigen::VectorXd seen = test::dense(A).colwise().sum();
  ASSERT_EQ(seen.minCoeff(), 0);
  const Array b = positive_array(A.range(), 1), x0 = positive_array(A.domain(), 2);
  Mlem given(A, b, x0.clone()), free(A, b, Array(A.domain()));
  run(given, max_iterations(10));
  run(free, max_iterations(10));
  Index moved = 0;
  for (Index i = 0; i < x0.size(); ++i) {
    const bool same = given.solution().data()[i] == x0.data()[i];
    EXPECT_TRUE(same || seen[i] > 0) << i;
    if (seen[i] == 0) {
      EXPECT_EQ(free.solution().data()[i], 0);
    }
    moved += !same;
  }
  EXPECT_GT(moved, 0);
  EXPECT_TRUE(test::column(given.solution()).allFinite());
}

TEST(Mlem, LeavesOutWhatItsStartLeavesOut) {
  const SmallScan small;
  Array x0 = positive_array(small.A.domain(), 2);
  x0.data()[3] = 0;
  x0.data()[5] = -1;
  Mlem solver(small.A, positive_array(small.A.range(), 1), std::move(x0));
  run(solver, max_iterations(4));
  const float* x = solver.solution().data();
  EXPECT_EQ(x[3], 0);
  EXPECT_EQ(x[5], 0);
  EXPECT_GT(x[4], 0);
}

/// Data that say nothing is there, and then rays of zeros.
TEST(Mlem, ComesToNothingWhereThereIsNothing) {
  const SmallScan small;
  Mlem solver(small.A, Array(small.A.range()), positive_array(small.A.domain(), 2));
  run(solver, max_iterations(5));
  EXPECT_LE(test::column(solver.solution()).maxCoeff(), tolerance::small_sum);
}

TEST(Mlem, LetsASliceBe) {
  const SmallScan small;
  const auto first_slice = [&](int steps_of_first, int steps, float second) {
    Array b = positive_array(small.A.range(), 1);
    for (Index i = 0; i < b.size(); ++i)
      if (i / 17 % 2 == 1) b.data()[i] *= second;
    Mlem solver(small.A, std::move(b), Array(small.A.domain()));
    for (int k = 0; k < steps; ++k) solver.step({k < steps_of_first, true});
    return Eigen::VectorXd(test::column(solver.solution()).head(35));
  };
  const Eigen::VectorXd alone = first_slice(4, 4, 1);
  EXPECT_EQ(first_slice(4, 9, 3), alone);
  EXPECT_EQ(first_slice(4, 4, 0), alone);
}

TEST(Mlem, ReadsNoMemoryThatNobodyHasSet) {
  if (!test::PoisonedMemory::works()) GTEST_SKIP() << "this allocator cannot fill what it gives";
  const SmallScan small;
  const Array b = positive_array(small.A.range(), 1);
  const auto solution = [&] {
    Mlem solver(small.A, b, Array(small.A.domain()));
    run(solver, max_iterations(3));
    return test::column(solver.solution());
  };
  const Eigen::VectorXd clean = solution();
  const test::PoisonedMemory poisoned;
  EXPECT_EQ(solution(), clean);
}

TEST(Mlem, RefusesNegativeDataAndVectorsOfAnotherSpace) {
  const SmallScan small;
  for (const float wrong : {-1e-6f, NAN, INFINITY}) {
    Array b = positive_array(small.A.range(), 1);
    b.data()[40] = wrong;
    EXPECT_THROW(Mlem(small.A, std::move(b), Array(small.A.domain())), GeometryError) << wrong;
  }
  EXPECT_THROW(Mlem(small.A, Array(small.A.domain()), Array(small.A.domain())), SpaceError);
  EXPECT_THROW(Mlem(small.A, Array(small.A.range()), Array(small.A.range())), SpaceError);
}

}  // namespace
}  // namespace tandem
