#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../kernels/launches.hpp"
#include "../../operators/norms.hpp"
#include "../../operators/vector.hpp"
#include "../support/dense.hpp"
#include "../support/operators.hpp"
#include "../support/poisoned_memory.hpp"
#include "../support/property.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

Stream& stream() { return default_stream(Device::cpu()); }

double largest(const Array& a) { return test::column(a).cwiseAbs().maxCoeff(); }

/// alpha A x + beta y, over a copy of y.
Array applied(const LinearOperator& A, float alpha, const Array& x, float beta, const Array& y) {
  Array out = y.clone();
  A.apply(alpha, x, beta, out, stream());
  return out;
}

void expect_near(const Array& got, const Eigen::VectorXd& expected, double within) {
  EXPECT_LE((test::column(got) - expected).cwiseAbs().maxCoeff(), within);
}

void expect_beta_semantics(const LinearOperator& A) {
  Random random(23);
  const Array x = sign_array(A.domain(), random), y = sign_array(A.range(), random);
  Array blank(A.range());
  fill(blank, std::numeric_limits<float>::quiet_NaN(), stream());
  const Array Ax = applied(A, 1, x, 0, blank);
  EXPECT_FALSE(test::column(Ax).hasNaN()) << "beta = 0 read the output";
  const Eigen::VectorXd plain = test::column(Ax), before = test::column(y);
  // A sum of two operators adds to what is there, which may be larger than the result by some times
  const double rounding = 4 * tolerance::axpby * (largest(Ax) + largest(y));
  expect_near(applied(A, 0.75f, x, 0, blank), 0.75 * plain, rounding);
  expect_near(applied(A, 0.75f, x, 2, y), 0.75 * plain + 2 * before, rounding);
  expect_near(applied(A, 0, x, -1, y), -before, 0);
  expect_near(applied(A, 0, x, 0, blank), 0 * before, 0);
  expect_near(applied(A, 1, x, 1, y), plain + before, rounding);
}

TEST(Operators, ObeyAlphaAndBetaBothWays) {
  for (const auto& [name, A] : test::all_operators()) {
    SCOPED_TRACE(name);
    expect_beta_semantics(A);
    SCOPED_TRACE("adjoint");
    expect_beta_semantics(adjoint(A));
  }
}

TEST(Operators, RefuseInputAndOutputThatOverlap) {
  for (const auto& [name, A] : test::all_operators()) {
    SCOPED_TRACE(name);
    Array memory(Space({1, 1, A.domain().size() + A.range().size()}));
    const ConstVectorView x{memory.data() + A.range().size() - 1, A.domain()};
    const VectorView y{memory.data(), A.range()};
    EXPECT_THROW(A.apply(1, x, 0, y, stream()), SpaceError);
    const ConstVectorView apart{memory.data() + A.range().size(), A.domain()};
    EXPECT_NO_THROW(A.apply(1, apart, 0, y, stream()));
  }
}

TEST(Operators, TakeABatchWithTheBitsOfOneByOne) {
  for (const auto& [name, A] : test::all_operators()) {
    test::expect_bits_of_one_by_one(A, 3, name);
    test::expect_bits_of_one_by_one(adjoint(A), 3, name + ", adjoint");
  }
  for (const Index slices : {1, 2})
    for (const auto& [name, A] : test::operators_of_slices(slices)) {
      EXPECT_EQ(A.together(), 64 / slices) << name;
      for (const Index count : {1, 2, 7, 66}) {
        test::expect_bits_of_one_by_one(A, count, name);
        test::expect_bits_of_one_by_one(adjoint(A), count, name + ", adjoint");
      }
    }
}

TEST(Operators, TakeSlicesOfABatchInOneCall) {
  const LinearOperator A = projector(test::scan_of(53, 1, 47), test::grid_of(37, 41, 1));
  kernels::forget_launches();
  test::expect_bits_of_one_by_one(A, 16, "16");
  EXPECT_TRUE(kernels::launched().contains("lanes forward, 16"));
  EXPECT_EQ(projector(test::far_cone(19, 7, 23), test::box(13, 11, 5, 0.7)).together(), 1);
  EXPECT_EQ(projector(test::wobbling_scan(), test::odd_grid()).together(), 64 / 3);
  EXPECT_EQ(ramp_filter(test::wobbling_scan()).together(), 1) << "its rows differ";
}

TEST(Operators, RefuseBatchesThatOverlap) {
  const LinearOperator one = identity(Space({1, 3, 5}));
  Array memory(Space({1, 1, 61}));
  const ConstVectorView x{memory.data(), one.domain()};
  const Batch two{2, 30, 15};
  EXPECT_THROW(one.apply(1, x, 0, {memory.data() + 44, one.range()}, two, stream()), SpaceError);
  EXPECT_THROW(one.apply(1, x, 0, {memory.data() + 15, one.range()}, two, stream()), SpaceError);
  EXPECT_NO_THROW(one.apply(1, x, 0, {memory.data() + 45, one.range()}, {2, 15, 1}, stream()));
  EXPECT_NO_THROW(one.apply(1, x, 0, {memory.data(), one.range()}, {0, 15, 15}, stream()))
      << "there are none";
}

