#pragma once

#include <functional>

#include "../../core/comm.hpp"
#include "../../core/execution.hpp"
#include "../../geometry/volume_grid.hpp"
#include "../linear_operator.hpp"

namespace tandem {

/// The portion of `count` lines or views that a rank has. It is as large as the others, or a unit smaller,
/// and the last ranks may have none. Large portions begin at multiples of 8, and all portions begin at
/// multiples of `together` (see `pieces`).
Range portion_of_rank(Index count, int rank, int ranks, Index together = 1);

/// The memory, bytes, of an application on the device of a rank. `of_part`: the memory of the projector of a
/// part; `part`: the bytes of a part. There are two parts in a projection and three in a back-projection.
constexpr WorkingMemory working_memory_of_rank(const WorkingMemory& of_part, double part) {
  return {of_part.forward + 2 * part, of_part.backward + 3 * part};
}

/// The share of this rank in a projector that lies on several ranks.
struct RankShare {
  VolumeGrid grid;          ///< all lines of the volume
  Space projections;        ///< the views of this rank (Space::portion), perhaps none
  Index lines_at_once = 0;  ///< most lines of a strip that travel together, the same on all ranks; 0: all
  /// Makes the projector of these views and of a grid that has only some lines. It is not called if there are
  /// no views.
  std::function<LinearOperator(const VolumeGrid& lines)> of_part;
  /// Whether values pass through the host, as those of a GPU without NCCL do, even if there is a shorter way.
  /// The same on all ranks.
  bool through_host = false;
  Index lines_together = 1;  ///< `lines_together` of the beam (projector.hpp); parts begin at multiples
};

/// A projector whose vectors are split over ranks. Projections are cut by views, and volumes are cut along y
/// into strips with all slices (`portion_of_rank`). No rank ever holds a whole vector. All ranks apply it
/// together.
///
/// In a projection, strips go round the ranks: each rank projects the strip that it has onto its own views,
/// while the next strip arrives. In a back-projection, sums go round in the other direction: each rank
/// back-projects its views onto a strip and adds the sum that arrives, and the owner of the strip adds last.
/// So the order of sums depends only on the number of ranks, and the pair is matched if that of `of_part` is.
///
/// On its device a rank holds two parts of a strip in a projection and three in a back-projection. A part has
/// `lines_at_once` lines, rounded up to a multiple of `lines_together`. The host of a GPU holds up to 64 MiB,
/// if values pass through it. In an application each strip is sent once less than there are ranks: in a
/// projection a rank sends all strips except the one that comes to it last, in a back-projection the sums of
/// all strips except its own. @throws SpaceError on a team; what `of_part` throws
LinearOperator rank_projector(const Comm& ranks, const RankShare& share);

}  // namespace tandem
