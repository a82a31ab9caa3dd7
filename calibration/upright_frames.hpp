#pragma once

#include "../geometry/scan.hpp"
#include "frame_stack.hpp"

namespace tandem::calibration {

/// Makes frames those of detectors that stand upright, from those of detectors that are rolled, all by the
/// same angle about the same cell, and returns this roll, rad. They stay as they are, which is a roll of 0,
/// if detectors stand so already, or otherwise in each view.
///
/// The filter makes rows level by means of two cells in each direction. Such a mean draws short waves towards
/// the nearest cell, so that a roll was undone by a tenth too little: slices were sharpest 0.05 degrees
/// beside a roll of 0.5. The splines of `FourRows` draw them nowhere; they smooth, by a third of a cell
/// squared.
double stand_upright(FrameStack& frames, const Scan& scan);

}  // namespace tandem::calibration
