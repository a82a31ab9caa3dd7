#pragma once

#include "tables.hpp"

namespace tandem::kernels::cuda {

/// Cells of the grid, those that samples can meet, from the samples of all views; both of `lanes` slices.
void samples_to_cells(const FourierPlan& plan, const FourierTables& tables, int lanes, const float2* samples,
                      float2* grid, Stream& stream);

/// The transpose.
void cells_to_samples(const FourierPlan& plan, const FourierTables& tables, int lanes, const float2* grid,
                      float2* samples, Stream& stream);

}  // namespace tandem::kernels::cuda
