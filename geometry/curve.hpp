#pragma once

// Detectors on a cylinder about the source. Used only within the library.

#include <cmath>

#include "../core/host_device.hpp"

namespace tandem {

struct CellPlace {
  double row, bin;
};

/// The place where a ray falls on a detector that lies on a cylinder about the source, from the place where
/// it falls on the flat detector that touches the cylinder along its middle column. The axis of the cylinder
/// is parallel to the columns. If k is the radius in bins, a ray at the angle a to the middle column is k tan
/// a bins beside it on the flat detector, and k a on the curved one. Rows lie cos a times as far from the
/// plane across the axis that the source is in.
struct Curve {
  double bins_per_radian = 0;  ///< k; 0 for a flat detector
  double middle_bin = 0;       ///< bin where both touch
  double level_row = 0;        ///< row where the plane of the source falls

  TANDEM_HOST_DEVICE CellPlace bent(CellPlace flat) const {
    if (bins_per_radian == 0) return flat;
    const double tangent = (flat.bin - middle_bin) / bins_per_radian;
    return {level_row + (flat.row - level_row) / std::sqrt(1 + tangent * tangent),
            middle_bin + bins_per_radian * std::atan(tangent)};
  }
};

}  // namespace tandem
