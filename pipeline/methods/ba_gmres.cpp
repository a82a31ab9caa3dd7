#include "../../solvers/ba_gmres.hpp"

#include "damping.hpp"

namespace tandem::pipeline::made {

Method ba_gmres() {
  return that_runs<BaGmres>(
      {.name = "ba-gmres",
       .help = "for pairs that do not match; keeps a volume for each of its {iterations}",
       .options = {"tikhonov-weight"},
       .needs_matched_pair = false,
       .solver = damped_solver<BaGmres>});
}

}  // namespace tandem::pipeline::made
