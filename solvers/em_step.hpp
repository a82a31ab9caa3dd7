#pragma once

#include <span>

#include "../core/public.hpp"
#include "../operators/linear_operator.hpp"

namespace TANDEM_PUBLIC tandem {

/// What a step of expectation and maximisation knows.
struct EmStep {
  VectorView x, update;         ///< the volume, and scratch
  VectorView projected, rest;   ///< Bx and b - Bx, which are overwritten
  ConstVectorView inverse;      ///< 1/Bt1, and 0 where no ray passes
  std::span<const float> take;  ///< for each block: 1 to make the step, 0 to leave it
};

/// x <- x Bt(b / Bx) / Bt1, as x + x Bt((b - Bx) / Bx) / Bt1, which leaves alone what no ray meets. A ray of
/// zeros says nothing.
void em_step(const LinearOperator& B, const EmStep& step, Stream& stream);

/// Blocks without a positive voxel begin as ones where rays pass, else zeros. `sums` are At1, and `inverse` 1
/// / At1; `sums` are overwritten.
void fill_empty_blocks(VectorView x, VectorView sums, ConstVectorView inverse, Stream& stream);

}  // namespace tandem
