#pragma once

#include <vector>

#include "../geometry/scan.hpp"
#include "frame_stack.hpp"

namespace tandem::calibration {

/// Slices at some heights, mm, by filtered back-projection, (slice, y, x), with the pixels of a grid. `scan`
/// is the geometry of the views of the stack.
std::vector<float> slices_of(const FrameStack& frames, const Scan& scan, VolumeGrid grid,
                             const std::vector<double>& heights, Device device = Device::cpu());

}  // namespace tandem::calibration
