#pragma once

#include <optional>

#include "../core/public.hpp"
#include "scan.hpp"

namespace TANDEM_PUBLIC tandem {

/// Any scan, view by view. The detector of a parallel beam stands at the axis. @throws GeometryError for rows
/// that have axes of their own
FlexibleBeam as_free_views(const Scan& scan);

/// The scan as a parallel, fan or cone beam, if that has the same views: a circle about z, level with z = 0,
/// with an upright detector whose bins go the way that the source goes; nothing if there is none. Vectors
/// that differ by a part in 10^9 are the same. Distances, pitches, axis and midplane are the decimal numbers
/// with the fewest digits that double arithmetic cannot tell from what the vectors say. Angles are such
/// numbers of degrees, or those next to the vectors' whose sine and cosine make them, to the bit. So a circle
/// of usual numbers that became vectors comes back to the bit.
std::optional<Scan> as_circle(const FlexibleBeam& scan);

}  // namespace tandem
