#pragma once

#include <string>

#include "../../solvers/solver_kind.hpp"
#include "bindings.hpp"

namespace tandem::python {

/// The vectors that a solver starts with, at addresses of the caller. x0 at 0: zeros; others at 0: none.
struct Given {
  Address b, x0, data_weights, blank, other, lowest, highest, native;
  nb::object keeper;
};

/// The bounds, with a value for each voxel where the caller gives that.
Bounds with_given(Bounds bounds, const Space& domain, const Given& given, Stream& stream);

/// The solver's own. @throws GeometryError for values that are not finite
Array copied(const std::string& name, const Space& space, Address at, Stream& stream);

/// The input after its data weights have multiplied rows and data, unless the kind weighs data by itself, and
/// with sqrt(W) x = 0 below the equations for a Tikhonov weight W that is not 0. @throws GeometryError for
/// weights that are negative or not finite
SolverInput weighed(const SolverKind& kind, SolverInput input, float tikhonov_weight);

}  // namespace tandem::python
