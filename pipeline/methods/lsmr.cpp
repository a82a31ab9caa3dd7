#include "../../solvers/lsmr.hpp"

#include "damping.hpp"
#include "iteration.hpp"
#include "method.hpp"

namespace tandem::pipeline::made {

Method lsmr() {
  return {.name = "lsmr",
          .help = "as lsqr, with a gradient that falls in every step: safe to stop early",
          .options = {"--tikhonov-weight"},
          .holds = while_stepping(Lsmr::cost),
          .cost = Lsmr::cost,
          .lists_state = ListsItsState<Lsmr>,
          .solver =
              [](Equations equations, Array x0, const MethodOptions& options) {
                equations = damped(std::move(equations), options);
                return AnySolver(Lsmr(std::move(equations.A), std::move(equations.y), std::move(x0),
                                      std::move(equations.sums)));
              },
          .begin = iteration,
          .conclude = conclude_iterations,
          .shows_residual = true};
}

}  // namespace tandem::pipeline::made
