#pragma once

#include "../../columns.hpp"

namespace tandem::kernels::cuda {

constexpr Index most_sorted_views = 8192;

/// See ColumnKernels.
void sort_columns(const float* columns, ColumnShape shape, float* sorted, std::uint16_t* order,
                  Stream& stream);
void medians_of_columns(const float* sorted, ColumnShape shape, Index bins, Index ranks, float* medians,
                        Stream& stream);

}  // namespace tandem::kernels::cuda
