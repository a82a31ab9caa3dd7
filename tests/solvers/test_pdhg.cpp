#include "../../solvers/pdhg.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "../../core/error.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/gradient.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/vector.hpp"
#include "../support/dense.hpp"
#include "../support/operators.hpp"
#include "../support/poisoned_memory.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

static_assert(IterativeSolver<Pdhg>);

using test::random_array;

/// 13 views of two slices of 5 x 7 pixels: more equations than unknowns.
struct SmallScan {
  LinearOperator A = projector(test::scan_of(13, 2, 17), test::grid_of(5, 7, 2), Model::joseph);
  Array b = random_array(A.range(), 1);
  Regulariser tv = total_variation(A.domain());

  Pdhg solver(std::vector<float> weights, std::optional<Array> data_weights = {}, PdhgOptions options = {}) {
    return Pdhg(A, b.clone(), Array(A.domain()), tv, std::move(weights), std::move(data_weights), options);
  }
};

/// The largest difference from 1.5 in the first half of the steps along an axis, 2.5 in the second.
template <class IsFirst>
double off_from_closed_form(const Array& x, const IsFirst& is_first) {
  double most = 0;
  for (Index i = 0; i < x.size(); ++i)
    most = std::max(most, std::abs(static_cast<double>(x.data()[i]) - (is_first(i) ? 1.5 : 2.5)));
  return most;
}

/// A step from 1 to 3, denoised.
template <class IsFirst>
Pdhg denoised_step(const Space& space, const Regulariser& tv, float weight, const IsFirst& is_first) {
  Array b(space);
  for (Index i = 0; i < b.size(); ++i) b.data()[i] = is_first(i) ? 1.0f : 3.0f;
  Pdhg solver(identity(space), b.clone(), b.clone(), tv, {weight}, {}, {.balance = 1});
  run(solver, max_iterations(1000));
  return solver;
}

/// Two halves of 4 columns each: total variation moves both towards each other by W / 4, whatever the rows.
TEST(Pdhg, DenoisesAStepAsItsClosedFormSays) {
  const Space image({1, 6, 8});
  const auto left = [](Index i) { return i % 8 < 4; };
  Pdhg solver = denoised_step(image, total_variation(image), 2, left);
  EXPECT_LE(off_from_closed_form(solver.solution(), left), 1e-4);
  EXPECT_NEAR(solver.regularity()[0], 6, 1e-3);
}

/// The same along z, where slices are no blocks of their own: a step of twice the scale costs twice as much.
TEST(Pdhg, RegularisesInThreeDimensions) {
  const Space volume({8, 2, 3});
  const auto low = [](Index i) { return i < 24; };
  const Pdhg solver = denoised_step(volume, total_variation(volume, {2, 1, 1}), 1, low);
  EXPECT_LE(off_from_closed_form(solver.solution(), low), 1e-4);
}

TEST(Pdhg, SolvesWeightedLeastSquaresWithoutARegulariser) {
  SmallScan small;
  Array weights = random_array(small.A.range(), 5);
  for (Index i = 0; i < weights.size(); ++i) weights.data()[i] = std::max(0.0f, weights.data()[i]);
  Pdhg solver = small.solver({0}, weights.clone());
  run(solver, max_iterations(4000));
  const Eigen::MatrixXd a = test::dense(small.A);
  const Eigen::VectorXd w = test::column(weights);
  const Eigen::VectorXd exact = (a.transpose() * w.asDiagonal() * a)
                                    .ldlt()
                                    .solve(a.transpose() * w.cwiseProduct(test::column(small.b)));
  EXPECT_LE((test::column(solver.solution()) - exact).norm(), 1e-4 * exact.norm());
}

/// If all lengths are below the threshold, Huber's function is a square.
TEST(Pdhg, SolvesTheSmoothProblemOfALargeThreshold) {
  SmallScan small;
  constexpr float threshold = 1000, weight = 300;
  small.tv = huber_total_variation(small.A.domain(), threshold);
  Pdhg solver = small.solver({weight});
  run(solver, max_iterations(4000));
  const Eigen::MatrixXd a = test::dense(small.A), d = test::dense(small.tv.K);
  const Eigen::VectorXd exact = (a.transpose() * a + weight / threshold * d.transpose() * d)
                                    .ldlt()
                                    .solve(a.transpose() * test::column(small.b));
  EXPECT_LE((test::column(solver.solution()) - exact).norm(), 1e-4 * exact.norm());
  const std::vector<double> value = solver.regularity();
  EXPECT_NEAR(value[0] + value[1], (d * exact).squaredNorm() / (2 * threshold), 1e-4 * value[0]);
}

