#include "../../solvers/mltr.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <utility>

#include "../../core/error.hpp"
#include "../../geometry/phantom.hpp"
#include "../../operators/fbp.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/vector.hpp"
#include "../../pipeline/simulate.hpp"
#include "../support/dense.hpp"
#include "../support/operators.hpp"
#include "../support/poisoned_memory.hpp"
#include "../support/property.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

static_assert(IterativeSolver<Mltr> && TellsItsObjective<Mltr> && ShowsItsResidual<Mltr>);

Array filled(const Space& space, float value) {
  Array a(space);
  std::fill_n(a.data(), a.size(), value);
  return a;
}

Array positive_array(const Space& space, std::uint64_t seed) {
  Random random(seed);
  return drawn_array(space, [&] { return 0.1f + static_cast<float>(random.uniform()); });
}

/// 13 views of two slices of 5 x 7 pixels, with counts of some photons behind a random object.
struct SmallScan {
  LinearOperator A = projector(test::scan_of(13, 2, 17), test::grid_of(5, 7, 2), Model::joseph);
  Array blank = positive_array(A.range(), 4), counts = counts_behind(positive_array(A.domain(), 1));

  SmallScan() {
    for (Index i = 0; i < blank.size(); ++i) blank.data()[i] *= 10;
  }
  Array counts_behind(const Array& x) const {
    const Array lines = A * x;
    Array drawn(A.range());
    Random random(5);
    for (Index i = 0; i < drawn.size(); ++i)
      drawn.data()[i] =
          static_cast<float>(pipeline::poisson(10 * std::exp(-static_cast<double>(lines.data()[i])), random));
    return drawn;
  }
  Mltr solver(Array x0) const { return {A, counts, blank, std::move(x0)}; }
};

/// A matrix from 0 on with some columns and rows of zeros, counts with many zeros, some rays without a blank.
struct RandomCounts {
  Eigen::MatrixXf matrix;
  LinearOperator A;
  Array counts, blank, x0;

  static RandomCounts draw() {
    const Index rows = *rc::gen::inRange<Index>(1, 14), columns = *rc::gen::inRange<Index>(1, 14);
    std::srand(*rc::gen::arbitrary<unsigned>());
    Eigen::MatrixXf matrix = Eigen::MatrixXf::Random(rows, columns).cwiseMax(0);
    if (std::rand() % 2 == 0) matrix.col(std::rand() % columns).setZero();
    if (std::rand() % 2 == 0) matrix.row(std::rand() % rows).setZero();
    const LinearOperator A = test::MatrixOperator{matrix};
    Array counts(A.range()), blank = filled(A.range(), 20), x0(A.domain());
    for (Index i = 0; i < rows; ++i) counts.data()[i] = static_cast<float>(std::max(0, std::rand() % 12 - 6));
    if (std::rand() % 3 == 0) blank.data()[std::rand() % rows] = 0;
    const int largest = 1 + std::rand() % 20;  // so that steps are far too long in some of them
    for (Index j = 0; j < columns; ++j) x0.data()[j] = static_cast<float>(std::rand() % (largest + 1));
    return {matrix, A, std::move(counts), std::move(blank), std::move(x0)};
  }

  /// The counts that say something: those of rays that meet a voxel and have a blank.
  Eigen::VectorXd counts_that_count() const {
    Eigen::VectorXd y = test::column(counts);
    for (Index i = 0; i < y.size(); ++i)
      if (blank_that_counts()(i) == 0) y(i) = 0;
    return y;
  }
  Eigen::VectorXd blank_that_counts() const {
    Eigen::VectorXd b = test::column(blank);
    for (Index i = 0; i < b.size(); ++i)
      if (matrix.row(i).maxCoeff() == 0) b(i) = 0;
    return b;
  }
  double objective(const Eigen::VectorXd& x) const {
    const Eigen::VectorXd lines = matrix.cast<double>() * x;
    return blank_that_counts().dot((-lines).array().exp().matrix()) + counts_that_count().dot(lines);
  }
  /// The formula of docs/kernels.md, in double.
  Eigen::VectorXd after_a_step(const Eigen::VectorXd& x) const {
    const Eigen::MatrixXd a = matrix.cast<double>();
    const Eigen::VectorXd y = counts_that_count(), b = blank_that_counts(), lines = a * x;
    const Eigen::VectorXd means = b.cwiseProduct((-lines).array().exp().matrix());
    const Eigen::VectorXd gradient = a.transpose() * (means - y),
                          curvature = a.transpose() * a.rowwise().sum().cwiseProduct(means);
    Eigen::VectorXd z = x;
    for (Index j = 0; j < x.size(); ++j)
      if (curvature(j) > 1e-30) z(j) = std::max(0.0, x(j) + gradient(j) / curvature(j));
    const Eigen::VectorXd d = a * (z - x);
    const double p = (means - y).dot(d),
                 q = b.cwiseProduct((-lines - d).array().exp().matrix()).dot(d.cwiseAbs2());
    if (!(p > 0)) return x;
    return x + (q > p ? 2 / (1 + std::sqrt(2 * q / p - 1)) : 1) * (z - x);
  }
};

