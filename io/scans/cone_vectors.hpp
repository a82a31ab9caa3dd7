#pragma once

// Views of a cone beam that are given by vectors, as by ASTRA (cone_vec) and CIL. Used only within io/.

#include <array>
#include <string>
#include <vector>

#include "frame_source.hpp"

namespace tandem::io {

using Point = std::array<double, 3>;  ///< x, y, z; any unit of length

/// One view: where the source and the middle of the detector are, and the steps from one column and from one
/// row of the detector to the next.
struct ConeView {
  Point source, middle, column, row;
};

/// A view after a turn about the z axis, in rad.
ConeView turned(const ConeView& view, double angle);

/// Gives `found` the angles, distances, pitches, axis and midplane of the circle that views lie on: a source
/// that goes round the z axis, with a detector that faces the axis. If the detector is not upright, but
/// rolled about the beam, or tilted along it, `found` gets these angles too. Lengths are taken as mm. A note
/// says by how much views miss the circle if that is more than a tenth of a pixel. Images whose columns go
/// the other way show the mirrored scene, in which the source turns the other way. @throws FileError, whose
/// text begins with `where`, if there is no such circle, or if a view misses it by more than half a pixel
void complete_circle(const std::vector<ConeView>& views, const std::string& where, const Shape& frame,
                     Acquisition& found);

}  // namespace tandem::io
