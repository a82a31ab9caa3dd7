#pragma once

namespace tandem::kernels::cpu {

/// out <- value + beta out; beta = 0 never reads out.
inline void update(float& out, float value, float beta) { out = beta == 0 ? value : value + beta * out; }

}  // namespace tandem::kernels::cpu
