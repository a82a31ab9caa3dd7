#include "../../solvers/weight/weight_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/random.hpp"
#include "../../geometry/phantom.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/fbp.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/vector.hpp"
#include "../../solvers/pdhg.hpp"
#include "../../solvers/weight/error_curve.hpp"
#include "../../solvers/weight/wider.hpp"
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

TEST(WeightSearch, HalvesTheWeightUntilErrorsNoLongerFall) {
  const NoisyScan noisy;
  std::vector<WeightTrial> seen;
  double applications = 0;
  const WeightFound found = find_weight(noisy.A, noisy.b.clone(), noisy.x0, noisy.tv, {}, {}, {},
                                        [&](const WeightTrial& trial, double until_now) {
                                          seen.push_back(trial);
                                          EXPECT_GT(until_now, applications);
                                          applications = until_now;
                                        });
  EXPECT_EQ(applications, found.applications);
  ASSERT_GE(found.trials.size(), 3u);
  EXPECT_GE(seen.size(), found.trials.size());
  std::vector<WeightTrial> trials = found.trials;
  std::ranges::sort(trials, {}, &WeightTrial::weight);
  for (std::size_t k = 1; k < trials.size(); ++k) EXPECT_EQ(trials[k].weight, 2 * trials[k - 1].weight);
  const WeightTrial& best = *std::ranges::min_element(trials, {}, &WeightTrial::error);
  EXPECT_GT(trials.front().error, 0.99 * best.error);
  EXPECT_GT(best.uncertainty, 0.4 * best.error / std::sqrt(0.094 * 40 * 91));  // three quarters of an eighth
  EXPECT_LT(best.uncertainty, 0.8 * best.error / std::sqrt(0.094 * 40 * 91));  // 0.57 of a normal deviate
  // the largest weight that cannot be told from the best one lies between two trials
  const double most = best.error * (1 + std::max(best.uncertainty / best.error, 0.01)),
               largest = 1.5 * static_cast<double>(found.weight);
  std::size_t last = trials.size() - 1;
  while (trials[last].error > most) --last;
  EXPECT_GT(largest, 0.999 * trials[last].weight);
  if (last + 1 < trials.size()) {
    EXPECT_LT(largest, 1.001 * trials[last + 1].weight);
  }
  EXPECT_EQ(noisy.found().weight, found.weight);
}

VolumeGrid bin_down(const VolumeGrid& grid, std::size_t axes) {
  VolumeGrid wider = grid;
  for (std::size_t i = 0; i < axes; ++i) {
    wider.size[i] = (grid.size[i] + 1) / 2;
    wider.centre[i] += 0.5 * static_cast<double>(2 * wider.size[i] - grid.size[i]) * grid.pitch[i];
    wider.pitch[i] *= 2;
  }
  return wider;
}

/// The same slice in cells and voxels 2, 4, ... times as wide.
std::vector<CoarserProblem> coarser(const NoisyScan& noisy, int levels) {
  std::vector<CoarserProblem> all;
  ParallelBeam scan = noisy.scan;
  VolumeGrid grid = noisy.grid;
  for (int k = 0; k < levels; ++k) {
    scan = bin_down(scan, 1, true);
    grid = bin_down(grid, 2);
    LinearOperator A = projector(scan, grid, Model::joseph);
    Regulariser tv = total_variation(A.domain());
    all.push_back({std::move(A), std::move(tv), weights_times_of(1, 2)});
  }
  return all;
}

/// Half of what the finest problem alone takes, where the coarsest one is still a quarter of it; see the
/// tests of `tv` for larger ones. Two searches of one kind of scan agree within the step of the weights.
TEST(WeightSearch, InWiderVoxelsFirstCostsLessAndIsAsGood) {
  const NoisyScan noisy;
  const WeightFound alone = noisy.found();
  const WeightFound found =
      find_weight(noisy.A, noisy.b.clone(), noisy.x0, noisy.tv, {}, {}, coarser(noisy, 1));
  EXPECT_LT(found.applications, 0.75 * alone.applications);
  EXPECT_LT(std::abs(std::log2(found.weight / alone.weight)), 1);
  EXPECT_LE(noisy.error_with(static_cast<double>(found.weight)),
            1.05 * noisy.error_with(static_cast<double>(alone.weight)));
  for (const WeightTrial& trial : found.trials) EXPECT_TRUE(trial.wider == 1 || trial.wider == 2);
  EXPECT_EQ(found.trials.back().wider, 1);
}