/// With a small threshold little is left but total variation.
TEST(Pdhg, HuberTendsToTotalVariation) {
  SmallScan small;
  Pdhg plain = small.solver({0.5f});
  small.tv = huber_total_variation(small.A.domain(), 1e-5f);
  Pdhg huber = small.solver({0.5f});
  run(plain, max_iterations(2000));
  run(huber, max_iterations(2000));
  EXPECT_LE(test::relative_error(huber.solution(), plain.solution()), 1e-3);
}

/// The gradient of the data's term is a subgradient of the other: At w (b - Ax) = W Dt q with |q| <= 1, and q
/// points along the gradient where there is one.
TEST(Pdhg, MeetsTheConditionsOfTheOptimum) {
  SmallScan small;
  Array weights = random_array(small.A.range(), 5);
  for (Index i = 0; i < weights.size(); ++i) weights.data()[i] += 0.4f;
  constexpr float weight = 0.3f;
  Pdhg solver = small.solver({weight}, weights.clone());
  run(solver, max_iterations(5000));
  const Eigen::MatrixXd a = test::dense(small.A);
  const Eigen::VectorXd x = test::column(solver.solution());
  const auto objective = [&](const Eigen::VectorXd& v) {
    const Eigen::VectorXd r = a * v - test::column(small.b);
    const Array at = test::array_of(v, small.A.domain());
    return 0.5 * r.dot(test::column(weights).cwiseProduct(r)) +
           static_cast<double>(weight) * total(sum_lengths(small.tv.K * at, default_stream(Device::cpu())));
  };
  const double least = objective(x);
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const Eigen::VectorXd way = test::column(random_array(small.A.domain(), seed));
    for (const double length : {-1e-1, -1e-2, 1e-2, 1e-1})
      EXPECT_GE(objective(x + length * way), least * (1 - 1e-6));
  }
}

TEST(Pdhg, FindsTheLeastPointAboveZero) {
  SmallScan small;
  for (Index i = 0; i < small.b.size(); i += 2) small.b.data()[i] -= 1;
  Pdhg solver = small.solver({0}, {}, {.bounds = above_zero});
  for (int k = 0; k < 4000; ++k) {
    solver.step({true, true});
    ASSERT_GE(test::column(solver.solution()).minCoeff(), 0) << "step " << k;
  }
  const Eigen::MatrixXd a = test::dense(small.A);
  const Eigen::VectorXd x = test::column(solver.solution()),
                        slope = a.transpose() * (a * x - test::column(small.b));
  ASSERT_GT((x.array() == 0).count(), 0);
  const double size = (a.transpose() * test::column(small.b)).norm();
  for (Index i = 0; i < x.size(); ++i) {
    EXPECT_GE(slope(i), -1e-4 * size);
    if (x(i) > 1e-3) {
      EXPECT_LE(slope(i), 1e-4 * size);
    }
  }
}

/// Two slices do not depend on each other, nor on when the other one stops.
TEST(Pdhg, LetsASliceBe) {
  SmallScan small;
  const auto first_slice = [&](int steps_of_first, int steps, float second) {
    SmallScan own;
    for (Index i = 0; i < own.b.size(); ++i)
      if (i / 17 % 2 == 1) own.b.data()[i] *= second;
    Pdhg solver = own.solver({0.3f}, {}, {.bounds = above_zero});
    for (int k = 0; k < steps; ++k) solver.step({k < steps_of_first, true});
    return std::pair{Eigen::VectorXd(test::column(solver.solution()).head(35)), solver.residual_norms()[0]};
  };
  const auto [alone, residual] = first_slice(7, 7, 1);
  for (const auto& [x, r] : {first_slice(7, 7, -2), first_slice(7, 12, 3), first_slice(7, 30, 0)}) {
    EXPECT_EQ(x, alone);
    EXPECT_EQ(r, residual);
  }
}

