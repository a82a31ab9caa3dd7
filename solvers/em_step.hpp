#pragma once

#include <span>

#include "../core/public.hpp"
#include "../operators/linear_operator.hpp"

namespace TANDEM_PUBLIC tandem {

/// What a step of expectation and maximisation knows.
struct EmStep {
  VectorView x, update;          ///< the volume, and scratch
  ConstVectorView projected;     ///< Bx
  VectorView ratio;              ///< b, which is overwritten
  ConstVectorView sums;          ///< Bt1
  std::span<const float> least;  ///< of the sums: where they are below, no ray passes (`least_sums`)
  std::span<const float> take;   ///< for each block: 1 to make the step, 0 to leave it
};

/// x <- x Bt(b / Bx) / Bt1; what no ray meets stays. All factors are 0 or above, and nothing is taken from
/// them. So each voxel keeps the accuracy of a float, however much less it becomes: the next subset divides
/// by what is left. Where Bx is b, x stays to the bit. A ray of zeros says nothing.
void em_step(const LinearOperator& B, const EmStep& step, Stream& stream);

/// Blocks without a positive voxel begin as ones where rays pass, else zeros. `sums`: At1, with the least of
/// them as above; they are overwritten.
void fill_empty_blocks(VectorView x, VectorView sums, std::span<const float> least, Stream& stream);

}  // namespace tandem
