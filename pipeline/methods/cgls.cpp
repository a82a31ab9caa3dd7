#include "../../solvers/cgls.hpp"

#include "damping.hpp"
#include "iteration.hpp"
#include "method.hpp"

namespace tandem::pipeline::made {

Method cgls() {
  return {.name = "cgls",
          .help = "conjugate gradients on the least-squares problem; few steps, stop early",
          .options = {"--tikhonov-weight"},
          .holds = while_stepping(Cgls::cost),
          .cost = Cgls::cost,
          .lists_state = ListsItsState<Cgls>,
          .solver =
              [](Equations equations, Array x0, const MethodOptions& options) {
                equations = damped(std::move(equations), options);
                return AnySolver(Cgls(std::move(equations.A), std::move(equations.y), std::move(x0),
                                      std::move(equations.sums)));
              },
          .begin = iteration,
          .conclude = conclude_iterations,
          .shows_residual = true};
}

}  // namespace tandem::pipeline::made
