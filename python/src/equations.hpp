#pragma once

#include <optional>
#include <string>

#include "../../operators/linear_operator.hpp"
#include "../../operators/subsets.hpp"
#include "bindings.hpp"

namespace tandem::python {

/// The vectors that a solver starts with, at addresses of the caller. x0 at 0: zeros; `beside` at 0: none.
struct Given {
  Address b, x0, beside, native;
  std::string beside_name;  ///< name of the vector beside b
  nb::object keeper;
};

/// The solver's own. @throws GeometryError for values that are not finite
Array copied(const std::string& name, const Space& space, Address at, Stream& stream);

/// A x = b, as a solver takes it.
template <class Operator>
struct Equations {
  Operator A;
  Array b;
};

/// What data weights w multiply: least squares with rows times sqrt(w) are those of the sum of w (Ax - b)^2.
/// Steps that divide by sums of rows, as those of SIRT and MLEM, do the same with rows times w.
enum class Rows { by_roots, by_weights };

/// The same with data weights, if there are any, and with sqrt(W) x = 0 below them for a Tikhonov weight W
/// above 0. @throws GeometryError for weights that are negative or not finite
Equations<LinearOperator> weighed(LinearOperator A, Array b, std::optional<Array> data_weights, Rows rows,
                                  float tikhonov_weight, Stream& stream);
Equations<Subsets> weighed(const Subsets& A, Array b, std::optional<Array> data_weights, Stream& stream);

}  // namespace tandem::python
