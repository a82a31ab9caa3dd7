#include "../../solvers/lsqr.hpp"

#include "damping.hpp"
#include "iteration.hpp"
#include "method.hpp"

namespace tandem::pipeline::made {

Method lsqr() {
  return {.name = "lsqr",
          .help = "as cgls, but less harmed by rounding where many steps are made",
          .options = {"--tikhonov-weight"},
          .holds = while_stepping(Lsqr::cost),
          .cost = Lsqr::cost,
          .lists_state = ListsItsState<Lsqr>,
          .solver =
              [](Equations equations, Array x0, const MethodOptions& options) {
                equations = damped(std::move(equations), options);
                return AnySolver(Lsqr(std::move(equations.A), std::move(equations.y), std::move(x0),
                                      std::move(equations.sums)));
              },
          .begin = iteration,
          .conclude = conclude_iterations,
          .shows_residual = true};
}

}  // namespace tandem::pipeline::made
