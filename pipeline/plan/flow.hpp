#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "../../core/comm.hpp"
#include "../../core/execution.hpp"
#include "job.hpp"

namespace tandem::pipeline {

struct Placement;  // beams/placement.hpp
struct Route;      // route.hpp

/// What computes: a device, and how projector and back-projector run there.
struct Worker {
  Device device = Device::cpu();  ///< where vectors lie; it may be a team (operators/projector.hpp)
  Execution execution;
  int threads = 0;  ///< the most threads that the loops of a helper take (helper.hpp); 0 for other workers
};

/// How a job is computed: by whom, along which route, and how much passes at a time.
struct Flow {
  const Route* route = nullptr;
  std::vector<Device> devices;           ///< the devices of the recipe that are used
  int streams = 3;                       ///< tiles or chunks that are on their way to a GPU at a time
  Model model = Model::pixel_driven;     ///< model of the projector
  std::string why_model;                 ///< why this model, for users; empty if there was no choice
  std::vector<Worker> workers;           ///< a worker takes the next chunk when it is free. A GPU has several
                                         ///< workers, so that one copies while another one computes. The last
                                         ///< one may be a helper
  bool matched = true;                   ///< whether projector and back-projector are each other's transpose
  const Placement* placement = nullptr;  ///< where the vectors of one problem lie
  Comm ranks = {};                       ///< all ranks of the run; they share chunks or vectors
  Comm queue = {};                       ///< ranks that share the chunks; alone where they share vectors
  Comm together = {};                    ///< ranks over which the vectors of a problem are split
  Index stored_bytes = 4;                ///< bytes of a voxel that leaves a GPU as its file stores it
  Index rows_at_once = 0;                ///< slices of a chunk
  Index slices_a_read = 0;       ///< slices of the whole chunks whose rows are read at once; 0: one chunk
  Index bytes_a_piece = 0;       ///< bytes of counts that go up to a GPU while the next ones are read; 0: a
                                 ///< chunk is read as a whole
  Index lines_at_once = 0;       ///< lines of a strip that go from rank to rank together
                                 ///< (operators/distributed/rank_projector.hpp)
  Index rows_prepared = 0;       ///< rows of all views that a rank prepares at a time, for all ranks
  Index views_at_once = 0;       ///< views of a block, if views are added to slices one block after another
  std::size_t bytes = 0;         ///< the most host memory
  std::size_t device_bytes = 0;  ///< the most memory of each GPU; 0 on the CPU

  /// The device where the first worker has its vectors, and how this worker runs.
  Device home() const { return workers.front().device; }
  const Execution& execution() const { return workers.front().execution; }
  /// The worker that helps the others; null if there is none.
  const Worker* helper() const { return workers.back().threads > 0 ? &workers.back() : nullptr; }
};

/// The views of the scan whose projections this rank has: all views, unless vectors are split over ranks. A
/// rank may have none.
Range own_views(const Scan& scan, const Comm& together);

/// Where the vectors of one problem lie: "split over 2 GPUs".
std::string vectors(const Flow& flow);
/// Whether the vectors lie on the host, and devices get tiles of them.
bool in_tiles(const Flow& flow);

/// Whether GPUs turn counts into line integrals. Each does this for its views.
bool gpus_prepare(const Job& job, const Flow& flow);

}  // namespace tandem::pipeline
