// The cost of a pair that does not match. Both pairs project by Joseph, and one back-projects by pixels. The
// coupling degree hardly tells them apart. CGLS does: without noise its error falls much further with the
// matched pair.
//
// Expected output (the last digits may differ):
//                   matched  unmatched
//   coupling         1.0000     1.0000
//   mismatch          2e-07      1e-01
//   error after                      with noise: matched  unmatched
//      5 steps        0.309      0.316              0.314      0.321
//     10 steps        0.155      0.178              0.200      0.208
//     20 steps        0.108      0.118              0.221      0.202
//     50 steps        0.070      0.099              0.462      0.281
//    100 steps        0.045      0.082              0.812      0.407
//    200 steps        0.027      0.066              1.381      0.606
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "../operators/adjointness.hpp"
#include "../operators/algebra.hpp"
#include "../operators/random.hpp"
#include "../solvers/cgls.hpp"
#include "few_views.hpp"

using namespace tandem;

/// The errors of CGLS, step by step.
std::vector<double> curve_of(const LinearOperator& pair, const Array& y, const Array& truth) {
  std::vector<double> errors;
  Cgls solver(pair, y, Array(pair.domain()));
  run(solver, max_iterations(200),
      [&](const Progress& now) { errors.push_back(relative_error(now.solution, truth)); });
  return errors;
}

int main() {
  const auto [scan, grid, truth, exact] = few_views(64, 90);
  const LinearOperator matched = projector(scan, grid, Model::joseph),
                       B = projector(scan, grid, Model::pixel_driven);
  const LinearOperator unmatched = unmatched_pair(matched, adjoint(B));
  const Adjointness of_matched = adjointness(matched), of_unmatched = adjointness(unmatched);
  std::printf("                matched  unmatched\ncoupling       %8.4f %10.4f\n", of_matched.coupling,
              of_unmatched.coupling);
  std::printf("mismatch       %8.0e %10.0e\n", of_matched.mismatch, of_unmatched.mismatch);

  const Array y = matched * truth;
  Array noisy = y.clone();
  const float largest = *std::max_element(y.data(), y.data() + y.size());
  Random random(1);
  for (Index i = 0; i < noisy.size(); ++i)  // standard deviation: 2 % of the largest line integral
    noisy.data()[i] += 0.02f * largest * std::sqrt(12.0f) * static_cast<float>(random.uniform() - 0.5);
  const std::vector<double> a = curve_of(matched, y, truth), b = curve_of(unmatched, y, truth),
                            c = curve_of(matched, noisy, truth), d = curve_of(unmatched, noisy, truth);
  std::printf("error after                      with noise: matched  unmatched\n");
  for (const std::size_t k : {5u, 10u, 20u, 50u, 100u, 200u})
    std::printf("%4zu steps     %8.3f %10.3f %18.3f %10.3f\n", k, a[k], b[k], c[k], d[k]);
  const bool blind = std::abs(of_unmatched.coupling - 1) < 1e-3;
  return blind && of_unmatched.mismatch > 0.05 && b[200] > 2 * a[200] && d[10] < 1.2 * c[10] ? 0 : 1;
}
