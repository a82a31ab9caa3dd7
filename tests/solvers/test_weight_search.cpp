#include "../../solvers/weight_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../../core/error.hpp"
#include "../../core/random.hpp"
#include "../../geometry/phantom.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/fbp.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/vector.hpp"
#include "../../solvers/pdhg.hpp"
#include "../support/operators.hpp"
#include "../support/scans.hpp"

namespace tandem {
namespace {

/// Of the variance 1, from 12 uniform ones.
Array noise_of(const Space& space, std::uint64_t seed) {
  Random random(seed);
  Array noise(space);
  for (Index i = 0; i < noise.size(); ++i) {
    double sum = -6;
    for (int k = 0; k < 12; ++k) sum += random.uniform();
    noise.data()[i] = static_cast<float>(sum);
  }
  return noise;
}

/// Ellipsoids from 40 views with noise of 3 % of the largest line integral.
struct NoisyScan {
  ParallelBeam scan = test::scan_of(40, 1, 91);
  VolumeGrid grid = test::grid_of(64, 64, 1);
  LinearOperator A = projector(scan, grid, Model::joseph);
  Array truth = Array(A.domain()), b, x0;
  Regulariser tv = total_variation(A.domain());

  NoisyScan() : b(A.range()), x0(A.domain()) {
    voxelise(scaled(ellipsoids(), 32, 0.1), grid, {0, 1},
             {truth.data(), static_cast<std::size_t>(truth.size())});
    b = A * truth;
    float largest = 0;
    for (Index i = 0; i < b.size(); ++i) largest = std::max(largest, b.data()[i]);
    const Array noise = noise_of(b.space(), 3);
    axpby(0.03f * largest, noise, 1, b, default_stream(Device::cpu()));
    x0 = fbp(A, scan, grid, {}) * b;
  }

  WeightFound found(const WeightSearch& how = {}) const { return find_weight(A, b.clone(), x0, tv, {}, how); }

  double error_with(double weight) const {
    Pdhg solver(A, b.clone(), x0.clone(), tv, {static_cast<float>(weight)});
    run(solver, max_iterations(200));
    return test::relative_error(solver.solution(), truth);
  }
};

TEST(WeightSearch, FindsAWeightThatIsAlmostTheBest) {
  const NoisyScan noisy;
  const WeightFound found = noisy.found();
  double least = INFINITY;
  for (double factor = 1.0 / 8; factor <= 8; factor *= 2)
    least = std::min(least, noisy.error_with(factor * static_cast<double>(found.weight)));
  EXPECT_LE(noisy.error_with(static_cast<double>(found.weight)), 1.15 * least);  // 1.2 dB
}

TEST(WeightSearch, HalvesTheWeightUntilErrorsRise) {
  const NoisyScan noisy;
  std::vector<WeightTrial> seen;
  const WeightFound found = find_weight(noisy.A, noisy.b.clone(), noisy.x0, noisy.tv, {}, {},
                                        [&](const WeightTrial& trial) { seen.push_back(trial); });
  ASSERT_GE(found.trials.size(), 3u);
  EXPECT_GE(seen.size(), found.trials.size());
  for (std::size_t k = 1; k < found.trials.size(); ++k)
    EXPECT_EQ(found.trials[k].weight, 0.5 * found.trials[k - 1].weight);
  const WeightTrial& best = *std::ranges::min_element(found.trials, {}, &WeightTrial::error);
  EXPECT_GT(found.trials.back().error, best.error);
  EXPECT_GT(best.uncertainty, 0.4 * best.error / std::sqrt(0.094 * 40 * 91));  // three quarters of an eighth
  EXPECT_LT(best.uncertainty, 0.8 * best.error / std::sqrt(0.094 * 40 * 91));  // 0.57 of a normal deviate
  const double most = best.error + std::max(best.uncertainty, WeightSearch{}.settled * best.error);
  for (const WeightTrial& trial : found.trials)
    EXPECT_TRUE(trial.error <= most ? static_cast<float>(trial.weight) <= found.weight
                                    : static_cast<float>(trial.weight) != found.weight);
  EXPECT_EQ(noisy.found().weight, found.weight);
}

/// As FBP is where views are missing.
TEST(WeightSearch, AFirstVolumeFarFromTheDataDoesNoHarm) {
  NoisyScan noisy;
  const float good = noisy.found().weight;
  axpby(0, noisy.x0.clone(), 0.05f, noisy.x0, default_stream(Device::cpu()));
  const float found = noisy.found().weight;
  EXPECT_LE(noisy.error_with(static_cast<double>(found)), 1.15 * noisy.error_with(static_cast<double>(good)))
      << found << " in the place of " << good;
}

/// More noise, more regularisation; and the weight is in units of the data: of twice the data it is twice as
/// large.
TEST(WeightSearch, GoesWithTheNoiseAndWithTheUnit) {
  NoisyScan noisy;
  const float weight = noisy.found().weight;
  Stream& stream = default_stream(Device::cpu());
  axpby(2, noisy.b.clone(), 0, noisy.b, stream);
  axpby(2, noisy.x0.clone(), 0, noisy.x0, stream);
  EXPECT_NEAR(noisy.found().weight, 2 * weight, 1e-4 * static_cast<double>(weight));
  const Array more = noise_of(noisy.b.space(), 4);
  axpby(1, more, 1, noisy.b, stream);
  EXPECT_GT(noisy.found().weight, 2 * weight);
}

TEST(WeightSearch, DataWithoutWeightDoNotCount) {
  NoisyScan noisy;
  Array weights(noisy.b.space());
  fill(weights, 1, default_stream(Device::cpu()));
  for (Index i = 0; i < weights.size(); i += 7) weights.data()[i] = 0;
  const auto with = [&](float wrong) {
    Array b = noisy.b.clone();
    for (Index i = 0; i < b.size(); i += 7) b.data()[i] = wrong;
    return find_weight(noisy.A, std::move(b), noisy.x0, noisy.tv, weights.clone(), {.most_steps = 20}).trials;
  };
  const auto some = with(0), others = with(1e3f);
  ASSERT_FALSE(some.empty());
  ASSERT_EQ(some.size(), others.size());
  for (std::size_t k = 0; k < some.size(); ++k) {
    EXPECT_EQ(some[k].weight, others[k].weight);
    EXPECT_EQ(some[k].error, others[k].error);
  }
}

TEST(WeightSearch, RefusesWhatMakesNoSense) {
  const NoisyScan noisy;
  for (const double share : {0.0, 1.0, -0.5}) EXPECT_THROW(noisy.found({.share = share}), GeometryError);
  EXPECT_THROW(noisy.found({.together = 0}), GeometryError);
  const Array flat = zeros(noisy.A.domain(), default_stream(Device::cpu()));
  EXPECT_THROW(find_weight(noisy.A, noisy.b.clone(), flat, noisy.tv), GeometryError);
}

}  // namespace
}  // namespace tandem
