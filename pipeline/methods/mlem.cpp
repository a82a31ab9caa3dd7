#include "../../solvers/mlem.hpp"

#include "iteration.hpp"
#include "method.hpp"

namespace tandem::pipeline::made {

Method mlem() {
  return {.name = "mlem",
          .help = "maximum likelihood by expectation maximisation; voxels stay above zero",
          .only_positive = true,
          .updates = 30,
          .holds = while_stepping(Mlem::cost),
          .cost = Mlem::cost,
          .lists_state = ListsItsState<Mlem>,
          .solver =
              [](Equations equations, Array x0, const MethodOptions&) {
                return AnySolver(Mlem(std::move(equations.A), std::move(equations.y), std::move(x0)));
              },
          .begin = iteration,
          .conclude = conclude_iterations,
          .shows_residual = true};
}

}  // namespace tandem::pipeline::made
