#pragma once

#include <functional>
#include <vector>

#include "../core/public.hpp"
#include "linear_operator.hpp"

namespace TANDEM_PUBLIC tandem {

/// (AB)x = A(Bx). @throws SpaceError unless their spaces fit
LinearOperator operator*(LinearOperator A, LinearOperator B);
LinearOperator operator*(float s, LinearOperator A);
LinearOperator operator+(LinearOperator A, LinearOperator B);  ///< one output vector, no temporary
LinearOperator operator-(LinearOperator A, LinearOperator B);
/// x -> (A0 x, A1 x, ...), whose range is a direct sum.
LinearOperator vstack(std::vector<LinearOperator> rows);
LinearOperator hstack(std::vector<LinearOperator> columns);  ///< (x0, x1, ...) -> A0 x0 + A1 x1 + ...
LinearOperator identity(Space space);
LinearOperator diagonal(Array weights);

/// One operator from two maps that need not be each other's transpose, for example Joseph forward and
/// pixel-driven backward. Solvers take it; `adjointness` tells how well the two match.
LinearOperator unmatched_pair(LinearOperator forward, LinearOperator backward);

/// An operator from two functions, for scripts and tests. Each function sets every element of `out`, whatever
/// was there before. Alpha and beta are applied around them.
using Overwrite = std::function<void(ConstVectorView in, VectorView out, Stream&)>;
LinearOperator make_operator(Space domain, Space range, Overwrite forward, Overwrite adjoint);

Array operator*(const LinearOperator& A, const Array& x);  ///< A x in a new array; waits for it

}  // namespace tandem
