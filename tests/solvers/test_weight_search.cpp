#include "../../solvers/weight_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

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

/// Noise of the variance 1, each from 12 uniform numbers.
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

/// The odd views, or the even ones.
std::vector<Index> half_of_views(Index views, Index first) {
  std::vector<Index> some;
  for (Index view = first; view < views; view += 2) some.push_back(view);
  return some;
}

/// Ellipsoids from some views, with noise of a share of the largest line integral. `harden` changes line
/// integrals before noise comes to them.
struct NoisyScan {
  static constexpr Index bins = 91;
  Index views;
  ParallelBeam scan = test::scan_of(views, 1, bins);
  VolumeGrid grid = test::grid_of(64, 64, 1);
  LinearOperator A = projector(scan, grid, Model::joseph);
  Array truth = Array(A.domain()), b;
  Regulariser tv = total_variation(A.domain());

  explicit NoisyScan(float harden = 0, float noisy = 0.03f, Index all = 80) : views(all), b(A.range()) {
    voxelise(scaled(ellipsoids(), 32, 0.1), grid, {0, 1},
             {truth.data(), static_cast<std::size_t>(truth.size())});
    b = A * truth;
    float largest = 0;
    for (Index i = 0; i < b.size(); ++i) largest = std::max(largest, b.data()[i]);
    for (Index i = 0; i < b.size(); ++i) b.data()[i] *= 1 - harden * b.data()[i] / largest;
    add_noise(noisy * largest, 3);
  }
  void add_noise(float size, std::uint64_t seed) {
    const Array noise = noise_of(b.space(), seed);
    axpby(size, noise, 1, b, default_stream(Device::cpu()));
  }
  void scale(float factor) { axpby(factor, b.clone(), 0, b, default_stream(Device::cpu())); }

  struct Half {
    LinearOperator A;
    Array b;
    LinearOperator F;
    Array fbp = F * b;
  };
  Half half(Index first) const {
    const std::vector<Index> some = half_of_views(views, first);
    const Scan part = with_views(scan, some);
    LinearOperator P = projector(part, grid, Model::joseph);
    Array data(P.range());
    for (std::size_t k = 0; k < some.size(); ++k)
      std::copy_n(b.data() + some[k] * bins, bins, data.data() + static_cast<Index>(k) * bins);
    LinearOperator F = fbp(P, std::get<ParallelBeam>(part), grid, {});
    return {std::move(P), std::move(data), std::move(F)};
  }

  WeightFound found(const ObserveTrial& observe = {}) const {
    const Half one = half(0), two = half(1);
    const auto aliases = [&](const Array& x) {
      Array of_second = two.F * (two.A * x);
      axpby(-0.5f, one.F * (one.A * x), 0.5f, of_second, default_stream(Device::cpu()));
      return of_second;
    };
    return find_weight(one.A, one.b.clone(), {one.fbp.clone(), two.fbp.clone(), aliases}, tv, {}, {},
                       observe);
  }

  WeightFound found_of_an_arc() const {
    const Half one = half(0), two = half(1);
    return find_weight(one.A, one.b.clone(), {one.fbp.clone(), two.fbp.clone(), {}, true}, tv);
  }

  double error_with(double weight) const {
    Pdhg solver(A, b.clone(), fbp(A, scan, grid, {}) * b, tv, {static_cast<float>(weight)});
    run(solver, max_iterations(200));
    return test::relative_error(solver.solution(), truth);
  }
  /// The error for the weight that is found, over the least one.
  double above_the_least() const {
    const double weight = found().weight;
    double least = INFINITY;
    for (double factor = 1.0 / 8; factor <= 8; factor *= 2)
      least = std::min(least, error_with(factor * weight));
    return error_with(weight) / least;
  }
};

/// Views of an arc have no halves that could judge each other. So the weight follows from noise.
TEST(WeightSearch, OfAnArcHasNoTrialsAndAShareOfTheFirstWeight) {
  const NoisyScan scan;
  const WeightFound arc = scan.found_of_an_arc();
  EXPECT_TRUE(arc.trials.empty());
  EXPECT_NEAR(arc.weight / scan.found().trials.front().weight, 0.3, 1e-5);
}

TEST(WeightSearch, FindsAWeightThatIsAlmostTheBest) {
  for (const float noise : {0.01f, 0.03f, 0.2f})
    EXPECT_LE(NoisyScan(0, noise).above_the_least(), 1.15) << noise;
}

