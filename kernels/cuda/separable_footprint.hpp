#pragma once

#include "tandem/kernels/cone.hpp"

namespace tandem::kernels::cuda {

/// Products on tensor cores, for tiles of 4 x 4 columns that meet at most 16 bins.
bool footprint_forward_fits(const ConeViews& views, Index slices, Index ny, Index nx, Index rows,
                            Device device);
bool footprint_backward_fits(const ConeViews& views, Index slices, Index ny, Index nx, Index rows,
                             Device device);

void footprint_forward(const ConeViews& views, float alpha, Image<const float> volume, float beta,
                       Image<float> projections, Stream& stream);
void footprint_backward(const ConeViews& views, float alpha, Image<const float> projections, float beta,
                        Image<float> volume, Stream& stream);

/// The sum as it is written, for voxels and cells of any size.
void plain_footprint_forward(const ConeViews& views, float alpha, Image<const float> volume, float beta,
                             Image<float> projections, Stream& stream);
void plain_footprint_backward(const ConeViews& views, float alpha, Image<const float> projections, float beta,
                              Image<float> volume, Stream& stream);

}  // namespace tandem::kernels::cuda
