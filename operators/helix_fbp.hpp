#pragma once

// Used only within operators/.

#include <memory>

#include "../geometry/parallel_fans.hpp"
#include "orbit_fbp.hpp"

namespace tandem {

/// The operator F of a helix in weighted filtered back-projection: it makes parallel fans and filters them by
/// the ramp. Fans count from 0, one for each view, and are made from the views `views_behind` them. `scan`:
/// that of the helix.
FilterOfViews helix_filter(const std::shared_ptr<const HelixScan>& helix, const Scan& scan, Filter filter,
                           Device device);

/// The operator B for some fans.
BackprojectorOfViews helix_backprojector(const std::shared_ptr<const HelixScan>& helix, const Scan& scan,
                                         const VolumeGrid& grid, Device device);

}  // namespace tandem
