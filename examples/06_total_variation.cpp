// Total variation from operators: few views with noise, by PDHG, against the best window of FBP.
//
// Expected output (the last digits may differ):
//   error: 0.31 by FBP with its best window, 0.11 by total variation
#include <algorithm>
#include <cstdio>

#include "../operators/algebra.hpp"
#include "../operators/fbp.hpp"
#include "../solvers/pdhg.hpp"
#include "few_views.hpp"

using namespace tandem;

int main() {
  auto [scan, grid, truth, y] = few_views(128, 40);
  Random random(1);
  for (Index i = 0; i < y.size(); ++i) y.data()[i] += static_cast<float>(0.1 * (random.uniform() - 0.5));

  const LinearOperator A = projector(scan, grid, Model::joseph);
  const Interpolation reads = interpolation_of(scan, grid, Model::joseph);
  double by_fbp = 1;
  for (const Window window : {Window::ramp, Window::hamming, Window::hann, Window::parzen})
    by_fbp = std::min(by_fbp, relative_error(fbp(A, scan, grid, {.window = window}, reads) * y, truth));

  Array x0 = fbp(A, scan, grid, {.window = Window::hann}, reads) * y;
  Pdhg solver(A, y.clone(), std::move(x0), total_variation(A.domain()), {0.2f}, {}, {.bounds = above_zero});
  run(solver, max_iterations(200));
  const double by_variation = relative_error(solver.solution(), truth);
  std::printf("error: %.2f by FBP with its best window, %.2f by total variation\n", by_fbp, by_variation);
  return by_variation < 0.5 * by_fbp ? 0 : 1;
}
