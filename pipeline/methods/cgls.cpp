#include "../../solvers/cgls.hpp"

#include "iteration.hpp"
#include "method.hpp"

namespace tandem::pipeline::made {

Method cgls() {
  return {.name = "cgls",
          .help = "conjugate gradients on the least-squares problem; few steps, stop early",
          .holds = while_stepping(Cgls::cost),
          .cost = Cgls::cost,
          .lists_state = ListsItsState<Cgls>,
          .solver =
              [](Equations equations, Array x0, const MethodOptions&) {
                return AnySolver(Cgls(std::move(equations.A), std::move(equations.y), std::move(x0)));
              },
          .begin = iteration,
          .conclude = conclude_iterations};
}

}  // namespace tandem::pipeline::made
