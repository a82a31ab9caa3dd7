#pragma once

#include <functional>
#include <optional>
#include <string>

#include "../plan/problem.hpp"

namespace tandem::pipeline {

/// Where the vectors of one problem lie, and the operators on them. Each kind of beam has one for devices,
/// and may have more (beam.hpp).
struct Placement {
  std::string (*words)(const Flow& flow);  ///< "split over 2 GPUs"
  bool in_tiles;                           ///< vectors lie on the host, and devices get parts of them

  /// The memory that the kernels of a worker hold beside vectors of these shapes, (slice, y, x) and (view,
  /// row, bin).
  WorkingMemory (*working_memory)(const Plan& plan, const Worker& worker, Shape volume, Shape projections);

  /// The operator A for a part of the plan, see `problem_of`. `own`: the views of the scan whose projections
  /// this process has, which are all unless vectors lie on several ranks.
  LinearOperator (*projector)(const Flow& flow, const Worker& worker, const Scan& scan, Range own,
                              const VolumeGrid& grid, const std::function<void()>& on_tile);

  /// The operator F, which line integrals go through before they are back-projected. Empty if B filters
  /// within.
  std::optional<LinearOperator> (*filter)(const Flow& flow, const Filter& how, const Problem& problem);

  /// B, which may be used as long as the flow is there.
  BackProjection (*back_projection)(const Flow& flow, const Filter& how, const Problem& problem);
};

/// The words for vectors on one device, or shared by the members of a team.
std::string vectors_on_devices(const Flow& flow);

}  // namespace tandem::pipeline
