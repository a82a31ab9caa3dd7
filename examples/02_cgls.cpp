// Few photons and few views: CGLS that stops when the residual has come down to the noise beats FBP.
//
// Expected output (the last digits may differ):
//   error of fbp:                0.34
//   error of cgls, 9 iterations: 0.26 (discrepancy)
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "../operators/algebra.hpp"
#include "../operators/fbp.hpp"
#include "../solvers/cgls.hpp"
#include "few_views.hpp"

using namespace tandem;

int main() {
  auto [scan, grid, truth, y] = few_views(128, 60);

  const double photons = 2000;  // photons per cell without the body
  double variance = 0;          // sum over all line integrals, each with the variance 1 / counts
  std::mt19937_64 random(1);
  for (Index i = 0; i < y.size(); ++i) {
    std::poisson_distribution<long> arriving(photons * std::exp(-y.data()[i]));
    const double counts = std::max<double>(arriving(random), 1);
    y.data()[i] = static_cast<float>(std::log(photons / counts));
    variance += 1 / counts;
  }

  const LinearOperator A = projector(scan, grid);
  const double by_fbp = relative_error(fbp(A, scan, grid) * y, truth);
  Cgls cgls(A, y, Array(A.domain()));
  const Report report = run(cgls, discrepancy({std::sqrt(variance)}) || max_iterations(50));
  const double by_cgls = relative_error(cgls.solution(), truth);
  std::printf("error of fbp:                %.2f\n", by_fbp);
  std::printf("error of cgls, %d iterations: %.2f (%s)\n", report.iterations, by_cgls,
              report.stopped_by[0].c_str());
  return report.stopped_by[0] == "discrepancy" && by_cgls < 0.8 * by_fbp ? 0 : 1;
}
