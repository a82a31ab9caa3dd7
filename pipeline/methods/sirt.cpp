#include "../../solvers/sirt.hpp"

#include "iteration.hpp"
#include "method.hpp"

namespace tandem::pipeline::made {

Method sirt() {
  return {.name = "sirt",
          .help = "weighted gradient steps; many of them, voxels kept above zero if asked",
          .options = {"--relaxation", "--nonnegative", "--lowest", "--highest"},
          .holds = while_stepping(Sirt::cost),
          .cost = Sirt::cost,
          .lists_state = ListsItsState<Sirt>,
          .solver =
              [](Equations equations, Array x0, const MethodOptions& options) {
                return AnySolver(Sirt(std::move(equations.A), std::move(equations.y), std::move(x0),
                                      {options.relaxation, options.bounds()}));
              },
          .begin = iteration,
          .conclude = conclude_iterations,
          .shows_residual = true};
}

}  // namespace tandem::pipeline::made