/// Half the squares of a smooth function and its variation, as sums over cells and voxels: the weight that
/// keeps their ratio.
TEST(WeightSearch, WeightsOfWiderVoxelsKeepTheContinuousProblem) {
  constexpr Index n = 96;
  const auto variation = [](const VolumeGrid& grid) {
    Array x(Space(grid.shape()));
    const Image<float> voxels = image(VectorView(x));
    const auto bump = [](double t) { return std::exp(-t * t / 200); };
    for (Index z = 0; z < voxels.n0; ++z)
      for (Index y = 0; y < voxels.n1; ++y)
        for (Index i = 0; i < voxels.n2; ++i) {
          const auto at = [](Index k) { return static_cast<double>(k); };
          voxels(z, y, i) =
              static_cast<float>(bump(grid.x(at(i))) * bump(grid.y(at(y))) * bump(grid.z(at(z))));
        }
    const Regulariser tv = total_variation(x.space());
    return tv.value(tv.K * x, default_stream(Device::cpu()))[0];
  };
  for (const int axes : {2, 3}) {
    const VolumeGrid grid{{n, n, axes == 3 ? n : 1}, {1, 1, 1}, {0, 0, 0}};
    const double ratio = variation(bin_down(grid, static_cast<std::size_t>(axes))) / variation(grid);
    EXPECT_NEAR(ratio, std::exp2(1 - axes), 0.01 * ratio) << axes;
    for (const int cells : {1, 2})
      EXPECT_EQ(weights_times_of(cells, axes) * std::exp2(1 - axes), std::exp2(-cells));
  }
}

TEST(WiderCells, HoldWeightedMeans) {
  Array y(Space({1, 2, 5})), w(Space({1, 2, 5}));
  const std::vector<float> values{1, 2, 3, 4, 9, 5, 6, 7, 8, 9}, weights{1, 1, 0, 0, 1, 1, 3, 0, 0, 1};
  std::ranges::copy(values, y.data()), std::ranges::copy(weights, w.data());
  const WeighedData data{y.clone(), w.clone()}, bins = in_wider_cells(data, Space({1, 2, 2})),
                                                both = in_wider_cells(data, Space({1, 1, 2}));
  const std::array<float, 4> means{1.5f, 0, 5.75f, 0}, of_means{1, 0, 2, 0};
  for (Index i = 0; i < 4; ++i) {
    EXPECT_EQ(bins.values.data()[i], means[static_cast<std::size_t>(i)]);
    EXPECT_EQ(bins.weights.data()[i], of_means[static_cast<std::size_t>(i)]);
  }
  EXPECT_FLOAT_EQ(both.values.data()[0], (1 + 2 + 5 + 3 * 6) / 6.0f);
  EXPECT_EQ(both.weights.data()[0], 1.5f);
  EXPECT_THROW(in_wider_cells(data, Space({1, 2, 4})), SpaceError);
}

/// A linear function, away from the ends, of volumes with odd and even sizes and one slice or several.
TEST(NarrowerVoxels, TakeLinearFunctionsFromWiderOnes) {
  for (const Shape& shape : {Shape{1, 7, 10}, Shape{6, 9, 8}, Shape{5, 6, 7}}) {
    const VolumeGrid grid{{shape[2], shape[1], shape[0]}, {1, 1, 1}, {0.3, 0, -2}};
    const VolumeGrid wider = bin_down(grid, shape[0] > 1 ? 3 : 2);
    const auto filled = [](const VolumeGrid& on) {
      Array x(Space(on.shape()));
      const Image<float> voxels = image(VectorView(x));
      for (Index z = 0; z < voxels.n0; ++z)
        for (Index y = 0; y < voxels.n1; ++y)
          for (Index i = 0; i < voxels.n2; ++i)
            voxels(z, y, i) =
                static_cast<float>(1 + on.x(static_cast<double>(i)) + 3 * on.y(static_cast<double>(y)) +
                                   5 * on.z(static_cast<double>(z)));
      return x;
    };
    const Array truth = filled(grid), found = in_narrower_voxels(filled(wider), truth.space());
    const Image<const float> a = image(ConstVectorView(truth)), b = image(ConstVectorView(found));
    const Index edge = shape[0] > 1 ? 1 : 0;
    for (Index z = edge; z < a.n0 - 2 * edge; ++z)
      for (Index y = 1; y < a.n1 - 2; ++y)
        for (Index i = 1; i < a.n2 - 2; ++i) EXPECT_NEAR(b(z, y, i), a(z, y, i), 1e-4) << z << y << i;
  }
}

