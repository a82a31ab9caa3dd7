#pragma once

// Views of a cone beam that are given by vectors, as in ASTRA (cone_vec) and CIL. Used only within io/.

#include <string>
#include <vector>

#include "frame_source.hpp"

namespace tandem::io {

/// A view after a turn about the z axis, in rad.
FlexibleView turned(const FlexibleView& view, double angle);

/// Gives `found` the angles, distances, pitches, axis and midplane of the circle that views lie on: a source
/// that goes round the z axis, with a detector that faces the axis. If the detector is not upright, but
/// rolled about the beam, or tilted along it, `found` gets these angles too. Lengths are taken as mm. A note
/// says by how much views miss the circle if that is more than a tenth of a pixel. Images with mirrored
/// columns show the mirrored scene, in which the source turns in the opposite sense. Where there is no such
/// circle, or a view misses it by more than half a pixel, `found` gets the views as they are, with a note.
void complete_circle(const std::vector<FlexibleView>& views, const std::string& where, const Shape& frame,
                     Acquisition& found);

}  // namespace tandem::io
