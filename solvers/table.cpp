#include <algorithm>
#include <array>

#include "solver_kind.hpp"

/// One line for each kind of solver: the name of a function that returns it and stands in the file of the
/// solver.
#define TANDEM_SOLVERS(SOLVER) \
  SOLVER(sirt)                 \
  SOLVER(os_sirt)              \
  SOLVER(sart)                 \
  SOLVER(cgls)                 \
  SOLVER(lsqr)                 \
  SOLVER(lsmr)                 \
  SOLVER(ba_gmres)             \
  SOLVER(mlem)                 \
  SOLVER(osem)                 \
  SOLVER(mltr)                 \
  SOLVER(tv)                   \
  SOLVER(landweber)            \
  SOLVER(fista)

namespace tandem {

namespace kinds {
#define TANDEM_DECLARE(name) SolverKind name();
TANDEM_SOLVERS(TANDEM_DECLARE)
#undef TANDEM_DECLARE
}  // namespace kinds

std::span<const SolverKind> solver_kinds() {
#define TANDEM_MAKE(name) kinds::name(),
  static const std::array all{TANDEM_SOLVERS(TANDEM_MAKE)};
#undef TANDEM_MAKE
  return all;
}

bool SolverKind::reads(std::string_view option) const {
  return std::find(options.begin(), options.end(), option) != options.end();
}

}  // namespace tandem
