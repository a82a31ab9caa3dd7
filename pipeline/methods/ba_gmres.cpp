#include "../../solvers/ba_gmres.hpp"

#include "damping.hpp"
#include "iteration.hpp"
#include "method.hpp"

namespace tandem::pipeline::made {

Method ba_gmres() {
  return {.name = "ba-gmres",
          .help = "for pairs that do not match; keeps a volume for each of its --iterations",
          .options = {"--tikhonov-weight"},
          .needs_matched_pair = false,
          .holds = while_stepping(BaGmres::cost),
          .cost = BaGmres::cost,
          .lists_state = ListsItsState<BaGmres>,
          .solver =
              [](Equations equations, Array x0, const MethodOptions& options) {
                equations = damped(std::move(equations), options);
                return AnySolver(BaGmres(std::move(equations.A), std::move(equations.y), std::move(x0),
                                         std::move(equations.sums)));
              },
          .begin = iteration,
          .conclude = conclude_iterations,
          .shows_residual = true};
}

}  // namespace tandem::pipeline::made
