#pragma once

#include "../core/public.hpp"
#include "linear_operator.hpp"

namespace TANDEM_PUBLIC tandem {

/// Largest singular value by power iteration on AtA, seeded. Cost: one A and one At an iteration. Approaches
/// from below. Needs a matched pair.
double operator_norm(const LinearOperator& A, int iterations = 20, unsigned seed = 1);

Array row_sums(const LinearOperator& A);     ///< A 1, in range(): ray lengths through the grid, mm
Array column_sums(const LinearOperator& A);  ///< At 1, in domain(): how much each voxel is seen, mm

}  // namespace tandem
