#include "../../solvers/sirt.hpp"

#include "method.hpp"

namespace tandem::pipeline::made {

Method sirt() {
  return that_runs<Sirt>({.name = "sirt",
                          .help = "weighted gradient steps; many of them, voxels kept above zero if asked",
                          .options = {"relaxation", "nonnegative", "bounds"},
                          .solver = [](Equations equations, Array x0, const MethodOptions& options) {
                            return AnySolver(Sirt(std::move(equations.A), std::move(equations.y),
                                                  std::move(x0), {options.relaxation, options.bounds()}));
                          }});
}

}  // namespace tandem::pipeline::made
