#pragma once

#include "opposite_rays.hpp"

namespace tandem::pipeline {

struct MassAxis {
  double axis_bin;
  bool cut_off;  ///< whether a row's ends differ: one of them is not in the air
};

/// The axis by the body's centre of mass, which moves on a sine about it (Helgason 1965, Ludwig 1966: the
/// moments of order 0 and 1), fitted by least squares, each view weighed by its mass; all rows of a parallel
/// beam together. The lower end of a row is taken for air, so that flats that are off do not matter. Exact
/// for a body that is seen whole; of another one what is not seen moves it.
MassAxis axis_by_mass(const Rays& rays);

}  // namespace tandem::pipeline
