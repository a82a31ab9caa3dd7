#pragma once

#include <functional>
#include <vector>

#include "../core/public.hpp"
#include "linear_operator.hpp"

namespace TANDEM_PUBLIC tandem {

LinearOperator operator*(LinearOperator A,
                         LinearOperator B);  ///< (AB)x = A(Bx). @throws SpaceError unless they meet
LinearOperator operator*(float s, LinearOperator A);
LinearOperator operator+(LinearOperator A, LinearOperator B);  ///< one output vector, no temporary
LinearOperator operator-(LinearOperator A, LinearOperator B);
LinearOperator vstack(
    std::vector<LinearOperator> rows);  ///< x -> (A0 x, A1 x, ...); the range is a direct sum
LinearOperator hstack(std::vector<LinearOperator> columns);  ///< (x0, x1, ...) -> A0 x0 + A1 x1 + ...
LinearOperator identity(Space space);
LinearOperator diagonal(Array weights);

/// Two maps that only claim to belong together, e.g. Joseph forward with pixel-driven backward. Solvers take
/// it; `adjointness` tells how far it is from a pair.
LinearOperator unmatched_pair(LinearOperator forward, LinearOperator backward);

/// For scripts and tests: two functions that set every element of `out`, whatever was there; alpha and beta
/// are added around them.
using Overwrite = std::function<void(ConstVectorView in, VectorView out, Stream&)>;
LinearOperator make_operator(Space domain, Space range, Overwrite forward, Overwrite adjoint);

Array operator*(const LinearOperator& A, const Array& x);  ///< A x in a new array; waits

}  // namespace tandem
