#pragma once

// The ways to calibrate a scan.

#include "balls.hpp"
#include "found.hpp"
#include "measured_frames.hpp"
#include "view_moves.hpp"

namespace tandem::calibration {

/// From the shadows of balls. @throws GeometryError for another kind than a cone beam, and if balls do not
/// tell the geometry
Found find_by_balls(const MeasuredFrames& measured, const BallKnowledge& known, const How& how);

/// From the frames of any sample. Views with an axis tell it by opposite rays, with the roll, the sense of
/// rotation and the last view; then sharp slices tell the roll, and the tilt of the axis or the midplane.
/// Views that have places of their own, along a circle about z, have axis, roll, and elevation or midplane
/// told by sharp slices. @throws GeometryError for shifted views and other orbits, as `find_axis` does, and
/// if slices tell nothing
Found find_by_frames(const MeasuredFrames& measured, const How& how);

/// Where each view is, from its frame beside the line integrals of what all views make. @throws GeometryError
/// for orbits without a filter, and where the frames tell nothing of it
Found find_each_view(const MeasuredFrames& measured, MoveSearch search, const How& how);

}  // namespace tandem::calibration
