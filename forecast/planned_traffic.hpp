#pragma once

#include "../pipeline/methods/method.hpp"

namespace tandem::pipeline {

/// Bytes that a rank sends to others, by plan.
struct PlannedTraffic {
  double before_steps = 0, a_step = 0;
};

/// What a solver over ranks sends for its strips, sums and planes of gradients
/// (operators/distributed/rank_projector): for each subset of views the whole volume goes round. Pure
/// arithmetic. It leaves out what depends on the data: the search of a weight, gaps, and an objective for the
/// report.
PlannedTraffic planned_traffic(const Method& method, const MethodOptions& options, const VolumeGrid& grid,
                               int rank, int ranks);

}  // namespace tandem::pipeline
