#pragma once

#include <span>

#include "../operators/linear_operator.hpp"

namespace tandem {

/// The vectors of a step of expectation and maximisation.
struct EmStep {
  VectorView x, update;          ///< the volume, and scratch
  ConstVectorView projected;     ///< Bx
  VectorView ratio;              ///< b, which is overwritten
  ConstVectorView sums;          ///< Bt1
  std::span<const float> least;  ///< where sums are below these, no ray passes (`least_sums`)
  std::span<const float> take;   ///< for each block 1 to make the step, or 0 to leave it out
};

/// x <- x Bt(b / Bx) / Bt1. Voxels that no ray meets stay. All factors are 0 or above, and there is no
/// subtraction. So each voxel keeps the relative accuracy of a float, however small it becomes, which matters
/// because the next subset divides by it. If Bx is b, x keeps its bits. A ray whose b and Bx are both zero
/// does not count.
void em_step(const LinearOperator& B, const EmStep& step, Stream& stream);

/// Fills blocks of x without a positive voxel: one value where rays pass, else zeros. With this value the sum
/// of Bx is that of b, the `ratio` of the step, which stays. So the start has the unit of the data.
/// `projected` holds ones.
void fill_empty_blocks(const EmStep& step, Stream& stream);

}  // namespace tandem
