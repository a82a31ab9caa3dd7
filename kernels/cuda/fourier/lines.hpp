#pragma once

#include "../../../core/array.hpp"
#include "../common/batch.cuh"
#include "../common/beyond.cuh"
#include "tables.hpp"

namespace tandem::kernels::cuda {

/// Slices that are worked on together, side by side in samples and cells: `count` of them, from `first` on.
struct FourierSlices {
  Index first;
  int count, lanes;
};

/// The factors of samples, and what rows go on with.
struct FourierWeights {
  const float *of_frequency, *of_view;
  Phases moves;  ///< phases that move each row; no table: none moves
  Beyond beyond;
};

void rows_to_samples(const DevicePlan& plan, const FourierSlices& at, const FourierWeights& weights,
                     Image<const float> rows, float2* samples, Stream& stream);
void samples_to_rows(const DevicePlan& plan, const FourierSlices& at, const FourierWeights& weights,
                     const float2* samples, Update update, Image<float> rows, Stream& stream);

/// Transforms through both axes of the grid.
void pixels_to_cells(const DevicePlan& plan, const FourierSlices& at, Image<const float> volume, float2* grid,
                     Stream& stream);
void cells_to_pixels(const DevicePlan& plan, const FourierSlices& at, float2* grid, Update update,
                     Image<float> volume, Stream& stream);

/// @throws DeviceError if a line of the plan does not fit into shared memory
void require_lines_to_fit(const FourierSizes& sizes, Device device);

}  // namespace tandem::kernels::cuda
