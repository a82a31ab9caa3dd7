#pragma once

#include <optional>
#include <vector>

#include "scan.hpp"

namespace tandem {

/// The ways in which a scan differs from the circle that it names.
struct OffCircle {
  /// rad: by how much the axis leans towards higher bins at higher rows, as the detector is rolled about the
  /// beam; and by how much its upper end leans towards the detector, in the plane of the beam.
  double roll = 0, tilt = 0;
  /// How many bins and rows the image of each view lies towards higher ones; empty: not at all.
  std::vector<double> bin_shifts{}, row_shifts{};
  /// The place to which the sample was moved in each view, mm: across the beam towards higher bins, along the
  /// beam, and up along the axis; empty: it was not moved.
  std::vector<Vector3> moves{};
  /// Whether the detector of a cone beam lies on a cylinder about the source. Its
  /// bins count along the arc, from the one on which the axis falls.
  bool curved = false;

  bool any() const;
};

/// Any scan, view by view. The detector of a parallel beam stands at the axis. A detector is rolled about its
/// cell on the axis and in the midplane. A parallel beam has no midplane: there the middle of the detector
/// keeps its height. @throws GeometryError for rows that have axes of their own, another count of shifts or
/// moves than of views, and shifts of views that have places of their own
FlexibleBeam as_free_views(const Scan& scan, const OffCircle& off = {});

/// The scan as a parallel, fan or cone beam, if that has the same views: a circle about z, level with z = 0,
/// with an upright detector whose bins go the way that the source goes; nothing if there is none. Vectors
/// that differ by a part in 10^9 are the same. Distances, pitches, axis and midplane are the decimal numbers
/// with the fewest digits that double arithmetic cannot tell from what the vectors say. Angles are such
/// numbers of degrees, or those next to the vectors' whose sine and cosine make them, to the bit. So a circle
/// of usual numbers that became vectors comes back to the bit.
std::optional<Scan> as_circle(const FlexibleBeam& scan);

}  // namespace tandem
