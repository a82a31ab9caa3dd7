#include "../../solvers/lsqr.hpp"

#include "damping.hpp"

namespace tandem::pipeline::made {

Method lsqr() {
  return that_runs<Lsqr>({.name = "lsqr",
                          .help = "as cgls, but less harmed by rounding where many steps are made",
                          .options = {"tikhonov-weight"},
                          .solver = damped_solver<Lsqr>});
}

}  // namespace tandem::pipeline::made