TEST(Operators, RefuseVectorsOfAnotherSpace) {
  for (const auto& [name, A] : test::all_operators()) {
    SCOPED_TRACE(name);
    Array x(A.domain()), y(A.range());
    Array wrong_x(Space({1, 1, A.domain().size()})), wrong_y(Space({1, 1, A.range().size()}));
    EXPECT_THROW(A.apply(1, wrong_x, 0, y, stream()), SpaceError);
    EXPECT_THROW(A.apply(1, x, 0, wrong_y, stream()), SpaceError);
    EXPECT_THROW(A.apply_adjoint(1, wrong_y, 0, x, stream()), SpaceError);
    EXPECT_THROW(A.apply_adjoint(1, y, 0, wrong_x, stream()), SpaceError);
  }
}

TEST(Operators, RefuseProjectionsOfAnotherScan) {
  ParallelBeam scan = test::wobbling_scan();
  const LinearOperator A = projector(scan, test::odd_grid());
  scan.detector.axis_bin += 1;
  Array x(A.domain()), y(projection_space(scan));
  EXPECT_THROW(A.apply(1, x, 0, y, stream()), SpaceError);
  EXPECT_THROW(A + projector(scan, test::odd_grid()), SpaceError);
  EXPECT_THROW(ramp_filter(scan) * A, SpaceError);
  EXPECT_THROW(unmatched_pair(A, adjoint(projector(scan, test::odd_grid()))), SpaceError);
}

TEST(Operators, AreLinear) {
  for (const auto& [name, A] : test::all_operators()) {
    SCOPED_TRACE(name);
    Random random(29);
    const Array x = sign_array(A.domain(), random), z = uniform_array(A.domain(), random);
    const Array sum = applied(identity(A.domain()), 2, x, -3, z), Ax = A * x, Az = A * z;
    const double n = static_cast<double>(A.domain().size());
    const double rounding = tolerance::u * std::sqrt(n) * (2 * largest(Ax) + 3 * largest(Az));
    expect_near(A * sum, 2 * test::column(Ax) - 3 * test::column(Az), rounding);
  }
}

TEST(Operators, AreTheirOwnAdjointsAdjoint) {
  for (const auto& [name, A] : test::all_operators()) {
    SCOPED_TRACE(name);
    Random random(31);
    const Array x = sign_array(A.domain(), random);
    expect_near(adjoint(adjoint(A)) * x, test::column(A * x), 0);
  }
}

TEST(Operators, GiveTheSameBitsForEveryNumberOfThreads) {
  for (const auto& [name, A] : test::all_operators()) {
    SCOPED_TRACE(name);
    Random random(37);
    const Array x = sign_array(A.domain(), random), all = A * x;
    const ThreadLimit limit(1);
    const Array one = A * x;
    EXPECT_TRUE(test::same_bits(all, one));
  }
}

/// The operators also run on a stream that is not the thread's own.
TEST(Operators, ReadNoMemoryThatNobodyHasSet) {
  if (!test::PoisonedMemory::works()) GTEST_SKIP() << "this allocator cannot fill what it gives";
  Stream own(Device::cpu());
  for (const auto& [name, A] : test::all_operators()) {
    SCOPED_TRACE(name);
    Random random(39);
    const Array x = sign_array(A.domain(), random), y = sign_array(A.range(), random);
    const Array Ax = A * x, Aty = adjoint(A) * y;
    const test::PoisonedMemory poisoned;
    Array there(A.range(), own), back(A.domain(), own);
    A.apply(1, x, 0, there, own);
    A.apply_adjoint(1, y, 0, back, own);
    EXPECT_TRUE(test::same_bits(there, Ax));
    EXPECT_TRUE(test::same_bits(back, Aty));
    EXPECT_TRUE(test::same_bits(A * x, Ax));
  }
}

/// Small random matrices as operators.
LinearOperator random_matrix(Index rows, Index columns, unsigned seed) {
  std::srand(seed);
  return test::MatrixOperator{Eigen::MatrixXf::Random(rows, columns)};
}

/// Expects that an operator has this matrix, and its adjoint the transpose.
void expect_matrix(const LinearOperator& A, const Eigen::MatrixXd& expected) {
  const double rounding = tolerance::u * static_cast<double>(expected.cols() + expected.rows() + 8) *
                          std::max(1.0, expected.cwiseAbs().maxCoeff());
  EXPECT_LE((test::dense(A) - expected).cwiseAbs().maxCoeff(), rounding);
  EXPECT_LE((test::dense(adjoint(A)) - expected.transpose()).cwiseAbs().maxCoeff(), rounding);
}

TEST(Algebra, ComposesMatrices) {
  const LinearOperator A = random_matrix(7, 5, 1), B = random_matrix(5, 3, 2), C = random_matrix(7, 5, 3);
  const Eigen::MatrixXd a = test::dense(A), b = test::dense(B), c = test::dense(C);
  expect_matrix(A * B, a * b);
  expect_matrix(A + C, a + c);
  expect_matrix(A - C, a - c);
  expect_matrix(-0.3f * A, -0.3f * a);
  expect_matrix(adjoint(A), a.transpose());
  expect_matrix(adjoint(A) * C * B, a.transpose() * c * b);
  expect_matrix(identity(A.domain()), Eigen::MatrixXd::Identity(5, 5));
}

