#include "../../solvers/os_sirt.hpp"

#include <algorithm>

#include "method.hpp"

namespace tandem::pipeline::made {

Method os_sirt() {
  return that_runs<OsSirt>(
      {.name = "os-sirt",
       .help = "SIRT by subsets of the views: as many times as fast as there are subsets",
       .options = {"relaxation", "subsets", "nonnegative", "bounds"},
       .iterations = 10,
       .subsets = [](const MethodOptions& options,
                     Index views) { return options.subsets.value_or(std::min<Index>(10, views)); },
       .solver =
           [](Equations equations, Array x0, const MethodOptions& options) {
             Subsets A = equations.in_subsets(options.subsets.value_or(1));
             return AnySolver(OsSirt(std::move(A), std::move(equations.y), std::move(x0),
                                     {options.relaxation, options.bounds()}));
           }});
}

}  // namespace tandem::pipeline::made
