#include "../../solvers/fista.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "../../core/error.hpp"
#include "../../geometry/phantom.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/vector.hpp"
#include "../../solvers/pdhg.hpp"
#include "../support/dense.hpp"
#include "../support/operators.hpp"
#include "../support/poisoned_memory.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

static_assert(IterativeSolver<Fista>);

using test::random_array;

/// 13 views of two slices of 5 x 7 pixels: more equations than unknowns.
struct SmallScan {
  LinearOperator A = projector(test::scan_of(13, 2, 17), test::grid_of(5, 7, 2), Model::joseph);
  Array b = random_array(A.range(), 1);
  Regulariser tv = total_variation(A.domain());

  Fista solver(std::vector<float> weights, std::optional<Array> data_weights = {},
               FistaOptions options = {}) const {
    return Fista(A, b.clone(), Array(A.domain()), tv, std::move(weights), std::move(data_weights), options);
  }
};

/// Ellipsoids from 30 views, with noise and with weights of data that differ.
struct NoisyScan {
  VolumeGrid grid = test::grid_of(40, 40, 1);
  LinearOperator A = projector(test::scan_of(30, 1, 57), grid, Model::joseph);
  Array truth = Array(A.domain()), b, weights = random_array(A.range(), 7);

  NoisyScan() : b(A.range()) {
    voxelise(scaled(ellipsoids(), 20, 0.1), grid, {0, 1},
             {truth.data(), static_cast<std::size_t>(truth.size())});
    b = A * truth;
    axpby(0.2f, random_array(A.range(), 2), 1, b, default_stream(Device::cpu()));
    for (Index i = 0; i < weights.size(); ++i) weights.data()[i] += 0.5f;
  }
  double objective(const Array& x, const Regulariser& regulariser, float weight) const {
    Stream& stream = default_stream(Device::cpu());
    Array r = b.clone();
    A.apply(-1, x, 1, r, stream);
    Array weighted = r.clone();
    multiply(weights, weighted, stream);
    return 0.5 * total(dot(r, weighted, stream)) +
           static_cast<double>(weight) * total(regulariser.value(regulariser.K * x, stream));
  }
};

/// Two methods that share nothing but the operators come to one objective.
TEST(Fista, ComesToTheObjectiveOfPdhg) {
  const NoisyScan noisy;
  const Regulariser tv = total_variation(noisy.A.domain()),
                    huber = huber_total_variation(noisy.A.domain(), 0.01f);
  for (const Regulariser* regulariser : {&tv, &huber})
    for (const Bounds& bounds : {Bounds{}, Bounds{0, 0.1f}}) {
      constexpr float weight = 0.4f;
      Fista fista(noisy.A, noisy.b.clone(), Array(noisy.A.domain()), *regulariser, {weight},
                  noisy.weights.clone(), {.bounds = bounds});
      Pdhg pdhg(noisy.A, noisy.b.clone(), Array(noisy.A.domain()), *regulariser, {weight},
                noisy.weights.clone(), {.bounds = bounds});
      run(fista, max_iterations(400));
      run(pdhg, max_iterations(1500));
      const double f = noisy.objective(fista.solution(), *regulariser, weight),
                   p = noisy.objective(pdhg.solution(), *regulariser, weight);
      EXPECT_NEAR(f, p, tolerance::one_objective * p) << bounds.lowest << ' ' << (regulariser == &huber);
      EXPECT_LE(test::relative_error(fista.solution(), pdhg.solution()), tolerance::one_minimiser);
    }
}

/// The result of denoise_tv_chambolle of scikit-image 0.26.0 in double, with weight=0.08, eps=0 and 400,000
/// iterations.
TEST(Fista, DenoisesAsScikitImageDoes) {
  const std::vector<double> oracle{
      0.110075, 0.665853, 0.489902, 0.544248, 0.481405, 0.283769, 0.452509, 0.530433, 0.466532, 0.609765,
      0.233928, 0.616630, 0.260796, 0.366806, 0.369215, 0.307180, 0.451791, 0.514987, 0.437441, 0.359441,
      0.400441, 0.386591, 0.657674, 0.450808, 0.303038, 0.683709, 0.466327, 0.475507, 0.475507, 0.763077};
  const Space space({1, 5, 6});
  Array y(space);
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 6; ++j)
      y.data()[6 * i + j] = static_cast<float>((7 * i + 11 * j * j + 3 * i * j) % 13) / 13;
  const Regulariser tv = total_variation(space);
  Fista fista(identity(space), y.clone(), y.clone(), tv, {0.08f}, {}, {.inner_steps = 50});
  Pdhg pdhg(identity(space), y.clone(), y.clone(), tv, {0.08f}, {}, {.balance = 1});
  run(fista, max_iterations(40));
  run(pdhg, max_iterations(2000));
  for (std::size_t k = 0; k < oracle.size(); ++k) {
    EXPECT_NEAR(fista.solution().data()[k], oracle[k], tolerance::denoised) << k;
    EXPECT_NEAR(pdhg.solution().data()[k], oracle[k], tolerance::denoised) << k;
  }
}

