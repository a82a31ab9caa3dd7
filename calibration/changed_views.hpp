#pragma once

#include "../geometry/curve.hpp"
#include "../geometry/scan.hpp"

namespace tandem::calibration {

/// By how much a scanner is elsewhere than its views say, the same in all of them.
struct Change {
  double bins = 0, rows = 0;  ///< by which the axis and the midplane fall on higher cells
  double roll = 0;  ///< the detector's, about the beam, rad: the axis leans to higher bins higher up
  double tilt = 0;  ///< rad: the upper end of the axis leans towards the detector
};

/// The views of such a scanner. The beam is the ray through the origin; a tilt turns source and detector
/// about the line through the origin along the bins.
FlexibleBeam changed(const Scan& scan, const Change& change);

/// Where a point falls, counted from the middle of the detector.
CellPlace place_of(const FlexibleBeam& scan, const FlexibleView& view, const Vector3& point = {});

/// By how much the ray through the origin rises over the plane of slices, and how the detector is rolled
/// about it, rad.
double elevation_of(const FlexibleBeam& scan, const FlexibleView& view);
double roll_of(const FlexibleBeam& scan, const FlexibleView& view);
/// Whether rays rise over the plane of slices, as in laminography, whose samples are plates.
bool leans(const Scan& scan);

/// The height at which a row of the middle of the detector sees z, mm. The row counts from the middle.
double height_on_axis(const FlexibleBeam& scan, const FlexibleView& view, double row);

}  // namespace tandem::calibration