/// What is wrong in all views alike is no noise. A search by rays that are held out took a weight many times
/// too large here.
TEST(WeightSearch, OfAHardenedBeamIsAlmostTheBestToo) {
  EXPECT_LE(NoisyScan(0.3f).above_the_least(), 1.15);
  EXPECT_LE(NoisyScan(0.3f).found().weight / NoisyScan().found().weight, 1.5f);
}

TEST(WeightSearch, HalvesTheWeightUntilErrorsRise) {
  const NoisyScan noisy(0, 0.003f);
  std::vector<WeightTrial> seen;
  double applications = 0;
  const WeightFound found = noisy.found([&](const WeightTrial& trial, double until_now) {
    seen.push_back(trial);
    EXPECT_GT(until_now, applications);
    applications = until_now;
  });
  EXPECT_EQ(applications, found.applications);
  const std::vector<WeightTrial>& trials = found.trials;
  ASSERT_GE(trials.size(), 3u);
  EXPECT_EQ(seen.size(), trials.size());
  for (std::size_t k = 1; k < trials.size(); ++k) {
    EXPECT_EQ(trials[k].weight, trials[k - 1].weight / 2);
    EXPECT_EQ(trials[k].error > trials[k - 1].error, k + 1 == trials.size());
  }
  // the vertex of a parabola is within half a step of the least of three
  EXPECT_NEAR(std::log2(static_cast<double>(found.weight) / trials.end()[-2].weight), 0, 0.5001);
  EXPECT_EQ(noisy.found().weight, found.weight);
}

/// More noise takes more regularisation. The weight is in units of the data: for data twice as large it is
/// twice as large.
TEST(WeightSearch, GoesWithTheNoiseAndWithTheUnit) {
  NoisyScan noisy;
  const float weight = noisy.found().weight;
  noisy.scale(2);
  EXPECT_NEAR(noisy.found().weight, 2 * weight, 1e-4 * static_cast<double>(weight));
  noisy.add_noise(1, 4);
  EXPECT_GT(noisy.found().weight, 2 * weight);
}

TEST(WeightSearch, DataWithoutWeightDoNotCount) {
  const NoisyScan noisy;
  const NoisyScan::Half one = noisy.half(0), two = noisy.half(1);
  Array weights(one.b.space());
  fill(weights, 1, default_stream(Device::cpu()));
  for (Index i = 0; i < weights.size(); i += 7) weights.data()[i] = 0;
  const auto with = [&](float wrong) {
    Array b = one.b.clone();
    for (Index i = 0; i < b.size(); i += 7) b.data()[i] = wrong;
    return find_weight(one.A, std::move(b), {one.fbp.clone(), two.fbp.clone()}, noisy.tv, weights.clone())
        .trials;
  };
  const auto some = with(0), others = with(1e3f);
  ASSERT_FALSE(some.empty());
  ASSERT_EQ(some.size(), others.size());
  for (std::size_t k = 0; k < some.size(); ++k) {
    EXPECT_EQ(some[k].weight, others[k].weight);
    EXPECT_EQ(some[k].error, others[k].error);
  }
}

TEST(WeightSearch, RefusesVolumesOfAnotherGrid) {
  const NoisyScan noisy;
  const NoisyScan::Half one = noisy.half(0);
  const Array other(Space({1, 32, 32}));
  EXPECT_THROW(find_weight(one.A, one.b.clone(), {one.fbp.clone(), other.clone()}, noisy.tv), SpaceError);
  EXPECT_THROW(find_weight(one.A, one.b.clone(), {other.clone(), one.fbp.clone()}, noisy.tv), SpaceError);
}

TEST(WeightSearch, NeedsNoTrialWithoutNoise) {
  const NoisyScan noisy;
  const NoisyScan::Half one = noisy.half(0);
  const WeightFound found = find_weight(one.A, one.b.clone(), {one.fbp.clone(), one.fbp.clone()}, noisy.tv);
  EXPECT_EQ(found.weight, 0);
  EXPECT_TRUE(found.trials.empty());
}

/// Floats hold neither the squares of the differences nor their roots.
TEST(WeightSearch, NeedsNoTrialOfNumbersWithoutSquares) {
  for (const float factor : {1e-30f, 1e25f}) {
    NoisyScan noisy;
    noisy.scale(factor);
    const WeightFound found = noisy.found();
    EXPECT_EQ(found.weight, 0) << factor;
    EXPECT_TRUE(found.trials.empty()) << factor;
  }
}

}  // namespace
}  // namespace tandem