/// The slope of the least squares is zero within the box, and points out of it at its walls.
TEST(Fista, FindsTheLeastPointInABox) {
  const SmallScan small;
  const Bounds box{-0.05f, 0.1f};
  Fista solver = small.solver({0}, {}, {.bounds = box});
  for (int k = 0; k < 500; ++k) {
    solver.step({true, true});
    ASSERT_GE(test::column(solver.solution()).minCoeff(), box.lowest) << "step " << k;
    ASSERT_LE(test::column(solver.solution()).maxCoeff(), box.highest) << "step " << k;
  }
  const Eigen::MatrixXd a = test::dense(small.A);
  const Eigen::VectorXd x = test::column(solver.solution()),
                        slope = a.transpose() * (a * x - test::column(small.b));
  const double size = (a.transpose() * test::column(small.b)).norm();
  Index walls = 0;
  for (Index i = 0; i < x.size(); ++i) {
    const bool low = x(i) == box.lowest, high = x(i) == box.highest;
    walls += low || high;
    if (!low) {
      EXPECT_LE(slope(i), 1e-4 * size) << i;
    }
    if (!high) {
      EXPECT_GE(slope(i), -1e-4 * size) << i;
    }
  }
  EXPECT_GT(walls, 5);
  EXPECT_LT(walls, x.size() - 5);
}

/// After k steps of length 1/L plain gradients are within |x|^2 L / (2 k) of the least; with momentum they
/// are within 2 |x|^2 L / k^2.
TEST(Fista, KeepsItsPromiseOfSpeed) {
  const SmallScan small;
  const Array x = random_array(small.A.domain(), 3);
  Fista solver(small.A, small.A * x, Array(small.A.domain()), small.tv, {0});
  const Eigen::MatrixXd a = test::block_matrix(small.A);
  const double largest = std::pow(a.jacobiSvd().singularValues()(0), 2);
  for (int k = 1; k <= 100; ++k) {
    solver.step({true, true});
    const std::vector<double>& r = solver.residual_norms();
    const double margin = 1.04,
                 bound = 2 * margin * largest * test::column(x).squaredNorm() / ((k + 1) * (k + 1));
    EXPECT_LE(0.5 * (r[0] * r[0] + r[1] * r[1]), bound) << k;
  }
}

TEST(Fista, LetsASliceBe) {
  const SmallScan small;
  const auto first_slice = [&](int steps_of_first, int steps, float second) {
    SmallScan own;
    for (Index i = 0; i < own.b.size(); ++i)
      if (i / 17 % 2 == 1) own.b.data()[i] *= second;
    Fista solver = own.solver({0.3f}, {}, {.bounds = above_zero});
    for (int k = 0; k < steps; ++k) solver.step({k < steps_of_first, true});
    return std::pair{Eigen::VectorXd(test::column(solver.solution()).head(35)), solver.residual_norms()[0]};
  };
  const auto [alone, residual] = first_slice(7, 7, 1);
  for (const auto& [x, r] : {first_slice(7, 7, -2), first_slice(7, 12, 3), first_slice(7, 30, 0)}) {
    EXPECT_EQ(x, alone);
    EXPECT_EQ(r, residual);
  }
}

TEST(Fista, TellsTheResidualOfItsSolution) {
  const SmallScan small;
  Fista solver = small.solver({0.3f});
  run(solver, max_iterations(9));
  const Eigen::VectorXd exact =
      test::column(small.b) - test::dense(small.A) * test::column(solver.solution());
  const std::vector<double>& norms = solver.residual_norms();
  EXPECT_NEAR(std::hypot(norms[0], norms[1]), exact.norm(), tolerance::small_sum * exact.norm());
}

TEST(Fista, KeepsItsStartWhereNoRayGoes) {
  const LinearOperator nothing = 0 * projector(test::scan_of(3, 1, 5), test::grid_of(5, 5, 1));
  const Array x0 = random_array(nothing.domain(), 2);
  Fista solver(nothing, random_array(nothing.range(), 1), x0.clone(), total_variation(nothing.domain()), {1});
  run(solver, max_iterations(3));
  EXPECT_TRUE(test::same_bits(solver.solution(), x0));
}

TEST(Fista, ReadsNoMemoryThatNobodyHasSet) {
  if (!test::PoisonedMemory::works()) GTEST_SKIP() << "this allocator cannot fill what it gives";
  const SmallScan small;
  const auto solution = [&] {
    Array weights = small.b.clone();
    fill(weights, 1, default_stream(Device::cpu()));
    Fista solver = small.solver({0.3f}, std::move(weights));
    run(solver, max_iterations(4));
    return test::column(solver.solution());
  };
  const Eigen::VectorXd clean = solution();
  const test::PoisonedMemory poisoned;
  EXPECT_EQ(solution(), clean);
}

TEST(Fista, RefusesWhatMakesNoSense) {
  const SmallScan small;
  EXPECT_THROW(small.solver({-1}), GeometryError);
  EXPECT_THROW(small.solver({1, 1, 1}), SpaceError);
  EXPECT_THROW(small.solver({1}, {}, {.inner_steps = 0}), GeometryError);
  EXPECT_THROW(small.solver({1}, {}, {.bounds = {1, 1}}), GeometryError);
  Array weights = test::array_of(Eigen::VectorXd::Ones(small.A.range().size()), small.A.range());
  for (const float wrong : {-0.5f, NAN, INFINITY}) {
    weights.data()[5] = wrong;
    EXPECT_THROW(small.solver({1}, weights.clone()), GeometryError) << wrong;
  }
  EXPECT_THROW(Fista(small.A, Array(small.A.domain()), Array(small.A.domain()), small.tv, {1}), SpaceError);
}

}  // namespace
}  // namespace tandem
