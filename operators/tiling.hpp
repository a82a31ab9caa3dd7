#pragma once

#include <functional>
#include <vector>

#include "../core/execution.hpp"
#include "../geometry/scan.hpp"

namespace tandem {

/// The tiles of one direction of a projection. A piece of the output stays on a device while all pieces of
/// the input pass through it, one after the other. Projections are cut into blocks of views. Volumes are cut
/// along y into strips with all slices, and not into slabs, for two reasons: in a cone beam a column of
/// voxels shares its weights, which slabs would compute again; and all strips meet about the same number of
/// rows, which slabs at the ends of a volume do not. Strips begin at multiples of `lines_together`
/// (projector.hpp), so that each has the coefficients of the whole.
struct Tiling {
  std::vector<Range> strips, views;  ///< the strips make up all lines of voxels; the blocks make up all views
};

struct Tilings {
  Tiling forward, backward;
};

/// The memory of one application beside a part of the volume and of the projections; see
/// operators/projector.hpp.
using TileMemory = std::function<WorkingMemory(Shape volume, Shape projections)>;

/// The number of pieces of the input on a device at a time: one is read while the next one arrives.
constexpr Index inputs_at_once = 2;

/// Tiles that fit into `bytes` of each device, together with the memory of kernels. Pieces of the output are
/// as few and as large as possible, and their number is a multiple of the number of devices if possible.
/// Pieces of the input do not depend on the number of devices, so that sums have the same order. Pure
/// arithmetic. @throws GeometryError; DeviceError, which names the memory of the smallest tile, if that does
/// not fit
Tilings plan_tiles(const Scan& scan, const VolumeGrid& grid, Index devices, double bytes,
                   const TileMemory& kernels);

/// Cuts a range into pieces of at most `most`. Their number is a multiple of `multiple` if possible. Large
/// pieces begin at multiples of 8, because kernels work on four or more lines or views at a time. All pieces
/// begin at multiples of `together`. @pre `most` is a multiple of `together`
std::vector<Range> pieces(Range all, Index most, Index multiple = 1, Index together = 1);

/// Cuts a range into at most `count` pieces in the same way.
std::vector<Range> in_pieces(Range all, Index count);

}  // namespace tandem
