#include "../../solvers/landweber.hpp"

#include "method.hpp"

namespace tandem::pipeline::made {

Method landweber() {
  return that_runs<Landweber>({.name = "landweber",
                               .help = "gradient steps without weights, each of the same length",
                               .options = {"relaxation", "nonnegative", "bounds"},
                               .solver = [](Equations equations, Array x0, const MethodOptions& options) {
                                 return AnySolver(Landweber(std::move(equations.A), std::move(equations.y),
                                                            std::move(x0),
                                                            {options.relaxation, options.bounds()}));
                               }});
}

}  // namespace tandem::pipeline::made
