#pragma once

#include <functional>

#include "ramp_filter.hpp"

namespace tandem {

/// The operator F for views of any geometry, if their sources lie nearly on a circle, an arc or a helix
/// (docs/geometry.md). It makes rows level, weighs rays and filters rows. Parallel rays may have any angle
/// with the axis, as in laminography. The result is on a detector that may have more rows and more bins
/// (`filtered_detector`). Views of a helix become parallel fans. On a GPU it has no transpose. @throws
/// GeometryError for any other path of the sources
LinearOperator ramp_filter(const FlexibleBeam& scan, Filter filter = {}, Device device = Device::cpu(),
                           const Interpolation& interpolation = of_footprints);

/// The operator B for the result of this filter. In a helix it weighs the fans that see a voxel. If the scan
/// has too little for that (docs/geometry.md), the views of one turn make a slice.
LinearOperator fdk_backprojector(const FlexibleBeam& scan, const VolumeGrid& grid,
                                 Model model = Model::separable_footprint, Device device = Device::cpu());

/// F and B for any views of a scan, as parts of F and B of the whole scan. What all views share is made once.
/// To filter some views, F needs the views behind them: these, and in a helix others beside them.
FilterOfViews ramp_filter_of_views(const FlexibleBeam& scan, Filter filter = {},
                                   Device device = Device::cpu(),
                                   const Interpolation& interpolation = of_footprints);
std::function<Range(Range views)> views_behind_filtered(const FlexibleBeam& scan);
using BackprojectorOfViews = std::function<LinearOperator(Range views)>;
BackprojectorOfViews fdk_backprojector_of_views(const FlexibleBeam& scan, const VolumeGrid& grid,
                                                Device device = Device::cpu());

}  // namespace tandem
