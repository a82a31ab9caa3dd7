#pragma once

#include "../geometry/flexible_views.hpp"
#include "frame_stack.hpp"

namespace tandem::calibration {

/// Frames and views of detectors that stand upright, from those of detectors that are rolled, all by the same
/// angle about the same cell. They stay as they are if detectors stand so already, or otherwise in each view.
///
/// The filter makes rows level by means of two cells in each direction. Such a mean draws short waves towards
/// the nearest cell, so that a roll was undone by a tenth too little: slices were sharpest 0.05 degrees
/// beside a roll of 0.5. The splines of `FourRows` draw them nowhere; they smooth, by a third of a cell
/// squared.
void stand_upright(FrameStack& frames, FlexibleBeam& scan);

}  // namespace tandem::calibration
