#pragma once

#include <functional>

#include "../../core/comm.hpp"
#include "../../core/execution.hpp"
#include "../../core/range.hpp"
#include "../../geometry/volume_grid.hpp"
#include "../linear_operator.hpp"

namespace tandem {

/// What a rank has of so many lines or views: as many as the others, or a unit less, and the last ranks may
/// have none. Large portions begin at multiples of 8, all at multiples of `together` (see `pieces`).
Range portion_of_rank(Index count, int rank, int ranks, Index together = 1);

/// Lines of a volume that a rank sends to others in an application of `rank_projector`: in a projection all
/// strips but that which comes to it last, in a back-projection sums of all but its own.
struct LinesSent {
  Index forward, backward;
};
LinesSent lines_sent(Index lines, int rank, int ranks, Index together = 1);
/// The same for `gradient`: in an application a line goes to the rank before, in its adjoint to the next one.
LinesSent lines_sent_by_gradient(Index lines, int rank, int ranks, Index together = 1);

/// What an application takes on the device of a rank, bytes, if `of_part` takes so much and a part that
/// travels has so many: two parts forward and three back.
constexpr WorkingMemory working_memory_of_rank(const WorkingMemory& of_part, double part) {
  return {of_part.forward + 2 * part, of_part.backward + 3 * part};
}

/// What this rank has of a projector that lies on several ranks.
struct RankShare {
  VolumeGrid grid;          ///< all lines of the volume
  Space projections;        ///< the views of this rank (Space::portion), perhaps none
  Index lines_at_once = 0;  ///< of a strip that travel together, at most, the same on all ranks; 0: all
  /// Makes the projector of these views and some lines, of a grid that has no others. It is not asked for
  /// where there are no views.
  std::function<LinearOperator(const VolumeGrid& lines)> of_part;
  /// Values pass through the host as those of a GPU without NCCL do, also where there is a shorter way. The
  /// same on all ranks.
  bool through_host = false;
  Index lines_together = 1;  ///< those of the beam (projector.hpp), at whose multiples parts begin
};

/// A projector whose vectors lie on several ranks. Projections are cut by views, volumes along y into strips
/// of all slices (`portion_of_rank`), and no rank ever holds a whole vector. All ranks apply it together.
///
/// Forward, strips go round the ranks: each projects the strip that it has onto its own views, while the next
/// one arrives. Back, sums go round the other way: each rank back-projects its views onto a strip and adds
/// the sum that arrives; the owner of the strip adds last. So the order of sums depends on the number of
/// ranks alone, and the pair is matched where that of `of_part` is.
///
/// On its device a rank holds two parts of a strip forward and three back, of `lines_at_once` lines, or up to
/// a multiple of `lines_together`; on the
/// host of a GPU up to 64 MiB, if values pass through it. In an application each strip is sent once less than
/// there are ranks (`lines_sent`). @throws SpaceError on a team; what `of_part` throws
LinearOperator rank_projector(const Comm& ranks, const RankShare& share);

}  // namespace tandem
