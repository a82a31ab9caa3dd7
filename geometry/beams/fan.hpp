#pragma once

#include "cone.hpp"

namespace TANDEM_PUBLIC tandem {

/// A cone beam with one detector row at the height of its source: |midplane_row| < 0.5. The row says nothing
/// about heights. So, for a grid of one slice, the projector takes tall voxels, of which the row sees no end,
/// and FDK takes flat voxels, which the row sees from end to end. In files and commands it is a cone beam of
/// one row.
struct FanBeam : ConeBeam {};

/// @throws GeometryError naming the field, its value and its unit.
void validate(const FanBeam& scan);

FanBeam crop(const FanBeam& scan, Range views, Range rows, Range bins);
FanBeam bin_down(const FanBeam& scan, int level, bool pitch_known = true);

/// The grid with the tall voxels, and with the flat voxels, that are described above. A grid of several
/// slices stays as it is.
VolumeGrid tall_voxels(const FanBeam& scan, const VolumeGrid& grid);
VolumeGrid flat_voxels(const FanBeam& scan, const VolumeGrid& grid);

}  // namespace tandem
