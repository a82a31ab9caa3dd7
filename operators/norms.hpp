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

/// Sets sums below zero to zero. @returns whether a block had any beyond rounding: then some of its
/// coefficients are negative, as those of the hierarchical and of the Fourier model are
std::vector<bool> drop_negative(VectorView sums, Stream& stream);

/// 1/sum, and 0 where the sum is below `least_sums`. From `row_sums` and `column_sums` it makes the weights
/// of rays and voxels. In blocks with negative coefficients (those of `negative`, and those in which
/// `drop_negative` finds some), a small sum may be what large coefficients leave of each other, and its
/// inverse knows no bound. There it is 0 below a fifth of the mean sum, weighted by the sums themselves.
Array inverse_sums(Array sums, Stream& stream, std::vector<bool> negative = {});

}  // namespace tandem
