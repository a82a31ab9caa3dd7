#pragma once

#include "tandem/geometry/volume_grid.hpp"

namespace tandem {

/// Rows of the detector that voxels of these slices can meet in any view: never too few, and few too many.
/// Empty where no ray meets them.
Range rows_met(const ConeBeam& scan, const VolumeGrid& grid, Range slices);

/// Slices whose voxels these rows can meet in any view.
Range slices_met(const ConeBeam& scan, const VolumeGrid& grid, Range rows);

}  // namespace tandem
