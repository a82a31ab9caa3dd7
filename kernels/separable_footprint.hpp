#pragma once

#include "tandem/core/array.hpp"
#include "tandem/core/execution.hpp"
#include "tandem/geometry/views.hpp"

namespace tandem::kernels {

/// Cone-beam projector and its exact transpose, separable footprint SF-TR with amplitude A2 (footprint.hpp).
/// Volume (slice, y, x), projections (view, row, bin). out <- alpha A in + beta out; beta = 0 never reads
/// out.
struct SeparableFootprintKernels {
  void (*forward)(const ConeViews& views, float alpha, Image<const float> volume, float beta,
                  Image<float> projections, FootprintTuning tuning, Stream& stream);
  void (*backward)(const ConeViews& views, float alpha, Image<const float> projections, float beta,
                   Image<float> volume, FootprintTuning tuning, Stream& stream);
};

/// @throws DeviceError if the build lacks the backend.
const SeparableFootprintKernels& separable_footprint(Device device);

}  // namespace tandem::kernels
