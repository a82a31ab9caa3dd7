#include "../../solvers/fista.hpp"

#include <algorithm>
#include <utility>

#include "../../solvers/pdhg.hpp"
#include "method.hpp"
#include "variation.hpp"

namespace tandem::pipeline::made {

Method tv();

/// Another solver for the problem of `tv`, with the same search for the weight.
Method fista() {
  const Method of_tv = tv();
  Method method = that_runs<Fista>(of_tv);
  method.name = "fista";
  method.help = "what tv minimises, by gradient steps with momentum; takes more memory";
  method.begin = of_tv.begin;
  method.holds.insert(method.holds.begin(), of_tv.holds.front());
  method.solver = [](Equations equations, Array x0, const MethodOptions& options) {
    Regulariser variation = variation_of(equations.A.domain(), equations.pitch, options);
    return AnySolver(Fista(std::move(equations.A), std::move(equations.y), std::move(x0),
                           std::move(variation), {options.tv_weight.value_or(0)},
                           std::move(equations.weights), {.bounds = options.bounds()}));
  };
  return method;
}

}  // namespace tandem::pipeline::made
