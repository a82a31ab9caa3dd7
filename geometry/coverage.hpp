#pragma once

#include "../core/public.hpp"
#include "volume_grid.hpp"

namespace TANDEM_PUBLIC tandem {

/// Rows of the detector that voxels of these slices can meet in any view: never too few, and few too many.
/// Empty where no ray meets them.
Range rows_met(const ConeBeam& scan, const VolumeGrid& grid, Range slices);

/// Slices whose voxels these rows can meet in any view.
Range slices_met(const ConeBeam& scan, const VolumeGrid& grid, Range rows);

/// The grid of a fan beam, one slice for one row at the source's height, which says nothing of heights: with
/// voxels of which the row sees no end, as a projector needs, or with such as the row sees from end to end,
/// as the sums of FDK do. Any other grid is itself.
VolumeGrid tall_for_fan(const ConeBeam& scan, const VolumeGrid& grid);
VolumeGrid flat_for_fan(const ConeBeam& scan, const VolumeGrid& grid);

}  // namespace tandem
