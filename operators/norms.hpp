#pragma once

#include <vector>

#include "linear_operator.hpp"

namespace tandem {

/// The largest singular value of A, by power iteration on AtA from a seeded vector. The estimate grows
/// towards it from below. Cost: one A and one At per iteration. Needs a matched pair.
double operator_norm(const LinearOperator& A, int iterations = 20, unsigned seed = 1);

/// The largest singular value of each block (Space::block_count) by itself, so that the estimate for a block
/// does not depend on the others. It starts from a vector of ones, which is near the largest singular vector
/// if A has no negative coefficients. x, in domain(), and y, in range(), are scratch.
std::vector<double> block_norms(const LinearOperator& A, VectorView x, VectorView y, Stream& stream,
                                int iterations = 10);

Array row_sums(const LinearOperator& A);     ///< A 1, in range(): lengths of rays through the grid, mm
Array column_sums(const LinearOperator& A);  ///< At 1, in domain(): length of all rays in each voxel, mm

/// A millionth of the usual sum in each block. Smaller sums are rounding, and not from rays through the grid.
std::vector<float> least_sums(const Array& sums, Stream& stream);
/// 1/sum, and 0 where the sum is below `least_sums`. From `row_sums` and `column_sums` it makes the weights
/// of rays and voxels.
Array inverse_sums(Array sums, Stream& stream);

}  // namespace tandem
