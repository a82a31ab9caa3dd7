#pragma once

#include "../geometry/flexible_views.hpp"
#include "variant.hpp"

namespace tandem::kernels {

/// A projector for any geometry and its transpose (flexible_footprint.hpp).
using FlexibleVariant = Variant<FlexibleViews>;

/// The variants of a device. @throws DeviceError if the build lacks the backend, or if the device is not here
Table<FlexibleViews> flexible(Device device);

}  // namespace tandem::kernels
