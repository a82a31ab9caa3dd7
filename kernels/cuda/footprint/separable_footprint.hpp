#pragma once

#include "../../cone.hpp"
#include "../../launches.hpp"

namespace tandem::kernels::cuda {

/// Products on tensor cores, for tiles of 4 x 4 columns that meet at most 16 bins. False, and nothing is
/// done, if they meet more, or if their windows are too large.
bool footprint_forward(const ConeViews& views, FootprintTuning tuning, float alpha, Image<const float> volume,
                       float beta, Image<float> projections, Stream& stream);
bool footprint_backward(const ConeViews& views, FootprintTuning tuning, float alpha,
                        Image<const float> projections, float beta, Image<float> volume, Stream& stream);

/// Up to so many rows are projected, and so many slices back-projected, by the plain kernels: they take four
/// at a time, and tiles 32 and more.
constexpr Index plain_up_to = 4;

/// Works voxel by voxel, for voxels and cells of any size and number.
void plain_footprint_forward(const ConeViews& views, float alpha, Image<const float> volume, float beta,
                             Image<float> projections, Stream& stream);
void plain_footprint_backward(const ConeViews& views, float alpha, Image<const float> projections, float beta,
                              Image<float> volume, Stream& stream);

}  // namespace tandem::kernels::cuda
