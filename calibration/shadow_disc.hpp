#pragma once

#include <vector>

#include "../geometry/beams/flexible.hpp"
#include "../geometry/disc.hpp"

namespace tandem::calibration {

/// The disc whose shadow a scan has, and how far the edges of the shadow are from it.
struct ShadowDisc {
  Disc disc;
  double residual = 0;  ///< root of the mean square over edges, at the object; in the unit of the disc
  Index edges = 0;
};

/// Fits a disc to the edges of an object's shadow in line integrals (view, row, bin) of some rows of the
/// scan. An edge is the ray, seen along z, where line integrals first reach a share of their peak in any of
/// the rows; of several rows the outermost ray counts. Each is a tangent of a circle, so that centre and
/// radius are linear least squares, with views of any beam and from a part of a turn. Chords at the threshold
/// make the circle smaller than the object: R^2 = r^2 + c p^2 for a threshold p, and a second threshold tells
/// c. @throws GeometryError if no object stands out of the noise, if its shadow is cut off, if views see it
/// from one side only, or if it is no disc
ShadowDisc fit_shadow_disc(std::vector<float> lines, const FlexibleBeam& scan,
                           const std::vector<Index>& rows);

}  // namespace tandem::calibration
