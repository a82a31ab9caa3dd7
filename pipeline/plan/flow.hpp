#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "../../core/comm.hpp"
#include "../../core/execution.hpp"
#include "job.hpp"

namespace tandem::pipeline {

struct Placement;  // beams/placement.hpp

/// What computes: a device, and how projector and back-projector run there.
struct Worker {
  Device device = Device::cpu();  ///< where vectors lie; it may be a team (operators/projector.hpp)
  Execution execution;
};

/// How projector and back-projector run.
struct Pair {
  Model model = Model::pixel_driven;
  std::string reason;                    ///< why this model, for users; empty if there was no choice
  bool matched = true;                   ///< whether the two are each other's transpose
  const Placement* placement = nullptr;  ///< where the vectors of one problem lie
};

/// The ranks that share something; alone if nobody does.
struct SharingRanks {
  Comm ranks = {};    ///< all ranks of the run
  Comm queue = {};    ///< ranks that take chunks from one queue
  Comm vectors = {};  ///< ranks over which the vectors of a problem are split
};

/// The most memory that a run takes, bytes.
struct MostMemory {
  std::size_t host = 0;
  std::size_t device = 0;  ///< memory of each GPU; 0 on the CPU
};

// How much passes at a time along each route, beside the slices of a chunk. The functions `part_slices`,
// `piece_bytes` and `block_views` say what these three mean, and find them by their names; a route without
// one of them has 0.

struct GrowingSizes {
  Index block_views = 0;
};
struct SliceSizes {
  Index part_slices = 0, piece_bytes = 0;
};
struct ViewSizes {
  Index block_views = 0, part_slices = 0;
};
struct SlabSizes {
  Index part_slices = 0, piece_bytes = 0;
};
struct RankSizes {
  Index part_lines = 0;     ///< lines of a strip that go from rank to rank together (`rank_projector`)
  Index prepared_rows = 0;  ///< rows of all views that a rank prepares at a time, for all ranks
};
struct WholeSizes {
  Index piece_bytes = 0;
  int tiles = 0;  ///< tiles that are on their way to a GPU at a time
};

/// The sizes of the route that a job takes, which name the route (`route_of`): each route has its own.
using RouteSizes = std::variant<GrowingSizes, SliceSizes, ViewSizes, SlabSizes, RankSizes, WholeSizes>;

/// How a job is computed: by whom, along which route, and how much passes at a time.
struct Flow {
  RouteSizes sizes;
  Index chunk_slices = 0;  ///< slices of a chunk
  Pair pair;
  /// A worker takes the next chunk when it is free. A GPU has several workers, so that one copies while
  /// another one computes.
  std::vector<Worker> workers;
  std::vector<Device> active_devices;  ///< the devices of the recipe that are used
  SharingRanks shared;
  MostMemory memory;

  /// The device where the first worker has its vectors, and how this worker runs.
  Device home() const { return workers.front().device; }
  const Execution& execution() const { return workers.front().execution; }
};

/// The slices of the whole chunks whose rows are read at once; 0: those of one chunk. `all`: those of the
/// volume.
Index part_slices(const Flow& flow, Index all);
/// The bytes of counts that go up to a GPU at a time; 0: those of a chunk are read as a whole.
Index piece_bytes(const Flow& flow);
/// The views that are added to slices together; 0: all.
Index block_views(const Flow& flow);

/// The views of the scan whose projections this rank has: all views, unless vectors are split over ranks. A
/// rank may have none.
Range own_views(const Scan& scan, const Comm& together);

/// Whether GPUs turn counts into line integrals. Each does this for its views.
bool gpus_prepare(const Job& job, const Flow& flow);

}  // namespace tandem::pipeline
