#pragma once

#include "../../cone.hpp"
#include "../../launches.hpp"

namespace tandem::kernels::cuda {

/// Products on tensor cores, for tiles of 4 x 4 columns that meet at most 16 bins; false, and nothing done,
/// where they do not, or their windows are too large.
bool footprint_forward(const ConeViews& views, FootprintTuning tuning, float alpha, Image<const float> volume,
                       float beta, Image<float> projections, Stream& stream);
bool footprint_backward(const ConeViews& views, FootprintTuning tuning, float alpha,
                        Image<const float> projections, float beta, Image<float> volume, Stream& stream);

/// So many rows are projected, and slices back-projected, by the plain kernels: they take four at a time, and
/// tiles 32 and more.
constexpr Index plain_up_to = 4;

/// Voxel by voxel, for voxels and cells of any size and number.
void plain_footprint_forward(const ConeViews& views, float alpha, Image<const float> volume, float beta,
                             Image<float> projections, Stream& stream);
void plain_footprint_backward(const ConeViews& views, float alpha, Image<const float> projections, float beta,
                              Image<float> volume, Stream& stream);

}  // namespace tandem::kernels::cuda
