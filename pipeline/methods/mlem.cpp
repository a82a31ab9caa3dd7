#include "../../solvers/mlem.hpp"

#include "method.hpp"

namespace tandem::pipeline::made {

Method mlem() {
  return that_runs<Mlem>({.name = "mlem",
                          .help = "maximum likelihood by expectation maximisation; voxels stay above zero",
                          .only_positive = true,
                          .updates = 30,
                          .solver = [](Equations equations, Array x0, const MethodOptions&) {
                            return AnySolver(
                                Mlem(std::move(equations.A), std::move(equations.y), std::move(x0)));
                          }});
}

}  // namespace tandem::pipeline::made
