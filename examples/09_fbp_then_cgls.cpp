// FBP, then CGLS from there. With few views, five steps remove more than a third of the error that FBP
// leaves, and five steps from zero do not suffice. Stop early, because later steps fit what pixels cannot
// explain.
//
// Expected output (the last digits may differ):
//               error                   residual
//   steps   from zero   from FBP    from zero   from FBP
//       0       1.000      0.220       1.0000     0.0785
//       1       0.770      0.214       0.3064     0.0591
//       2       0.596      0.196       0.1848     0.0486
//       5       0.291      0.139       0.0734     0.0337
//      10       0.144      0.193       0.0289     0.0174
//      20       0.236      0.256       0.0119     0.0105
#include <cstdio>
#include <vector>

#include "../operators/algebra.hpp"
#include "../operators/fbp.hpp"
#include "../solvers/cgls.hpp"
#include "few_views.hpp"

using namespace tandem;

int main() {
  const auto [scan, grid, exact, measured] = few_views(128, 90);
  const Array &truth = exact, &y = measured;  // not every compiler lets a lambda capture the others
  const LinearOperator A = projector(scan, grid);
  const Array by_fbp = fbp(A, scan, grid, {.window = Window::hann, .cutoff = {}}) * y;
  const double largest = norm(y, default_stream(Device::cpu()))[0];

  const auto curves = [&](Array x0, std::vector<double>& errors, std::vector<double>& residuals) {
    Cgls solver(A, y, std::move(x0));
    run(solver, max_iterations(20), [&](const Progress& now) {
      errors.push_back(relative_error(now.solution, truth));
      residuals.push_back(now.residuals[0] / largest);
    });
  };
  std::vector<double> from_zero, from_fbp, left_from_zero, left_from_fbp;
  curves(Array(A.domain()), from_zero, left_from_zero);
  curves(by_fbp.clone(), from_fbp, left_from_fbp);
  std::printf("            error                   residual\n");
  std::printf("steps   from zero   from FBP    from zero   from FBP\n");
  for (const std::size_t k : {0u, 1u, 2u, 5u, 10u, 20u})
    std::printf("%5zu %11.3f %10.3f %12.4f %10.4f\n", k, from_zero[k], from_fbp[k], left_from_zero[k],
                left_from_fbp[k]);
  return from_fbp[5] < 0.65 * from_fbp[0] && from_fbp[5] < 0.6 * from_zero[5] ? 0 : 1;
}
