#pragma once

#include "../../counts.hpp"

namespace tandem::kernels::cuda {

// See CountsKernels.
Index divide_by_air(const CountsToLines& how, std::span<const Range> margins, Image<float> y, double* means,
                    Stream& stream);
CountsTally logarithms_of(const CountsToLines& how, const double* air, bool mended, Image<float> y,
                          Stream& stream);
Index polynomial_of(const CountsToLines& how, std::span<const double> coefficients, double most,
                    Image<float> y, Stream& stream);

}  // namespace tandem::kernels::cuda
