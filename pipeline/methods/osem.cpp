#include "../../solvers/osem.hpp"

#include <algorithm>

#include "method.hpp"

namespace tandem::pipeline::made {

Method os_sirt();

/// The method `osem`, which goes through subsets of the views as os-sirt does.
Method osem() {
  Method method = that_runs<Osem>(os_sirt());
  method.name = "osem";
  method.help = "mlem by subsets of the views: as many times as fast as there are subsets";
  method.options = {"subsets"};
  method.subsets = [](const MethodOptions& options, Index views) {
    return options.subsets.value_or(std::min<Index>(4, views));  // with more, it may not stop in time
  };
  method.updates = 30;
  method.only_positive = true;
  method.solver = [](Equations equations, Array x0, const MethodOptions& options) {
    Subsets A = equations.in_subsets(options.subsets.value_or(1));
    return AnySolver(Osem(std::move(A), std::move(equations.y), std::move(x0)));
  };
  return method;
}

}  // namespace tandem::pipeline::made
