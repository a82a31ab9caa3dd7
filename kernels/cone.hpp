#pragma once

#include "../geometry/views.hpp"
#include "variant.hpp"

namespace tandem::kernels {

/// A cone-beam projector of one model and its transpose (footprint.hpp, cone_hats.hpp). Its working memory is
/// that of one application for any geometry. It grows with the number of lines of voxels and of views.
using ConeVariant = Variant<ConeViews>;

/// The variants of a device: one for each model, with the name of the model. @throws DeviceError if the build
/// lacks the backend, or if the device is not here.
Table<ConeViews> cone(Device device);
const ConeVariant& cone(Model model, Device device);

}  // namespace tandem::kernels
