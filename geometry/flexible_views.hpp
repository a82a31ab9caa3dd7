#pragma once

#include <optional>
#include <vector>

#include "../core/host_device.hpp"
#include "../core/kept_on_devices.hpp"
#include "beams/flexible.hpp"
#include "curve.hpp"
#include "views.hpp"

namespace tandem {

/// A number that changes evenly over a grid.
struct Evenly {
  double first;  ///< at voxel (0, 0, 0)
  double step[3];
  TANDEM_HOST_DEVICE double at(double ix, double iy, double iz) const {
    return first + step[0] * ix + step[1] * iy + step[2] * iz;
  }
};

/// One view of any geometry in units of the grid. The voxel i falls on bin `bin.at(i) / depth.at(i)`, and in
/// the same way on a row. The mean chord of a voxel over all cells that it meets adds up to `mass` r /
/// depth^2, where r is the distance of a cell from the source. For a curved detector, these numbers are those
/// of the flat one that touches it in its middle.
struct FlexiblePlace {
  Evenly bin, row;
  Evenly depth;  ///< from the source along the normal of the detector, mm; 1 for parallel rays
  double mass;   ///< mm^2; mm for parallel rays
  double nearest, least_shadow;  ///< depth of the nearest voxel, and the least area of a shadow in cells
  double most_in_cell;           ///< the sum of coefficients that a cell can have, over its r
  double to_first_cell[3], to_next_bin[3], to_next_row[3];  ///< from the source, mm
  Curve curve{};

  TANDEM_HOST_DEVICE CellPlace on_flat(double ix, double iy, double iz) const {
    const double away = depth.at(ix, iy, iz);
    return {row.at(ix, iy, iz) / away, bin.at(ix, iy, iz) / away};
  }
};

struct FlexibleViews {
  std::vector<FlexiblePlace> views;
  bool parallel;
  bool curved = false;
  std::optional<ConeViews> upright{};  ///< the same views, if all detectors are upright: they have that pair
  KeptOnDevices kept{};
};

/// The place of a curved detector beside the flat one that touches it along its middle column.
Curve curve_of(const FlexibleBeam& scan, const FlexibleView& view);

/// @throws GeometryError unless all voxels are on the detector's side of the source
FlexibleViews pack(const FlexibleBeam& scan, const VolumeGrid& grid);

/// The same without that test.
FlexibleViews places(const FlexibleBeam& scan, const VolumeGrid& grid);

/// One row that sees one slice in all views says nothing about heights. For a projector its voxels are so
/// tall that the row sees no end of them; for a filter they are so flat that it sees them from end to end, as
/// those of a fan beam (`tall_voxels` there). Any other grid stays as it is.
VolumeGrid tall_voxels(const FlexibleBeam& scan, const VolumeGrid& grid);
VolumeGrid flat_voxels(const FlexibleBeam& scan, const VolumeGrid& grid);

}  // namespace tandem
