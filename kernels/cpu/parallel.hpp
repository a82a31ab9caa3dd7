#pragma once

#include "../parallel.hpp"

namespace tandem::kernels::cpu {

void parallel_backward(const ParallelViews& views, const Execution& how, float alpha,
                       Image<const float> projections, float beta, Image<float> volume, Stream& stream);

/// The number of slices up to which the lanes of the back-projection are pixels.
Index few_slices();

}  // namespace tandem::kernels::cpu
