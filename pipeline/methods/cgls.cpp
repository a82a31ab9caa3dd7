#include "../../solvers/cgls.hpp"

#include "damping.hpp"

namespace tandem::pipeline::made {

Method cgls() {
  return that_runs<Cgls>({.name = "cgls",
                          .help = "conjugate gradients on the least-squares problem; few steps, stop early",
                          .options = {"tikhonov-weight"},
                          .solver = damped_solver<Cgls>});
}

}  // namespace tandem::pipeline::made
