#pragma once

#include "../../core/range.hpp"
#include "../ramp.hpp"

namespace tandem::kernels::cpu {

/// Adds what rows go on with beyond their ends. `lines` are rows side by side, as `transform` takes them;
/// what was measured lies at the positions `own`.
void go_on(const Continuation& beyond, Range own, float* lines);

/// The transpose.
void come_back(const Continuation& beyond, Range own, float* lines);

}  // namespace tandem::kernels::cpu
