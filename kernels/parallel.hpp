#pragma once

#include "tandem/core/array.hpp"
#include "tandem/geometry/views.hpp"

namespace tandem::kernels {

/// Parallel-beam projector and its exact transpose, for any hat-shaped footprint.
/// Volume (slice, y, x), projections (view, row, bin); slice k is row k.
/// out <- alpha K in + beta out, K without `ParallelViews::scale`; beta = 0 never reads out.
struct ParallelKernels {
  void (*forward)(const ParallelViews& views, float alpha, Image<const float> volume, float beta,
                  Image<float> projections, Stream& stream);
  void (*backward)(const ParallelViews& views, float alpha, Image<const float> projections, float beta,
                   Image<float> volume, Stream& stream);
};

/// @throws DeviceError if the build lacks the backend.
const ParallelKernels& parallel(Device device);

}  // namespace tandem::kernels
