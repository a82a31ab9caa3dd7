#pragma once

#include <functional>
#include <optional>
#include <string>

#include "../plan/problem.hpp"

namespace tandem::pipeline {

/// Where the vectors of one problem lie, and the operators on them. Each kind of beam has a placement on
/// devices, and may have others (beam.hpp).
struct Placement {
  std::string (*words)(const Flow& flow);  ///< "split over 2 GPUs"
  bool in_tiles;                           ///< whether vectors lie on the host, and devices get tiles

  /// The memory that the kernels of a worker hold beside vectors of these shapes, (slice, y, x) and (view,
  /// row, bin).
  WorkingMemory (*working_memory)(const Plan& plan, const Worker& worker, Shape volume, Shape projections);

  /// The operator A for a part of the plan, see `problem_of`. `own`: the views of the scan whose projections
  /// this process has. It has all views, unless vectors are split over ranks.
  LinearOperator (*projector)(const Flow& flow, const Worker& worker, const Scan& scan, Range own,
                              const VolumeGrid& grid, const std::function<void()>& on_tile);

  /// The operator F, which is applied to line integrals before back-projection. Empty if B filters itself.
  std::optional<LinearOperator> (*filter)(const Flow& flow, const Filter& how, const Problem& problem);

  /// The operator B. It may be used only as long as the flow exists.
  BackProjection (*back_projection)(const Flow& flow, const Filter& how, const Problem& problem);
};

/// Where the vectors of one problem lie: "split over 2 GPUs".
std::string vectors(const Flow& flow);
/// Whether the vectors lie on the host, and devices get tiles of them.
bool in_tiles(const Flow& flow);

/// Words that say where vectors lie on one device, or on a team that shares them.
std::string vectors_on_devices(const Flow& flow);

}  // namespace tandem::pipeline
