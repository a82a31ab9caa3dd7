// The end of what noise allows, without knowing the noise.

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "../../core/error.hpp"
#include "../../geometry/phantom.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/random.hpp"
#include "../../pipeline/simulate.hpp"
#include "../../solvers/ba_gmres.hpp"
#include "../../solvers/cgls.hpp"
#include "../../solvers/lsmr.hpp"
#include "../../solvers/lsqr.hpp"
#include "../../solvers/sirt.hpp"
#include "../support/dense.hpp"
#include "../support/led.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

/// Exact line integrals of a phantom, the largest 3, with the noise of counting, and the truth.
struct Counted {
  static constexpr Index n = 64;
  ParallelBeam scan{.detector = {.bins = n, .axis_bin = 31.5},
                    .angles = test::regular_angles(90, std::numbers::pi)};
  VolumeGrid grid = fitting_grid(scan);
  LinearOperator A = projector(scan, grid);
  Array y{projection_space(scan)}, truth{volume_space(grid)};
  double noise = 0;

  Counted(const std::string& name, double photons) {
    Phantom phantom = scaled(named_phantom(name, 1), half_width(grid), 1);
    phantom = scaled(phantom, 1, 3 / largest_line_integral(phantom, scan));
    project(phantom, scan, {0, 1}, {y.data(), static_cast<std::size_t>(y.size())});
    voxelise(phantom, grid, {0, 1}, {truth.data(), static_cast<std::size_t>(truth.size())});
    Random random(1);
    for (Index i = 0; i < y.size(); ++i) {
      const double mean = photons * std::exp(-static_cast<double>(y.data()[i]));
      const auto count = std::max(0.5, static_cast<double>(pipeline::poisson(mean, random)));
      y.data()[i] = static_cast<float>(std::log(photons / count));
      noise += 1 / count;
    }
    noise = std::sqrt(noise);
  }

  double error(const Array& x) const {
    double square = 0;
    for (Index i = 0; i < x.size(); ++i)
      square += std::pow(static_cast<double>(x.data()[i]) - truth.data()[i], 2);
    return std::sqrt(square);
  }
};

/// Errors of the best step, of the step at which a noise stops that is claimed to be 1.4 times smaller, and
/// of the step at which stagnation stops. All steps are gone through.
struct Errors {
  double best = INFINITY, claimed = 0, stopped = 0;
  int steps = 0;
};

template <class S>
Errors errors_of(const Counted& scan, S solver, int steps, std::optional<StopRule> asked = {}) {
  const StopRule claimed = discrepancy({scan.noise / 1.4}),
                 rule = asked ? *asked : stagnation(solver, {scan.y.size()});
  Errors errors;
  const auto take = [](double& place, double error) { place = place > 0 ? place : error; };
  run(solver, max_iterations(steps), [&](const Progress& now) {
    const double error = scan.error(now.solution);
    errors.best = std::min(errors.best, error);
    if (now.iteration == steps || !held(claimed, now, 0).empty()) take(errors.claimed, error);
    if (errors.steps == 0 && held(rule, now, 0) == rule.name)
      errors.stopped = error, errors.steps = now.iteration;
  });
  return errors;
}

void expect_near_the_best(const Errors& errors, double beyond, const std::string& what) {
  ASSERT_GT(errors.steps, 0) << what << " never stagnates";
  EXPECT_LE(errors.stopped, tolerance::near_the_best_step * errors.best) << what;
  EXPECT_GE(errors.claimed, beyond * errors.best) << what << ": the noise claimed does no harm";
}

TEST(Stagnation, StopsCglsNearItsBestStepWhateverTheNoiseClaimed) {
  for (const char* phantom : {"foam", "ellipsoids", "shepp-logan"})
    for (double photons : {300.0, 3000.0}) {
      const Counted scan(phantom, photons);
      const Errors errors = errors_of(scan, Cgls(scan.A, scan.y, Array(scan.A.domain())), 30);
      expect_near_the_best(errors, 1.3, phantom + std::to_string(photons));
    }
}

template <class S>
class NearTheBest : public ::testing::Test {};
using KrylovSolvers = ::testing::Types<Cgls, Lsqr, Lsmr, BaGmres>;
TYPED_TEST_SUITE(NearTheBest, KrylovSolvers);

TYPED_TEST(NearTheBest, StopsByStagnation) {
  for (const char* phantom : {"foam", "ellipsoids"})
    for (double photons : {300.0, 3000.0}) {
      const Counted scan(phantom, photons);
      const Errors errors = errors_of(scan, TypeParam(scan.A, scan.y, Array(scan.A.domain())), 30);
      expect_near_the_best(errors, 1, phantom + std::to_string(photons));
    }
}

