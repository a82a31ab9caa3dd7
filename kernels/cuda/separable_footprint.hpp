#pragma once

#include "tandem/kernels/separable_footprint.hpp"

namespace tandem::kernels::cuda {

/// Cells and voxels a thread: numbers to tune, 0 for what is best.
struct FootprintTuning {
  int rows_a_block = 0;     ///< forward: 64, 128 or 256; the rest of a block are views
  int voxels_a_thread = 0;  ///< backward: 1, 2 or 3
};

/// Products on tensor cores, for tiles of 4 x 4 columns that meet at most 16 bins.
bool footprint_forward_fits(const ConeViews& views, Index slices, Index ny, Index nx, Index rows);
bool footprint_backward_fits(const ConeViews& views, Index slices, Index ny, Index nx, Index rows);

void footprint_forward(const ConeViews& views, float alpha, Image<const float> volume, float beta,
                       Image<float> projections, Stream& stream, FootprintTuning tuning = {});
void footprint_backward(const ConeViews& views, float alpha, Image<const float> projections, float beta,
                        Image<float> volume, Stream& stream, FootprintTuning tuning = {});

/// The sum as it is written, for voxels and cells of any size.
void plain_footprint_forward(const ConeViews& views, float alpha, Image<const float> volume, float beta,
                             Image<float> projections, Stream& stream);
void plain_footprint_backward(const ConeViews& views, float alpha, Image<const float> projections, float beta,
                              Image<float> volume, Stream& stream);

}  // namespace tandem::kernels::cuda