TEST(Mltr, TakesTheStepOfItsFormula) {
  EXPECT_TRUE(test::holds("a step is that of a dense matrix in double", [] {
    const RandomCounts random = RandomCounts::draw();
    Mltr solver(random.A, random.counts, random.blank, random.x0.clone());
    const Eigen::VectorXd x0 = test::column(random.x0), expected = random.after_a_step(x0);
    solver.step({true});
    const double size = expected.cwiseAbs().maxCoeff() + x0.maxCoeff();
    RC_ASSERT((test::column(solver.solution()) - expected).cwiseAbs().maxCoeff() <=
              tolerance::exponential_step * size);
  }));
}

/// With a bound that does not hold, so that d = C At (means - counts) with C = 1 / At (A1 means).
TEST(Mltr, TellsWhatNoiseFits) {
  const SmallScan small;
  Mltr solver(small.A, small.counts, small.blank, filled(small.A.domain(), 0.5f), {{.lowest = -10}});
  const Eigen::MatrixXd a = test::block_matrix(small.A);
  const Eigen::VectorXd lengths = a.rowwise().sum();
  Eigen::VectorXd y(a.rows()), means(a.rows()), w(a.rows());
  Array signs(small.A.range());
  fill_with_signs(signs, 1, default_stream(Device::cpu()));
  for (Index i = 0; i < a.rows(); ++i) {
    const Index at = test::element(signs.space(), 1, i);
    means(i) = lengths(i) > 0 ? small.blank.data()[at] * std::exp(-0.5 * lengths(i)) : 0;
    y(i) = lengths(i) > 0 ? small.counts.data()[at] : 0;
    w(i) = signs.data()[at];
  }
  const Eigen::VectorXd at_lengths = a.transpose() * lengths;
  const double trace = (a.transpose() * w).cwiseAbs2().cwiseQuotient(at_lengths).sum() * 2 / 3;
  EXPECT_NEAR(solver.traces()[1], trace, tolerance::solver_steps * trace);
  const Eigen::VectorXd r = y - means, back = a.transpose() * -r,
                        step = back.cwiseQuotient(a.transpose() * lengths.cwiseProduct(means));
  ASSERT_GT(step.minCoeff(), -10);
  double spread = 0;
  for (Index i = 0; i < r.size(); ++i) spread += means(i) > 0 ? r(i) * r(i) / means(i) : 0;
  solver.step({true, true});
  const double fall = back.dot(step) * r.squaredNorm() / spread;
  EXPECT_NEAR(solver.falls()[1], fall, tolerance::solver_steps * fall);
}

TEST(Mltr, BecomesMoreLikelyWithEachStep) {
  EXPECT_TRUE(test::holds("-log of the likelihood never grows by more than its rounding", [] {
    const RandomCounts random = RandomCounts::draw();
    Mltr solver(random.A, random.counts, random.blank, random.x0.clone());
    double before = random.objective(test::column(solver.solution()));
    const double size = before + random.blank_that_counts().sum();
    for (int k = 0; k < 30; ++k) {
      solver.step({true});
      const Eigen::VectorXd x = test::column(solver.solution());
      RC_ASSERT(x.allFinite() && x.minCoeff() >= 0);
      const double now = random.objective(x);
      RC_ASSERT(now <= before + tolerance::small_sum * size);
      RC_ASSERT(std::abs(solver.objective().front() - now) <= tolerance::small_sum * size);
      before = now;
    }
  }));
}

/// A voxel a ray, of different lengths: there the likelihood has its maximum at the logarithm of the counts.
TEST(Mltr, ComesToTheLogarithmWhereEachVoxelHasARay) {
  Eigen::MatrixXf matrix = Eigen::MatrixXf::Zero(5, 5);
  matrix.diagonal() << 0.5f, 1, 2, 3, 7;
  const LinearOperator A = test::MatrixOperator{matrix};
  Array counts(A.range());
  for (Index i = 0; i < 5; ++i) counts.data()[i] = static_cast<float>(1 + 4 * i);
  Mltr solver(A, counts, filled(A.range(), 20), filled(A.domain(), 4));
  run(solver, max_iterations(40));
  for (Index i = 0; i < 5; ++i)
    EXPECT_NEAR(solver.solution().data()[i],
                std::log(20.0 / (1 + 4 * static_cast<double>(i))) / static_cast<double>(matrix(i, i)),
                tolerance::exponential_step)
        << i;
}

