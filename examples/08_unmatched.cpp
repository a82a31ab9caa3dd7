// What a pair that does not match costs. Both pairs project by Joseph; one goes back by pixels. The coupling
// degree cannot tell them apart. CGLS can: without noise, its error falls much further with the matched pair.
//
// Expected output (the last digits may differ):
//                    coupling  mismatch   error after 10   50   200 iterations
//   matched pair         1.0000     2e-07             0.16   0.07   0.03
//   unmatched pair       1.0000     1e-01             0.18   0.10   0.07
#include <cmath>
#include <cstdio>

#include "../operators/adjointness.hpp"
#include "../operators/algebra.hpp"
#include "../solvers/cgls.hpp"
#include "few_views.hpp"

using namespace tandem;

struct Outcome {
  Adjointness pair;
  double after_10 = 0, after_50 = 0, after_200 = 0;
};

Outcome outcome_of(const char* name, const LinearOperator& pair, const Array& y, const Array& truth) {
  Outcome outcome{adjointness(pair)};
  Cgls solver(pair, y, Array(pair.domain()));
  run(solver, max_iterations(200), [&](const Progress& now) {
    const double error = relative_error(now.solution, truth);
    if (now.iteration == 10) outcome.after_10 = error;
    if (now.iteration == 50) outcome.after_50 = error;
    if (now.iteration == 200) outcome.after_200 = error;
  });
  std::printf("%-16s %10.4f %9.0e %16.2f %6.2f %6.2f\n", name, outcome.pair.coupling, outcome.pair.mismatch,
              outcome.after_10, outcome.after_50, outcome.after_200);
  return outcome;
}

int main() {
  const auto [scan, grid, truth, exact] = few_views(64, 90);
  const LinearOperator joseph = projector(scan, grid, Model::joseph),
                       by_pixels = projector(scan, grid, Model::pixel_driven);
  const Array y = joseph * truth;
  std::printf("%16s %10s %9s   error after 10   50   200 iterations\n", "", "coupling", "mismatch");
  const Outcome matched = outcome_of("matched pair", joseph, y, truth);
  const Outcome unmatched =
      outcome_of("unmatched pair", unmatched_pair(joseph, adjoint(by_pixels)), y, truth);
  const bool blind = std::abs(unmatched.pair.coupling - 1) < 1e-3;
  return blind && unmatched.pair.mismatch > 0.05 && unmatched.after_200 > 2 * matched.after_200 ? 0 : 1;
}