TEST(Pdhg, KeepsItsStartWhereNoRayGoes) {
  const Space volume({1, 4, 4}), data({1, 1, 8});
  const LinearOperator nothing = make_operator(
      volume, data, [](ConstVectorView, VectorView out, Stream& s) { fill(out, 0, s); },
      [](ConstVectorView, VectorView out, Stream& s) { fill(out, 0, s); });
  const Array x0 = random_array(volume, 3);
  for (const bool weighted : {false, true}) {
    Pdhg solver(nothing, random_array(data, 1), x0.clone(), total_variation(volume), {1},
                weighted ? std::optional(Array(data)) : std::nullopt);
    run(solver, max_iterations(5));
    EXPECT_LE(test::relative_error(solver.solution(), x0), 20 * tolerance::u);
  }
}

TEST(Pdhg, TellsTheResidualOfItsSolution) {
  SmallScan small;
  Pdhg solver = small.solver({0.3f});
  run(solver, max_iterations(9));
  const Array& residual = solver.residual();
  const Eigen::VectorXd exact =
      test::column(small.b) - test::dense(small.A) * test::column(solver.solution());
  EXPECT_LE((test::column(residual) - exact).norm(), 1e-5 * exact.norm());
  const std::vector<double>& norms = solver.residual_norms();
  EXPECT_NEAR(std::hypot(norms[0], norms[1]), exact.norm(), 1e-5 * exact.norm());
}

/// Weights of twelve orders of magnitude, with dual steps that are small and large beside them. Each residual
/// is good to some roundings of its terms.
TEST(Pdhg, KeepsWeightsOfAnySize) {
  SmallScan small;
  Array weights(small.A.range());
  const Index count = weights.size();
  for (Index i = 0; i < count; ++i)
    weights.data()[i] = static_cast<float>(std::pow(10, -3 + 12.0 * (i * 7 % count) / (count - 1)));
  const Eigen::MatrixXd a = test::dense(small.A);
  const Eigen::VectorXd b = test::column(small.b), w = test::column(weights);
  for (const float balance : {1e-9f, 0.1f, 1e6f}) {
    Pdhg solver = small.solver({0.3f}, weights.clone(), {.balance = balance});
    for (int steps = 0; steps < 14; ++steps) {
      const Eigen::VectorXd x = test::column(solver.solution()), r = b - a * x,
                            off = 8 * tolerance::u * (a.cwiseAbs() * x.cwiseAbs() + b.cwiseAbs());
      const std::vector<double> tv = solver.regularity(), found = solver.objective();
      const double exact = 0.5 * w.dot(r.cwiseAbs2()) + static_cast<double>(0.3f) * (tv[0] + tv[1]),
                   bound = w.dot(r.cwiseAbs().cwiseProduct(off) + off.cwiseAbs2());
      ASSERT_NEAR(found[0] + found[1], exact, bound + 4 * tolerance::u * exact) << balance << ", " << steps;
      solver.step({true, true});
    }
  }
}

TEST(Pdhg, ReadsNoMemoryThatNobodyHasSet) {
  if (!test::PoisonedMemory::works()) GTEST_SKIP() << "this allocator cannot fill what it gives";
  SmallScan small;
  const auto solution = [&] {
    Array weights = small.b.clone();
    fill(weights, 1, default_stream(Device::cpu()));
    Pdhg solver = small.solver({0.3f}, std::move(weights));
    run(solver, max_iterations(4));
    return test::column(solver.solution());
  };
  const Eigen::VectorXd clean = solution();
  const test::PoisonedMemory poisoned;
  EXPECT_EQ(solution(), clean);
}

TEST(Pdhg, RefusesWhatMakesNoSense) {
  SmallScan small;
  EXPECT_THROW(small.solver({-1}), GeometryError);
  EXPECT_THROW(small.solver({1, 1, 1}), SpaceError);
  EXPECT_THROW(small.solver({1}, {}, {.relaxation = 2}), GeometryError);
  EXPECT_THROW(small.solver({1}, {}, {.balance = 0}), GeometryError);
  EXPECT_THROW(huber_total_variation(small.A.domain(), 0), GeometryError);
  Array weights = test::array_of(Eigen::VectorXd::Ones(small.A.range().size()), small.A.range());
  weights.data()[5] = -0.5f;
  EXPECT_THROW(small.solver({1}, weights.clone()), GeometryError);
  weights.data()[5] = NAN;
  EXPECT_THROW(small.solver({1}, weights.clone()), GeometryError);
}

}  // namespace
}  // namespace tandem
