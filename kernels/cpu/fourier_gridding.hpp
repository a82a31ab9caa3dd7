#pragma once

#include "../fourier.hpp"
#include "fourier_transform.hpp"

namespace tandem::kernels::cpu {

constexpr Index floats_a_cell = 2 * lanes;  ///< slices side by side: their real, then their imaginary parts

/// The cells (x, y) of a tile, all lanes: the sum of the samples whose windows meet them. `polar` holds the
/// samples (view, k).
void gather_tile(const FourierPlan& plan, const FrequencyTile& tile, const float* polar, float* cells);

/// The samples k of one view from the grid (x >= 0, y), y wrapped: the sum of the cells that their windows
/// meet. The transpose of `gather_tile`.
void sample_ray(const FourierPlan& plan, Index view, const float* grid, float* samples);

}  // namespace tandem::kernels::cpu