/// Zeros everywhere have no most likely object: it becomes ever denser, up to the highest that may be.
TEST(Mltr, BecomesDenserWhereNothingIsCounted) {
  const SmallScan small;
  const auto nothing = [&](const Bounds& bounds) {
    return Mltr(small.A, Array(small.A.range()), small.blank.clone(), Array(small.A.domain()), {bounds});
  };
  Mltr free = nothing(above_zero), bounded = nothing({.lowest = 0, .highest = 0.7f});
  double before = 0;
  for (int k = 0; k < 200; ++k) {
    free.step({true, true}), bounded.step({true, true});
    const double now = test::column(free.solution()).sum();
    ASSERT_GE(now, before);
    before = now;
  }
  EXPECT_TRUE(test::column(free.solution()).allFinite());
  EXPECT_GT(test::column(free.solution()).minCoeff(), 1);
  EXPECT_EQ(test::column(bounded.solution()), test::column(filled(small.A.domain(), 0.7f)));
}

TEST(Mltr, KeepsVoxelsThatNoRayMeets) {
  ParallelBeam scan = test::scan_of(3, 1, 5);
  scan.angles = {0.1, 0.2, 0.3};  // 5 bins over a slice of 31: most of it is not seen
  const LinearOperator A = projector(scan, test::grid_of(31, 31, 1));
  const Eigen::VectorXd seen = test::dense(A).colwise().sum();
  ASSERT_EQ(seen.minCoeff(), 0);
  const Array x0 = positive_array(A.domain(), 2);
  Mltr solver(A, filled(A.range(), 1), filled(A.range(), 20), x0.clone());
  run(solver, max_iterations(10));
  Index moved = 0;
  for (Index i = 0; i < x0.size(); ++i) {
    const bool same = solver.solution().data()[i] == x0.data()[i];
    EXPECT_TRUE(same || seen[i] > 0) << i;
    moved += !same;
  }
  EXPECT_GT(moved, 0);
}

/// The counts of such a ray say nothing. A block of such rays alone stays as it begins.
TEST(Mltr, HeedsNoRayWithoutABlank) {
  const SmallScan small;
  const auto solution = [&](float counted) {
    Array counts = small.counts.clone(), blank = small.blank.clone();
    for (Index i = 0; i < counts.size(); ++i)
      if (i % 11 == 0 || i / 17 % 2 == 1) counts.data()[i] = counted, blank.data()[i] = 0;
    Mltr solver(small.A, std::move(counts), std::move(blank), filled(small.A.domain(), 0.2f));
    run(solver, max_iterations(5));
    return test::column(solver.solution());
  };
  const Eigen::VectorXd x = solution(0);
  EXPECT_EQ(solution(1000), x);
  EXPECT_EQ(x.tail(35), Eigen::VectorXd::Constant(35, static_cast<double>(0.2f)));
  EXPECT_GT((x.head(35).array() - 0.2).abs().maxCoeff(), 0.01);
}

TEST(Mltr, LetsASliceBe) {
  const SmallScan small;
  const auto first_slice = [&](int steps_of_first, int steps, float second) {
    Array counts = small.counts.clone();
    for (Index i = 0; i < counts.size(); ++i)
      if (i / 17 % 2 == 1) counts.data()[i] *= second;
    Mltr solver(small.A, std::move(counts), small.blank.clone(), filled(small.A.domain(), 0.3f));
    for (int k = 0; k < steps; ++k) solver.step({k < steps_of_first, true});
    return std::pair(Eigen::VectorXd(test::column(solver.solution()).head(35)), solver.residual_norms()[0]);
  };
  const auto alone = first_slice(4, 4, 1);
  EXPECT_EQ(first_slice(4, 9, 3), alone);
  EXPECT_EQ(first_slice(4, 4, 0), alone);
}

TEST(Mltr, ReadsNoMemoryThatNobodyHasSet) {
  if (!test::PoisonedMemory::works()) GTEST_SKIP() << "this allocator cannot fill what it gives";
  const SmallScan small;
  const auto solution = [&] {
    Mltr solver = small.solver(Array(small.A.domain()));
    run(solver, max_iterations(3));
    return test::column(solver.solution());
  };
  const Eigen::VectorXd clean = solution();
  const test::PoisonedMemory poisoned;
  EXPECT_EQ(solution(), clean);
}