TYPED_TEST(NearTheBest, StopsByCrossValidation) {
  for (const char* phantom : {"foam", "ellipsoids"})
    for (double photons : {300.0, 3000.0, 30000.0}) {
      const Counted scan(phantom, photons);
      test::Led<TypeParam> led(scan.A, scan.y);
      const StopRule rule = cross_validation([&] { return led.freedom(); }, {scan.y.size()}, 1.4);
      const Report report = run(led, rule || max_iterations(50));
      EXPECT_EQ(report.stopped_by.front(), "gcv") << phantom << photons;
      const Errors all = errors_of(scan, TypeParam(scan.A, scan.y, Array(scan.A.domain())), 50);
      EXPECT_LE(scan.error(led.solution()), tolerance::near_the_least_of_gcv * all.best)
          << phantom << photons;
    }
}

TYPED_TEST(NearTheBest, StopsByAWhiteResidual) {
  for (const char* phantom : {"foam", "ellipsoids", "shepp-logan"})
    for (double photons : {300.0, 3000.0, 30000.0}) {
      const Counted scan(phantom, photons);
      const Errors errors =
          errors_of(scan, TypeParam(scan.A, scan.y, Array(scan.A.domain())), 50, white_residual());
      ASSERT_GT(errors.steps, 0) << phantom << photons;
      EXPECT_LE(errors.stopped, tolerance::near_the_whitest_step * errors.best) << phantom << photons;
    }
}

TEST(WhiteResidual, StopsSirtNearItsBestStep) {
  const Counted scan("foam", 300);
  const Errors errors = errors_of(scan, Sirt(scan.A, scan.y, Array(scan.A.domain())), 250, white_residual());
  ASSERT_GT(errors.steps, 0);
  EXPECT_LE(errors.stopped, tolerance::near_the_whitest_step * errors.best);
}

TEST(WhiteResidual, NeedsASolverThatShowsIt) {
  const Counted scan("disc", 300);
  const std::vector<double> norms{1};
  EXPECT_THROW(static_cast<void>(held(white_residual(), {1, norms, norms, 0, scan.truth}, 0)), SpaceError);
}

TEST(Stagnation, StopsSirtNearItsBestStepWhateverTheNoiseClaimed) {
  for (float relaxation : {1.0f, 1.7f}) {
    const Counted scan("foam", 300);
    const Errors free =
        errors_of(scan, Sirt(scan.A, scan.y, Array(scan.A.domain()), {.relaxation = relaxation}), 250);
    expect_near_the_best(free, 1.5, "free");
    const Errors positive =
        errors_of(scan, Sirt(scan.A, scan.y, Array(scan.A.domain()), {relaxation, above_zero}), 250);
    expect_near_the_best(positive, 1.2, "not negative");
  }
}

/// Errors that no volume explains, and that no noise estimate knows.
TEST(Stagnation, StopsNearTheBestStepWhereTheModelErrs) {
  Counted scan("ellipsoids", 3000);
  Random random(7);
  for (Index bin = 0; bin < Counted::n; ++bin) {
    const auto ring = static_cast<float>(0.1 * (2 * random.uniform() - 1));
    for (Index view = 0; view < 90; ++view) scan.y.data()[view * Counted::n + bin] += ring;
  }
  const Errors errors = errors_of(scan, Cgls(scan.A, scan.y, Array(scan.A.domain())), 30);
  expect_near_the_best(errors, 1.5, "rings");
}

TEST(Stagnation, NeedsAStepAndASolverThatTellsItsReach) {
  const Counted scan("disc", 300);
  const StopRule rule = stagnation({1e30}, {1});
  const std::vector<double> norms{1}, falls{1};
  Progress now{0, norms, norms, 0, scan.truth, falls};
  EXPECT_EQ(held(rule, now, 0), "");
  now.iteration = 1;
  EXPECT_EQ(held(rule, now, 0), "stagnation");
  now.falls = {};
  EXPECT_THROW(static_cast<void>(held(rule, now, 0)), SpaceError);
  EXPECT_EQ(held(stagnation({2}, {3}), {1, norms, norms, 0, scan.truth, falls}, 0), "stagnation");
  EXPECT_EQ(held(stagnation({1.9}, {3}), {1, norms, norms, 0, scan.truth, falls}, 0), "");  // 0.95 of 1
}

struct Small {
  ParallelBeam scan = test::scan_of(13, 3, 17);
  VolumeGrid grid = test::grid_of(11, 11, 3);
  LinearOperator A = projector(scan, grid);
  Eigen::MatrixXd matrix = test::block_matrix(A);
  Array y{A.range()};
  Small() {
    Random random(5);
    y = uniform_array(A.range(), random);
  }
};