/// A parabola over log W whose least is 1 at W = 1: within 2 % as far as the error is.
TEST(ErrorCurve, FindsTheLargestWeightWithinTheTolerance) {
  const auto error = [](double weight) { return std::exp(0.01 * std::pow(std::log2(weight), 2)); };
  ErrorCurve all;
  for (double weight = 1.0 / 16; weight <= 16; weight *= 2) all.add({weight, error(weight), 0});
  EXPECT_NEAR(std::log2(all.largest_weight(0.02)), std::sqrt(std::log(1.02) / 0.01),
              0.1);  // straight between octaves
  const auto coarser = std::make_shared<ErrorCurve>(all);
  ErrorCurve half(coarser);  // errors half as large, at three weights
  for (const double weight : {0.5, 1.0, 2.0}) half.add({weight, 0.5 * error(weight), 0});
  EXPECT_NEAR(half.largest_weight(0.02), all.largest_weight(0.02), 0.02 * all.largest_weight(0.02));
}

/// Ranks and one process have errors and weights that differ by rounding.
TEST(ErrorCurve, MovesTheLargestWeightByNoMoreThanRounding) {
  const auto found = [](double off) {
    ErrorCurve wide;
    for (const double weight : {0.05, 0.1, 0.2, 0.4})
      wide.add({weight * (1 + off), 1 + std::pow(std::log2(weight / 0.15), 2) + off, 0.01});
    ErrorCurve narrow(std::make_shared<ErrorCurve>(wide));
    for (const double weight : {0.12, 0.18}) narrow.add({weight * (1 - off), 0.5 + weight - off, 0.005});
    return std::pair{wide.largest_weight(0.01), narrow.largest_weight(0.01)};
  };
  const auto [wide, narrow] = found(0);
  for (const double off : {1e-7, -1e-7, 1e-15, -1e-15}) {
    EXPECT_NEAR(found(off).first / wide, 1, 1e-6) << off;
    EXPECT_NEAR(found(off).second / narrow, 1, 1e-6) << off;
  }
}

/// Such a volume is FBP's if views are missing.
TEST(WeightSearch, AFirstVolumeFarFromTheDataDoesNoHarm) {
  NoisyScan noisy;
  const float good = noisy.found().weight;
  axpby(0, noisy.x0.clone(), 0.05f, noisy.x0, default_stream(Device::cpu()));
  const float found = noisy.found().weight;
  EXPECT_LE(noisy.error_with(static_cast<double>(found)), 1.15 * noisy.error_with(static_cast<double>(good)))
      << found << " in the place of " << good;
}

/// More noise takes more regularisation. The weight is in units of the data: for data twice as large it is
/// twice as large.
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
}

TEST(WeightSearch, NeedsNoTrialIfAllIsFlat) {
  const NoisyScan noisy;
  Stream& stream = default_stream(Device::cpu());
  const WeightFound found =
      find_weight(noisy.A, zeros(noisy.A.range(), stream), zeros(noisy.A.domain(), stream), noisy.tv);
  EXPECT_EQ(found.weight, 0);
  EXPECT_TRUE(found.trials.empty());
}

/// Floats hold neither the squares of the differences nor their roots.
TEST(WeightSearch, NeedsNoTrialOfNumbersWithoutSquares) {
  for (const float scale : {1e-30f, 1e25f}) {
    NoisyScan noisy;
    Stream& stream = default_stream(Device::cpu());
    axpby(scale, noisy.b.clone(), 0, noisy.b, stream);
    axpby(scale, noisy.x0.clone(), 0, noisy.x0, stream);
    const WeightFound found = noisy.found();
    EXPECT_EQ(found.weight, 0) << scale;
    EXPECT_TRUE(found.trials.empty()) << scale;
  }
}

}  // namespace
}  // namespace tandem
