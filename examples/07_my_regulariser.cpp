// A regulariser of your own is a value: an operator K, a bound of |K|^2, g(Kx), and the proximal map of the
// conjugate of W g. Here: W |x|_1, for samples of a few small grains in air. Solvers take it as it is.
//
// Expected output (the last digits may differ):
//   error of grains from 9 views: 0.92 by least squares, 0.01 where voxels cost their size
#include <algorithm>
#include <cstdio>

#include "../operators/algebra.hpp"
#include "../operators/gradient.hpp"
#include "../solvers/pdhg.hpp"
#include "few_views.hpp"

using namespace tandem;

/// The conjugate of W |.|_1 is 0 from -W to W and infinite beyond: its proximal map clamps, whatever the
/// step.
Regulariser sum_of_sizes(const Space& volume) {
  const auto weight_of = [](std::span<const float> weights, Index block) {
    return weights[weights.size() == 1 ? 0 : block];
  };
  return {.K = identity(volume),
          .norm_squared = 1,
          .conjugate_prox =
              [=](VectorView q, std::span<const float> weights, std::span<const float>, Stream&) {
                const Index a_block = q.space.size() / q.space.block_count();
                for (Index i = 0; i < q.space.size(); ++i) {
                  const float weight = weight_of(weights, i / a_block);
                  q.data[i] = std::clamp(q.data[i], -weight, weight);
                }
              },
          .value = sum_lengths};
}

int main() {
  auto [scan, grid, grains, y] = few_views(64, 9);
  std::fill_n(grains.data(), grains.size(), 0.0f);
  Random random(3);
  for (int k = 0; k < 40; ++k) grains.data()[(12 + random.bits() % 40) * 64 + 12 + random.bits() % 40] = 1;

  const LinearOperator A = projector(scan, grid, Model::joseph);
  y = A * grains;
  const auto error_with = [&A, &x = grains, &b = y](float weight) {
    Pdhg solver(A, b.clone(), Array(A.domain()), sum_of_sizes(A.domain()), {weight});
    run(solver, max_iterations(1000));
    return relative_error(solver.solution(), x);
  };
  const double plain = error_with(0), sparse = error_with(0.1f);
  std::printf("error of grains from 9 views: %.2f by least squares, %.2f where voxels cost their size\n",
              plain, sparse);
  return sparse < 0.2 * plain ? 0 : 1;
}
