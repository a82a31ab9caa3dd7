#pragma once

#include "../ramp.hpp"

namespace tandem::kernels::cpu {

void filter_rows(const RowFilter& filter, bool adjoint, float alpha, Image<const float> in, float beta,
                 Image<float> out, Stream& stream);

}  // namespace tandem::kernels::cpu
