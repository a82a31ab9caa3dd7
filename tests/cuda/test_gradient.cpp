// Differences of voxels, and the metric and the solver that use them: a GPU gives what the CPU gives.
#include "../../operators/gradient.hpp"

#include "../../operators/circulant_metric.hpp"
#include "../../solvers/pdhg.hpp"
#include "cuda_fixture.hpp"

namespace tandem::test {
namespace {

std::vector<Space> volumes() {
  return {Space({5, 70, 300}), Space({3, 129, 257}, Blocks::slices), Space({1, 33, 4}), Space({40, 1, 1})};
}

TEST_F(Cuda, GradientIsTheCpus) {
  for (const Space& volume : volumes()) {
    const Make make = [&](Device device) { return gradient(volume.on(device), {0.7f, 1, 1.3f}); };
    expect_the_cpus(make, "gradient");
    expect_beta_zero_reads_nothing(make(gpu), "gradient");
    expect_beta_zero_reads_nothing(adjoint(make(gpu)), "gradient, back");
  }
}

TEST_F(Cuda, LengthsAreTheCpus) {
  for (const Space& volume : volumes()) {
    const Space field = gradient(volume).range();
    const Array here = random_array(field, 3);
    Array clamped = here.clone(), there = on_device(here, gpu);
    const std::vector<double> sums = sum_lengths(here, default_stream(cpu)),
                              found = sum_lengths(there, default_stream(gpu));
    for (std::size_t b = 0; b < sums.size(); ++b) EXPECT_NEAR(found[b], sums[b], 1e-6 * sums[b]);
    std::vector<float> longest(sums.size());
    for (std::size_t b = 0; b < longest.size(); ++b) longest[b] = 0.3f + static_cast<float>(b);
    clamp_lengths(clamped, longest, default_stream(cpu));
    clamp_lengths(there, longest, default_stream(gpu));
    EXPECT_LE(relative_error(there, clamped), tolerance::devices);
  }
}

/// Slices of sizes that are continued, more of them than go together, and none that changes another one.
TEST_F(Cuda, CirculantMetricIsTheCpus) {
  for (const Space& volume :
       {Space({5, 70, 301}), Space({40, 129, 257}, Blocks::slices), Space({1, 33, 4})}) {
    const std::vector<float> a(volume.block_count(), 2.0f), b(volume.block_count(), 0.3f);
    const auto make = [&](Device device) {
      return CirculantMetric(volume.on(device), true, {0.7f, 1, 1.3f}, 0.6f, 0, 0.5).inverse(a, b);
    };
    expect_the_cpus(make, "metric");
    expect_beta_zero_reads_nothing(make(gpu), "metric");
  }
}

TEST_F(Cuda, SlicesOfAMetricDependOnNoOthers) {
  const Space many({40, 129, 257}, Blocks::slices, gpu), one({1, 129, 257}, Blocks::slices, gpu);
  std::vector<float> a, b;
  for (int k = 0; k < 40; ++k) a.push_back(1 + k), b.push_back(2);
  const Array x = random_array(many.on(cpu), 4);
  const Array together =
      on_device(CirculantMetric(many, true, {1, 1, 1}, 0, 0, 0).inverse(a, b) * on_device(x, gpu), cpu);
  for (const Index slice : {0, 17, 39}) {
    Array own(one.on(cpu));
    std::copy_n(x.data() + slice * own.size(), own.size(), own.data());
    const Array alone = on_device(
        CirculantMetric(one, true, {1, 1, 1}, 0, 0, 0).inverse({a[slice]}, {2}) * on_device(own, gpu), cpu);
    EXPECT_TRUE(std::equal(alone.data(), alone.data() + own.size(), together.data() + slice * own.size()))
        << slice;
  }
}

/// Weights of rays, a weight of the regulariser for each slice, and a slice that stops before the other.
TEST_F(Cuda, PdhgIsTheCpus) {
  const auto solved = [&](Device device, const Array& data, const Array& rays) {
    const LinearOperator A = projector(odd_scan(61, 2), grid_of(37, 41, 2), Model::joseph, device);
    Pdhg solver(A, on_device(data, device), zeros(A.domain(), default_stream(device)),
                total_variation(A.domain()), {0.5f, 2}, on_device(rays, device), {.bounds = above_zero});
    for (int step = 0; step < 20; ++step) solver.step({true, step < 10});
    const std::vector<double> regularity = solver.regularity();
    EXPECT_GT(regularity[0], 0);
    return std::move(solver).solution();
  };
  const LinearOperator A = projector(odd_scan(61, 2), grid_of(37, 41, 2), Model::joseph, cpu);
  const Array data = A * random_array(A.domain(), 1);
  Array rays = random_array(A.range(), 2);
  for (Index i = 0; i < rays.size(); ++i) rays.data()[i] = std::max(0.0f, rays.data()[i]);
  const Array here = solved(cpu, data, rays);
  EXPECT_LE(relative_error(solved(gpu, data, rays), here), 1e-4);
}

}  // namespace
}  // namespace tandem::test
