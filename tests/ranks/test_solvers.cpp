// Solvers on vectors of several ranks: none knows of them, and each finds what one process finds.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <array>
#include <functional>

#include "../../operators/gradient.hpp"
#include "../../operators/vector.hpp"
#include "../../solvers/ba_gmres.hpp"
#include "../../solvers/cgls.hpp"
#include "../../solvers/fista.hpp"
#include "../../solvers/landweber.hpp"
#include "../../solvers/lsmr.hpp"
#include "../../solvers/lsqr.hpp"
#include "../../solvers/mlem.hpp"
#include "../../solvers/mltr.hpp"
#include "../../solvers/os_sirt.hpp"
#include "../../solvers/osem.hpp"
#include "../../solvers/pdhg.hpp"
#include "../../solvers/sirt.hpp"
#include "../../solvers/weight_search.hpp"
#include "../support/dense.hpp"
#include "../support/subsets.hpp"
#include "../support/tolerances.hpp"
#include "portions.hpp"

namespace tandem::test {
namespace {

struct Equation {
  LinearOperator A;
  Subsets subsets;
  Array b, weights;
};

template <IterativeSolver S>
Array after(int steps, S solver) {
  for (int k = 0; k < steps; ++k) solver.step({true});
  return std::move(solver).solution();
}

Array zero(const Equation& e) { return Array(e.A.domain()); }

struct Named {
  const char* name;
  std::function<Array(const Equation&)> solve;
};

const std::vector<Named> solvers{
    {"CGLS", [](const Equation& e) { return after(3, Cgls(e.A, e.b, zero(e))); }},
    {"LSQR", [](const Equation& e) { return after(3, Lsqr(e.A, e.b, zero(e))); }},
    {"LSMR", [](const Equation& e) { return after(3, Lsmr(e.A, e.b, zero(e))); }},
    {"BA-GMRES", [](const Equation& e) { return after(3, BaGmres(e.A, e.b, zero(e))); }},
    {"Landweber",
     [](const Equation& e) { return after(8, Landweber(e.A, e.b, zero(e), {.bounds = above_zero})); }},
    {"SIRT", [](const Equation& e) { return after(8, Sirt(e.A, e.b, zero(e), {.bounds = above_zero})); }},
    {"OS-SIRT", [](const Equation& e) { return after(3, OsSirt(e.subsets, e.b, zero(e))); }},
    {"MLEM", [](const Equation& e) { return after(8, Mlem(e.A, e.b, zero(e))); }},
    {"OSEM", [](const Equation& e) { return after(3, Osem(e.subsets, e.b, zero(e))); }},
    {"MLTR",
     [](const Equation& e) {
       Array blank(e.A.range());
       fill(blank, 30, default_stream(blank.space().device()));
       return after(8, Mltr(e.A, e.b, blank, zero(e)));
     }},
    {"CGLS with damping",
     [](const Equation& e) {
       const LinearOperator damped = vstack({e.A, 0.3f * gradient(e.A.domain())});
       Array b(damped.range());
       Stream& stream = default_stream(Device::cpu());
       axpby(1, e.b, 0, VectorView(b).part(0), stream);
       return after(3, Cgls(damped, b, zero(e)));
     }},
    {"PDHG",
     [](const Equation& e) {
       return after(10, Pdhg(e.A, e.b.clone(), zero(e), total_variation(e.A.domain()), {0.2f},
                             e.weights.clone(), {.bounds = above_zero}));
     }},
    {"FISTA", [](const Equation& e) {
       return after(5, Fista(e.A, e.b.clone(), zero(e), huber_total_variation(e.A.domain(), 0.1f), {0.2f},
                             e.weights.clone()));
     }}};

/// The equation of a body; each rank has its views of the data.
Equation equation(const ConeCase& c, bool over_ranks) {
  constexpr Index subsets = 4;
  const LinearOperator one = c.here();
  Random random(4);
  const Array b = one * uniform_array(one.domain(), random), weights = uniform_array(one.range(), random);
  if (!over_ranks) return {one, subsets_of(c.scan, c.grid, subsets), b.clone(), weights.clone()};
  const LinearOperator A = c.over_ranks();
  return {A, subsets_over_ranks(c, subsets), portion_of(b, A.range()), portion_of(weights, A.range())};
}

std::vector<ConeCase> cases() {
  return {{"odd", far_cone(19, 7, 23), box(13, 11, 5, 0.7)},
          {"line by line", far_cone(10, 7, 23), box(13, 11, 5, 0.7), 1},
          {"few views", far_cone(4, 7, 23), box(13, 11, 5, 0.7)},
          {"two lines", far_cone(19, 7, 23), box(13, 2, 5, 0.7)},
          {"one slice", far_cone(19, 3, 23), box(13, 11, 1, 0.7)}};
}

TEST(RankSolvers, FindTheVolumeOfOneProcess) {
  for (const ConeCase& c : cases()) {
    const Equation here = equation(c, false), there = equation(c, true);
    for (const Named& solver : solvers)
      EXPECT_LE(error_of(solver.solve(there), solver.solve(here)), tolerance::ranks)
          << solver.name << ", " << c.name;
  }
}

/// Iterates of CGLS in double, whose gradients are kept orthogonal: exact, as far as rounding of float goes.
std::vector<Eigen::VectorXd> exact_iterates(const Eigen::MatrixXd& A, const Eigen::VectorXd& b, int steps) {
  std::vector<Eigen::VectorXd> iterates, gradients;
  Eigen::VectorXd x = Eigen::VectorXd::Zero(A.cols()), r = b, s = A.transpose() * r, p = s;
  for (int k = 0; k < steps; ++k) {
    gradients.push_back(s.normalized());
    const Eigen::VectorXd q = A * p;
    const double alpha = q.dot(r) / q.squaredNorm(), before = s.squaredNorm();
    x += alpha * p, r -= alpha * q, s = A.transpose() * r;
    for (int again = 0; again < 2; ++again)
      for (const Eigen::VectorXd& one : gradients) s -= one.dot(s) * one;
    p = s + s.squaredNorm() / before * p;
    iterates.push_back(x);
  }
  return iterates;
}

/// From one step to the next CGLS magnifies rounding about tenfold, in double as in float, as soon as one
/// direction has converged: gradients are no longer orthogonal. So volumes of other orders of sums part. At
/// every step each is as far from the exact one as that of one process, but for luck.
TEST(RankSolvers, AreAsFarFromTheExactVolumeAsOneProcess) {
  constexpr Index n = 24;
  const ConeCase c{"fan", far_cone(30, 1, 36), box(n, n, 1, 1)};
  const LinearOperator one = c.here(), several = c.over_ranks();
  Random random(4);
  const Array b = one * uniform_array(one.domain(), random);
  const auto exact =
      exact_iterates(dense(one), Eigen::Map<const Eigen::VectorXf>(b.data(), b.size()).cast<double>(), 8);
  Cgls here(one, b, Array(one.domain())),
      there(several, portion_of(b, several.range()), Array(several.domain()));
  for (const Eigen::VectorXd& x : exact) {
    here.step({true}), there.step({true});
    Array truth(one.domain());
    Eigen::Map<Eigen::VectorXf>(truth.data(), truth.size()) = x.cast<float>();
    std::array squares{std::pow(error_of(there.solution(), truth), 2)};
    all().all_reduce(squares);
    EXPECT_LE(std::sqrt(squares[0]), tolerance::luck * error_of(here.solution(), truth));
  }
}

/// The weight of TV for data with noise. The volumes of the halves differ by noise that is wide enough for
/// several trials.
WeightFound weight_of(const Equation& e) {
  Stream& stream = default_stream(Device::cpu());
  Array noisy = e.b.clone(), first(e.A.domain()), other(e.A.domain());
  e.A.apply_adjoint(1e-3f, noisy, 0, other, stream);
  axpby(3, e.weights, 1, noisy, stream);
  e.A.apply_adjoint(1e-3f, noisy, 0, first, stream);
  return find_weight(e.A, std::move(noisy), {std::move(first), std::move(other)},
                     total_variation(e.A.domain()), e.weights.clone());
}

TEST(RankSolvers, FindTheWeightOfOneProcess) {
  for (const ConeCase& c : cases()) {
    const WeightFound one = weight_of(equation(c, false)), all = weight_of(equation(c, true));
    EXPECT_NEAR(all.weight / one.weight, 1, 1e3 * tolerance::ranks) << c.name;
    ASSERT_EQ(all.trials.size(), one.trials.size()) << c.name;
    EXPECT_GE(one.trials.size(), 2u) << c.name;
    for (std::size_t k = 0; k < one.trials.size(); ++k)
      EXPECT_NEAR(all.trials[k].error / one.trials[k].error, 1, 10 * tolerance::ranks) << c.name << ' ' << k;
  }
}

}  // namespace
}  // namespace tandem::test
