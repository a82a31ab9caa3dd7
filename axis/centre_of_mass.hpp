#pragma once

#include "opposite_rays.hpp"

namespace tandem::pipeline {

struct MassAxis {
  double axis_bin;
  bool cut_off;  ///< whether the ends of a row differ, so that one of them is not in the air
};

/// The axis by the centre of mass of the body, which moves on a sine about the axis (Helgason 1965, Ludwig
/// 1966: the moments of order 0 and 1). The sine is fitted by least squares to all rows of a parallel beam
/// together, and each view is weighted by its mass. The lower end of a row counts as air, so that wrong flats
/// do not matter. The result is exact for a body that is seen whole. Parts of a body that are not seen move
/// it.
MassAxis axis_by_mass(const Rays& rays);

}  // namespace tandem::pipeline
