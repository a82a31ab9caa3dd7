#include "../../solvers/landweber.hpp"

#include "iteration.hpp"
#include "method.hpp"

namespace tandem::pipeline::made {

Method landweber() {
  return {.name = "landweber",
          .help = "gradient steps without weights, each of the same length",
          .options = {"--relaxation", "--nonnegative", "--lowest", "--highest"},
          .holds = while_stepping(Landweber::cost),
          .cost = Landweber::cost,
          .lists_state = ListsItsState<Landweber>,
          .solver =
              [](Equations equations, Array x0, const MethodOptions& options) {
                return AnySolver(Landweber(std::move(equations.A), std::move(equations.y), std::move(x0),
                                           {options.relaxation, options.bounds()}));
              },
          .begin = iteration,
          .conclude = conclude_iterations,
          .shows_residual = true};
}

}  // namespace tandem::pipeline::made
