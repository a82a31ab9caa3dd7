#pragma once

#include "tandem/kernels/cone.hpp"

namespace tandem::kernels {

/// Separable footprint SF-TR with amplitude A2 (footprint.hpp).
using SeparableFootprintKernels = ConeKernels;

/// @throws DeviceError if the build lacks the backend.
const SeparableFootprintKernels& separable_footprint(Device device);

}  // namespace tandem::kernels