TEST(Algebra, StacksMatrices) {
  const LinearOperator A = random_matrix(7, 5, 1), B = random_matrix(3, 5, 2), C = random_matrix(7, 2, 3);
  const Eigen::MatrixXd a = test::dense(A), b = test::dense(B), c = test::dense(C);
  Eigen::MatrixXd rows(10, 5), columns(7, 7), nested(20, 5);
  rows << a, b;
  columns << a, c;
  nested << a, b, rows;
  expect_matrix(vstack({A, B}), rows);
  expect_matrix(hstack({A, C}), columns);
  expect_matrix(vstack({A, B, vstack({A, B})}), nested);
  expect_matrix(vstack({A}), a);
  expect_matrix(vstack({A, B}) * hstack({identity(A.domain()), identity(A.domain())}),
                rows * Eigen::MatrixXd::Identity(5, 5).replicate(1, 2));
}

TEST(Algebra, DiagonalMultipliesElements) {
  Random random(41);
  Array weights = uniform_array(Space({1, 1, 7}), random);
  const Eigen::VectorXd w = test::column(weights);
  expect_matrix(diagonal(std::move(weights)), w.asDiagonal().toDenseMatrix());
}

TEST(Algebra, AdjointOfAProductIsTheProductOfAdjoints) {
  EXPECT_TRUE(test::holds("(A B)t = Bt At", [] {
    const Index n = *rc::gen::inRange<Index>(1, 12), m = *rc::gen::inRange<Index>(1, 12),
                k = *rc::gen::inRange<Index>(1, 12);
    const auto seed = *rc::gen::arbitrary<unsigned>();
    const LinearOperator A = random_matrix(n, m, seed), B = random_matrix(m, k, seed + 1);
    const Eigen::MatrixXd difference = test::dense(adjoint(A * B)) - test::dense(adjoint(B) * adjoint(A));
    RC_ASSERT(difference.cwiseAbs().maxCoeff() == 0);
    RC_ASSERT((test::dense(A * B).transpose() - test::dense(adjoint(A * B))).cwiseAbs().maxCoeff() <=
              2 * tolerance::u * static_cast<double>(m) * static_cast<double>(m));
  }));
}

TEST(Algebra, RefusesOperatorsThatDoNotMeet) {
  const LinearOperator A = random_matrix(7, 5, 1), B = random_matrix(3, 5, 2);
  EXPECT_THROW(A * B, SpaceError);
  EXPECT_THROW(A + B, SpaceError);
  EXPECT_THROW(vstack({A, adjoint(B)}), SpaceError);
  EXPECT_THROW(hstack({A, B}), SpaceError);
  EXPECT_THROW(vstack({}), SpaceError);
  EXPECT_THROW(hstack({}), SpaceError);
  EXPECT_THROW(unmatched_pair(A, A), SpaceError);
}

TEST(Norms, ApproachTheLargestSingularValueFromBelow) {
  const LinearOperator A = random_matrix(13, 7, 5);
  const double exact = Eigen::JacobiSVD<Eigen::MatrixXd>(test::dense(A)).singularValues()(0);
  EXPECT_LE(operator_norm(A, 3), exact * (1 + 16 * tolerance::u));
  EXPECT_NEAR(operator_norm(A, 200), exact, exact * 16 * tolerance::u);
  EXPECT_EQ(operator_norm(0.0f * A), 0);
}

/// The exact norm is that after as many steps in double from the same start: fewer would have come less far.
TEST(Norms, TakeAsManyStepsAsTheyAreGiven) {
  const LinearOperator A = random_matrix(13, 7, 5);
  const Eigen::MatrixXd a = test::dense(A);
  constexpr unsigned seed = 1;
  Random random(seed);
  const Array start = uniform_array(A.domain(), random);
  const Eigen::VectorXd x0 = Eigen::Map<const Eigen::VectorXf>(start.data(), start.size()).cast<double>();
  const auto norm_after = [&](int steps) {
    Eigen::VectorXd x = x0;
    for (int k = 1; k < steps; ++k) x = a.transpose() * (a * x.normalized());
    return (a * x.normalized()).norm();
  };
  for (const int steps : {1, 2, 3, 4, 8})
    EXPECT_NEAR(operator_norm(A, steps, seed), norm_after(steps), norm_after(steps) * tolerance::small_sum)
        << steps;
  EXPECT_GT(norm_after(8), norm_after(2) * (1 + 10 * tolerance::small_sum));  // can be told apart
}

TEST(Norms, SumRowsAndColumns) {
  const LinearOperator A = random_matrix(13, 7, 5);
  const Eigen::MatrixXd a = test::dense(A);
  expect_near(row_sums(A), a.rowwise().sum(), 7 * 7 * tolerance::u);
  expect_near(column_sums(A), a.colwise().sum().transpose(), 13 * 13 * tolerance::u);
}

}  // namespace
}  // namespace tandem
