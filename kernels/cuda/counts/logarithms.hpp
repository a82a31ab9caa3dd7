#pragma once

#include "../../counts.hpp"

namespace tandem::kernels::cuda {

// See CountsKernels.
Index divide_by_air(const CountsToLines& how, std::span<const Range> margins, Image<float> y, Air* air,
                    Stream& stream);
CountsTally logarithms_of(const CountsToLines& how, const Air* air, bool mended, Image<float> y,
                          Stream& stream);
Index polynomial_of(const CountsToLines& how, std::span<const double> coefficients, double most,
                    Image<float> y, Stream& stream);
std::vector<double> variances_of(const CountsToLines& how, const Air* air, std::span<const Range> counted,
                                 const Image<float>& y, Image<float> variances, Stream& stream);
void weigh(Image<float> variances, bool each_row, Stream& stream);

}  // namespace tandem::kernels::cuda
