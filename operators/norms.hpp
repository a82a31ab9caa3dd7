#pragma once

#include "../core/public.hpp"
#include "linear_operator.hpp"

namespace TANDEM_PUBLIC tandem {

/// The largest singular value of A, by power iteration on AtA from a seeded vector. The estimate comes from
/// below. Cost: one A and one At per iteration. Needs a matched pair.
double operator_norm(const LinearOperator& A, int iterations = 20, unsigned seed = 1);

Array row_sums(const LinearOperator& A);     ///< A 1, in range(): lengths of rays through the grid, mm
Array column_sums(const LinearOperator& A);  ///< At 1, in domain(): how much rays see of each voxel, mm

}  // namespace tandem