TEST(Stagnation, TracesAreThoseOfEachBlock) {
  const Small small;
  const Eigen::MatrixXd& A = small.matrix;
  const Eigen::VectorXd r = A.rowwise().sum(), c = A.colwise().sum();
  const auto inverse = [](double s) { return s > 1e-6 ? 1 / s : 0.0; };
  const Eigen::MatrixXd normal =
      A * c.unaryExpr(inverse).asDiagonal() * A.transpose() * r.unaryExpr(inverse).asDiagonal();
  Cgls cgls(small.A, small.y, Array(small.A.domain()));
  Sirt sirt(small.A, small.y, Array(small.A.domain()));
  Array signs(small.A.range());
  fill_with_signs(signs, 1, default_stream(Device::cpu()));
  Eigen::VectorXd w(A.rows());
  for (Eigen::Index i = 0; i < w.size(); ++i) w(i) = signs.data()[test::element(signs.space(), 1, i)];
  EXPECT_NEAR(w.mean(), 0, tolerance::deviations / std::sqrt(static_cast<double>(w.size())));
  const Eigen::MatrixXd plain = A * A.transpose();
  const std::vector<double> of_cgls = cgls.traces(), of_sirt = sirt.traces();
  ASSERT_EQ(of_cgls.size(), 3u);
  for (std::size_t k = 0; k < 3; ++k) {  // the same signs in every block
    EXPECT_NEAR(of_cgls[k], w.dot(plain * w), tolerance::small_sum * of_cgls[k]);
    EXPECT_NEAR(of_sirt[k], w.dot(normal * w), tolerance::small_sum * of_sirt[k]);
  }
  // Hutchinson: the variance of an estimate with signs is twice the sum of squares off the diagonal
  const auto near_trace = [&](const Eigen::MatrixXd& m, double estimate) {
    const Eigen::MatrixXd even = 0.5 * (m + m.transpose());
    const double variance = 2 * (even.squaredNorm() - even.diagonal().squaredNorm());
    EXPECT_NEAR(estimate, m.trace(), tolerance::deviations * std::sqrt(variance));
  };
  near_trace(plain, of_cgls[0]);
  near_trace(normal, of_sirt[0]);
}

TEST(Stagnation, AskingForTracesChangesNoStep) {
  const Small small;
  const auto solved = [&](auto solver, bool ask) {
    for (int k = 0; k < 4; ++k) {
      if (ask) solver.traces();
      solver.step(ActiveBlocks(3, true));
    }
    return std::vector<float>(solver.solution().data(), solver.solution().data() + 363);
  };
  const auto cgls = [&] { return Cgls(small.A, small.y, Array(small.A.domain())); };
  const auto sirt = [&] { return Sirt(small.A, small.y, Array(small.A.domain())); };
  EXPECT_EQ(solved(cgls(), true), solved(cgls(), false));
  EXPECT_EQ(solved(sirt(), true), solved(sirt(), false));
}

/// The polynomial of CGLS, p <- p - alpha s q, q <- p + beta q, in double: its slope at zero is the reach.
TEST(Stagnation, CglsFallsByItsGradientAUnitOfReach) {
  const Small small;
  const Eigen::Index data = small.matrix.rows();
  Eigen::VectorXd r(data);
  for (Eigen::Index i = 0; i < data; ++i) r(i) = small.y.data()[test::element(small.y.space(), 0, i)];
  Eigen::VectorXd s = small.matrix.transpose() * r, p = s;
  Cgls solver(small.A, small.y, Array(small.A.domain()));
  double slope = 0, direction = 1;
  for (int k = 0; k < 5; ++k) {
    const Eigen::VectorXd q = small.matrix * p;
    const double gamma = s.squaredNorm(), alpha = gamma / q.squaredNorm(), before = r.squaredNorm();
    r -= alpha * q;
    slope += alpha * direction;
    EXPECT_NEAR(solver.falls()[0], (before - r.squaredNorm()) / (alpha * direction),
                tolerance::solver_steps * solver.falls()[0]);
    s = small.matrix.transpose() * r;
    const double beta = s.squaredNorm() / gamma;
    p = s + beta * p;
    direction = 1 + beta * direction;
    solver.step(ActiveBlocks(3, true));
  }
  EXPECT_GT(slope, 0);
}

TEST(Stagnation, SirtFallsByItsLastStepOverTheRelaxation) {
  const Small small;
  Sirt solver(small.A, small.y, Array(small.A.domain()), {.relaxation = 0.5f});
  EXPECT_EQ(solver.falls()[1], INFINITY);
  const double before = solver.residual_norms()[1];
  solver.step(ActiveBlocks(3, true));
  const double after = solver.residual_norms()[1];
  EXPECT_NEAR(solver.falls()[1], (before * before - after * after) / 0.5,
              tolerance::double_rounding * before * before);
}

}  // namespace
}  // namespace tandem
