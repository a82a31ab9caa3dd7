#include "../../solvers/lsmr.hpp"

#include "damping.hpp"

namespace tandem::pipeline::made {

Method lsmr() {
  return that_runs<Lsmr>({.name = "lsmr",
                          .help = "as lsqr, with a gradient that falls in every step: safe to stop early",
                          .options = {"tikhonov-weight"},
                          .solver = damped_solver<Lsmr>});
}

}  // namespace tandem::pipeline::made
