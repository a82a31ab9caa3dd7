#pragma once

#include <functional>
#include <vector>

#include "../core/execution.hpp"
#include "../core/public.hpp"
#include "../geometry/scan.hpp"

namespace TANDEM_PUBLIC tandem {

/// One direction of a cone-beam projection in tiles: a piece of the output stays on a device while all pieces
/// of the input pass through it, one after the other. Projections are cut into blocks of views, volumes along
/// y, into strips of all slices: a column of voxels shares its weights, which slabs would have made anew, and
/// all strips meet about as many rows, which slabs at the ends of a volume do not.
struct Tiling {
  std::vector<Range> strips, views;  ///< together all lines of voxels, all views
};

struct Tilings {
  Tiling forward, backward;
};

/// What one application takes beside a part of the volume and of the projections: operators/projector.hpp.
using TileMemory = std::function<WorkingMemory(Shape volume, Shape projections)>;

/// Pieces of the input on a device at a time: one is read while the next arrives.
constexpr Index inputs_at_once = 2;

/// Tiles that fit into `bytes` of each device, with what kernels take beside them. Outputs are as few and as
/// large as can be, as many as devices or a multiple; inputs do not depend on the number of devices, so that
/// sums have the same order. Pure arithmetic. @throws GeometryError; DeviceError naming what the smallest
/// tile needs where not even this fits.
Tilings plan_tiles(const ConeBeam& scan, const VolumeGrid& grid, Index devices, double bytes,
                   const TileMemory& kernels);

/// A range in pieces of at most `most`, as many as `multiple` divides if that can be; where they are large,
/// they begin at multiples of 8: kernels work on four lines or views and more at a time.
std::vector<Range> pieces(Range all, Index most, Index multiple = 1);

/// The same in at most `count` pieces.
std::vector<Range> in_pieces(Range all, Index count);

}  // namespace tandem
