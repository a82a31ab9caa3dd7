#pragma once

#include "../geometry/views.hpp"
#include "variant.hpp"

namespace tandem::kernels {

/// A cone-beam projector of one model and its transpose (footprint.hpp, cone_hats.hpp). Its working memory is
/// that of one application, whatever the geometry; it grows with lines of voxels and with views.
using ConeVariant = Variant<ConeViews>;

/// The variants of a device, one for each model and of its name. @throws DeviceError if the build lacks the
/// backend, or the device is not here.
Table<ConeViews> cone(Device device);
const ConeVariant& cone(Model model, Device device);

std::string_view name_of(Model model);

}  // namespace tandem::kernels