TEST(Mltr, RefusesWhatAreNoCountsAndVectorsOfAnotherSpace) {
  const SmallScan small;
  const Array x0(small.A.domain());
  for (const float wrong : {-1e-6f, NAN, INFINITY}) {
    Array bad = small.counts.clone();
    bad.data()[40] = wrong;
    EXPECT_THROW(Mltr(small.A, bad, small.blank, x0.clone()), GeometryError) << wrong;
    EXPECT_THROW(Mltr(small.A, small.counts, bad, x0.clone()), GeometryError) << wrong;
  }
  EXPECT_THROW(Mltr(small.A, small.counts, small.blank, x0.clone(), {Bounds{}}), GeometryError);
  EXPECT_THROW(Mltr(small.A, x0, small.blank, x0.clone()), SpaceError);
  EXPECT_THROW(Mltr(small.A, small.counts, x0, x0.clone()), SpaceError);
  EXPECT_THROW(Mltr(small.A, small.counts, small.blank, small.counts.clone()), SpaceError);
}

/// A disc in the middle of n x n pixels and its counts: `photons` in the air, and so many at the least behind
/// it.
struct Body {
  static constexpr Index n = 64, bins = 80;
  static constexpr double radius = 22;
  double photons, mu;
  ParallelBeam scan;
  VolumeGrid grid = test::grid_of(n, n, 1);
  Array counts;

  Body(double in_air, double behind, Index views)
      : photons(in_air),
        mu(std::log(in_air / behind) / (2 * radius)),
        scan{{bins, 1, 1, 1, 0.5 * (bins - 1)}, test::regular_angles(views), {}},
        counts(projection_space(scan)) {
    const Phantom disc{{{mu, {radius, radius, INFINITY}, {0, 0, 0}, 0}}};
    project(disc, scan, {0, 1}, {counts.data(), static_cast<std::size_t>(counts.size())});
    Random random(3);
    for (Index i = 0; i < counts.size(); ++i)
      counts.data()[i] = static_cast<float>(
          pipeline::poisson(photons * std::exp(-static_cast<double>(counts.data()[i])), random));
  }
  /// Mean and standard deviation well within the disc, as shares of its attenuation.
  std::pair<double, double> within(const Array& x) const {
    double sum = 0, squares = 0, count = 0;
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < n; ++i) {
        if (std::hypot(static_cast<double>(i) - 0.5 * (n - 1), static_cast<double>(j) - 0.5 * (n - 1)) >
            0.8 * radius)
          continue;
        const double value = static_cast<double>(x.data()[j * n + i]) / mu;
        sum += value, squares += value * value, ++count;
      }
    const double mean = sum / count;
    return {mean, std::sqrt(squares / count - mean * mean)};
  }
  Array by_fbp() const {
    Array logs = counts.clone();
    for (Index i = 0; i < logs.size(); ++i)
      logs.data()[i] =
          static_cast<float>(-std::log(std::max(static_cast<double>(logs.data()[i]), 0.5) / photons));
    return fbp(projector(scan, grid, Model::joseph), scan, grid) * logs;
  }
};

/// Two to twenty photons behind the body: FBP of logarithms is wrong there, and noisy.
TEST(Mltr, MeasuresABodyBehindWhichAFewPhotonsAreCounted) {
  for (const auto& [in_air, behind] :
       {std::pair(20.0, 2.0), std::pair(200.0, 2.0), std::pair(1000.0, 20.0)}) {
    const Body body(in_air, behind, 200);
    const bool zeros = std::count(body.counts.data(), body.counts.data() + body.counts.size(), 0.0f) > 0;
    EXPECT_EQ(zeros, behind < 10);
    const LinearOperator A = projector(body.scan, body.grid, Model::joseph);
    Mltr solver(A, body.counts, filled(A.range(), static_cast<float>(in_air)), Array(A.domain()));
    double before = solver.objective().front();
    run(solver, max_iterations(20), [&](const Progress& now) {
      const double objective = solver.objective().front();
      EXPECT_LE(objective, before) << now.iteration;
      before = objective;
    });
    const auto [mean, noise] = body.within(solver.solution());
    const auto [fbp_mean, fbp_noise] = body.within(body.by_fbp());
    std::cout << in_air << " photons, " << behind << " behind: mean " << mean << ", noise " << noise
              << "; FBP " << fbp_mean << ", " << fbp_noise << '\n';
    EXPECT_NEAR(mean, 1, 0.02);
    EXPECT_LE(noise, 0.5 * fbp_noise);
  }
}

}  // namespace
}  // namespace tandem
