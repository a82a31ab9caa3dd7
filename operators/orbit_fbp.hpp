#pragma once

#include <functional>

#include "../core/public.hpp"
#include "../geometry/views.hpp"
#include "ramp_filter.hpp"

namespace TANDEM_PUBLIC tandem {

/// F for views of any geometry whose sources go along a circle, an arc of it or a helix, nearly (docs/
/// geometry.md): it makes rows level, weighs rays and filters rows. Parallel rays may have any angle with the
/// axis, as in laminography. Rows come out on a detector that may have more of them, and more bins
/// (`filtered_detector`); those of a helix become parallel fans. On a GPU it has no transpose. @throws
/// GeometryError for any other way of the sources
LinearOperator ramp_filter(const FlexibleBeam& scan, Filter filter = {}, Device device = Device::cpu(),
                           const Interpolation& interpolation = of_footprints);

/// B for what that makes. In a helix it weighs the fans that see a voxel; where these need more than there is
/// (docs/geometry.md), the views of one turn make a slice.
LinearOperator fdk_backprojector(const FlexibleBeam& scan, const VolumeGrid& grid,
                                 Model model = Model::separable_footprint, Device device = Device::cpu());

/// Both for any of the views of a scan, as they are in all of it. What all views share is made once. F takes
/// the views behind the filtered ones: these, and in a helix others beside them.
FilterOfViews ramp_filter_of_views(const FlexibleBeam& scan, Filter filter = {},
                                   Device device = Device::cpu(),
                                   const Interpolation& interpolation = of_footprints);
std::function<Range(Range views)> views_behind_filtered(const FlexibleBeam& scan);
using BackprojectorOfViews = std::function<LinearOperator(Range views)>;
BackprojectorOfViews fdk_backprojector_of_views(const FlexibleBeam& scan, const VolumeGrid& grid,
                                                Device device = Device::cpu());

}  // namespace tandem
