#include <algorithm>
#include <array>

#include "../core/names.hpp"
#include "solver_kind.hpp"

/// One line for each kind of solver. A function in the file of the solver, such as sirt_kind, returns it.
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

#define TANDEM_DECLARE(name) SolverKind name##_kind();
TANDEM_SOLVERS(TANDEM_DECLARE)
#undef TANDEM_DECLARE

std::span<const SolverKind> solver_kinds() {
#define TANDEM_MAKE(name) name##_kind(),
  static const std::array all{TANDEM_SOLVERS(TANDEM_MAKE)};
#undef TANDEM_MAKE
  return all;
}

bool SolverKind::reads(std::string_view option) const {
  return std::find(options.begin(), options.end(), option) != options.end();
}

const SolverKind& solver_kind(std::string_view name) {
  return named(solver_kinds(), name, "solver:", [](const SolverKind& kind) {
    return kind.name.empty() ? kind.class_name : kind.name;
  });
}

AnySolver SolverKind::solver(SolverInput input) const {
  input.numbers.insert(numbers.begin(), numbers.end());
  validate(input.bounds);
  return make(std::move(input));
}

}  // namespace tandem
